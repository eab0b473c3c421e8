"""Who asks, and what they may: the App by its JWT, an installation by its token (docs.github.com/apps)."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import jwt
from aiohttp import web

from bot.demo.objects import Account, Json, Repository
from bot.demo.world import World

_LEVELS = ("read", "write", "admin")
_LONGEST_JWT = 600
_LEEWAY = 60


@dataclass(frozen=True, kw_only=True)
class App:
    """The one App that this GitHub knows. `public_key`: the PEM that its JWTs are proved with."""

    slug: str
    owner: Account
    public_key: str
    webhook_secret: str = field(repr=False)
    permissions: Mapping[str, str]
    events: tuple[str, ...]
    id: int = 1
    name: str = "PAIChecker"
    created_at: datetime = datetime(2026, 1, 1, tzinfo=UTC)


@dataclass(eq=False, kw_only=True)
class Installation:
    """The App on one account's repositories."""

    id: int
    account: Account
    repositories: list[Repository]
    permissions: Mapping[str, str]
    suspended_at: datetime | None = None


@dataclass(frozen=True)
class Grant:
    """What a token may, and until when."""

    installation: Installation
    repositories: tuple[Repository, ...]
    permissions: Mapping[str, str]
    expires_at: datetime


class Refusal(Exception):
    """An answer that is none: a status and GitHub's words for it."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.message = message


class Access:
    """The App's installations and their tokens."""

    def __init__(self, world: World, app: App) -> None:
        self.installations: dict[int, Installation] = {}
        self.grants: dict[str, Grant] = {}
        self._world = world
        self._app = app

    def install(self, *repositories: Repository) -> Installation:
        """The App, installed on repositories of one owner, with all that it asks for."""
        owner = repositories[0].owner
        made = Installation(
            id=self._world.next_id(), account=owner, repositories=[*repositories], permissions=self._app.permissions
        )
        self.installations[made.id] = made
        return made

    def installation_of(self, repository: Repository) -> Installation | None:
        """Where the App is installed for a repository."""
        return next((one for one in self.installations.values() if repository in one.repositories), None)

    def require_app(self, request: web.Request) -> None:
        """Raises Refusal where no JWT of the App's stands."""
        try:
            claims = jwt.decode(
                _credentials(request),
                self._app.public_key,
                ["RS256"],
                options={"require": ["iat", "exp", "iss"]},
                leeway=_LEEWAY,
            )
        except jwt.InvalidTokenError:
            raise Refusal(401, "A JSON web token could not be decoded") from None
        if str(claims["iss"]) != str(self._app.id):
            raise Refusal(401, "Integration not found")
        if claims["exp"] > self._world.clock().timestamp() + _LONGEST_JWT + _LEEWAY:
            raise Refusal(401, "'Expiration time' claim ('exp') is too far in the future")

    def issue_token(self, installation_id: int, asked: Json) -> tuple[str, Grant]:
        """A token for an hour, narrowed to what is asked for. Raises Refusal."""
        installation = self.installations.get(installation_id)
        if installation is None:
            raise Refusal(404, "Not Found")
        if installation.suspended_at:
            raise Refusal(403, "This installation has been suspended")
        repositories = _narrowed(installation.repositories, asked.get("repository_ids"), asked.get("repositories"))
        permissions = asked.get("permissions") or dict(installation.permissions)
        if any(not _covers(installation.permissions, name, level) for name, level in permissions.items()):
            raise Refusal(422, "The permissions requested are not granted to this installation.")
        expires = self._world.now() + timedelta(hours=1)
        token = f"ghs_{secrets.token_hex(18)}"
        self.grants[token] = Grant(installation, repositories, permissions, expires)
        return token, self.grants[token]

    def grant(self, request: web.Request) -> Grant | None:
        """What the request's token may; None without one. Raises Refusal."""
        token = _credentials(request)
        if not token:
            return None
        grant = self.grants.get(token)
        if grant is None or grant.expires_at <= self._world.clock():
            raise Refusal(401, "Bad credentials")
        if grant.installation.suspended_at:
            raise Refusal(403, "This installation has been suspended")
        return grant

    def repository(self, request: web.Request, level: str, *permissions: str) -> Repository:
        """The repository of the path, if one of the permissions is held. What is public may be read by all."""
        name = f"{request.match_info['owner']}/{request.match_info['repo']}".lower()
        repository, grant = self._world.repositories.get(name), self.grant(request)
        if repository is None or not visible(repository, grant):
            raise Refusal(404, "Not Found")
        is_ours = grant is not None and repository in grant.repositories
        if level == "read" and not is_ours:
            return repository
        if grant is None:
            raise Refusal(401, "Requires authentication")
        if not is_ours or not any(_covers(grant.permissions, name, level) for name in permissions):
            raise Refusal(403, "Resource not accessible by integration")
        return repository


def visible(repository: Repository, grant: Grant | None) -> bool:
    """Whether a token, or nobody, may see a repository at all."""
    return not repository.private or (grant is not None and repository in grant.repositories)


def _credentials(request: web.Request) -> str:
    scheme, _, value = request.headers.get("authorization", "").partition(" ")
    return value if scheme.lower() in ("bearer", "token") else ""


def _covers(held: Mapping[str, str], name: str, level: str) -> bool:
    levels = {one: position for position, one in enumerate(_LEVELS)}
    return levels.get(held.get(name, ""), -1) >= levels.get(level, len(levels))


def _narrowed(
    held: list[Repository], ids: Iterable[int] | None, names: Iterable[str] | None
) -> tuple[Repository, ...]:  # fmt: skip
    if ids is None and names is None:
        return tuple(held)
    wanted = tuple(one for one in held if one.id in (ids or ()) or one.name in (names or ()))
    if len(wanted) != len({*(ids or ())} | {*(names or ())}):
        raise Refusal(422, "There is at least one repository that does not exist or is not accessible to the parent installation.")  # fmt: skip # noqa: E501
    return wanted
