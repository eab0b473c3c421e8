"""Where a pull request is: its address, and the addresses of the GitHub that it lives on."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from checker.pair import REPOSITORY_NAME

_NUMBER = r"(?P<number>[1-9][0-9]{0,8})"
_SHORT = re.compile(rf"(?P<repository>{REPOSITORY_NAME})#{_NUMBER}")
_LONG = re.compile(
    rf"(?i:https?://)?(?P<host>[A-Za-z0-9.:\[\]-]{{1,255}})/(?P<repository>{REPOSITORY_NAME})/pulls?/{_NUMBER}"
    r"(?:[/?#]\S*)?"
)
_LOOKS_LIKE_ONE = re.compile(r"(?i:https?://)|[^/\s]+/[^/\s]+#|[^/\s]+(?:/[^/\s]+){2}/pulls?/[0-9]")
_ENTERPRISE_API = "/api/v3"
_DATA_RESIDENCY = ".ghe.com"
_SERVER = re.compile(r"https?://[^/@?#\s]+(?:/[^@?#\s]*)?")


class AddressError(ValueError):
    """A text is no address of a pull request. The message says what one looks like."""


@dataclass(frozen=True)
class Host:
    """The addresses of one GitHub, without a slash at the end."""

    web: str = "https://github.com"
    rest: str = "https://api.github.com"
    graphql: str = "https://api.github.com/graphql"

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> Host:
        """As GitHub Actions names them: GITHUB_SERVER_URL, GITHUB_API_URL, GITHUB_GRAPHQL_URL. Raises AddressError.

        Of an Enterprise Server the first or the second is enough: the others follow (docs.github.com, "Getting started
        with the REST API").
        """
        web, rest, graphql = (_server(environment, f"GITHUB_{name}_URL") for name in ("SERVER", "API", "GRAPHQL"))
        web = web or (rest.removesuffix(_ENTERPRISE_API) if rest.endswith(_ENTERPRISE_API) else cls.web)
        rest = rest or _rest_of(web)
        return cls(web, rest, graphql or f"{rest.removesuffix('/v3')}/graphql")


def _server(environment: Mapping[str, str], name: str) -> str:
    """The value may hold a password by mistake, so no message repeats it."""
    value = environment.get(name, "").strip().rstrip("/")
    if value and not _SERVER.fullmatch(value):
        raise AddressError(f"{name} is no server's address; write it as in {Host.web}, without a name or a password")
    return value


def _rest_of(web: str) -> str:
    if web == Host.web:
        return Host.rest
    scheme, _, host = web.partition("://")
    return f"{scheme}://api.{host}" if host.endswith(_DATA_RESIDENCY) else f"{web}{_ENTERPRISE_API}"


@dataclass(frozen=True)
class Address:
    """One pull request: `owner/name` and number."""

    repository: str
    number: int

    def __str__(self) -> str:
        """As people write it."""
        return f"{self.repository}#{self.number}"


def looks_like_address(text: str) -> bool:
    """Whether a command's argument is meant as an address rather than a file."""
    return _LOOKS_LIKE_ONE.match(text) is not None


def parse_address(text: str, host: Host) -> Address:
    """`owner/repo#123`, or the pull request's page (also its files or a comment), with https:// or without.

    Raises AddressError.
    """
    match = _SHORT.fullmatch(text) or _LONG.fullmatch(text)
    if match is None:
        raise AddressError(f"{text[:200]!r} is no pull request; write owner/repo#123 or {host.web}/owner/repo/pull/123")
    elsewhere = match.groupdict().get("host")
    if elsewhere is not None and not _is_same(elsewhere, host):
        raise AddressError(
            f"{text[:200]!r} is on {elsewhere}, but {host.web} is read; set GITHUB_SERVER_URL to read the other one"
        )
    return Address(match["repository"], int(match["number"]))


def _is_same(name: str, host: Host) -> bool:
    """Names of hosts know no case (RFC 3986, 3.2.2)."""
    return name.lower().removeprefix("www.") == host.web.partition("://")[2].lower()
