"""REST of the App itself: who it is, where it is installed, its tokens, its deliveries (docs.github.com/rest/apps)."""

from __future__ import annotations

from dataclasses import dataclass

from aiohttp import web

from bot.demo.access import Access, Refusal
from bot.demo.answers import body_of, found, next_link, number_of, page_of
from bot.demo.app_shapes import AppShapes
from bot.demo.hooks import Delivery, Hooks
from bot.demo.objects import Json
from bot.demo.shapes import time
from bot.demo.world import World


@dataclass(frozen=True)
class AppRoutes:
    """The routes that ask for the App's JWT, and the one that lists a token's repositories."""

    _world: World
    _access: Access
    _hooks: Hooks
    _shapes: AppShapes

    def routes(self) -> list[web.RouteDef]:
        """All of them."""
        delivery = r"/app/hook/deliveries/{id:\d+}"
        return [
            web.get("/app", self.app),
            web.get("/app/installations", self.installations),
            web.post(r"/app/installations/{id:\d+}/access_tokens", self.create_token),
            web.get("/app/hook/deliveries", self.deliveries),
            web.get(delivery, self.delivery),
            web.post(f"{delivery}/attempts", self.redeliver),
            web.get("/installation/repositories", self.installed_repositories),
            web.get("/repos/{owner}/{repo}/installation", self.installation_of),
        ]

    async def app(self, request: web.Request) -> web.Response:
        """The App itself."""
        self._access.require_app(request)
        return web.json_response(self._shapes.app())

    async def installations(self, request: web.Request) -> web.Response:
        """Where it is installed."""
        self._access.require_app(request)
        shown, headers = page_of(request, list(self._access.installations.values()))
        return web.json_response([self._shapes.installation(one) for one in shown], headers=headers)

    async def installation_of(self, request: web.Request) -> web.Response:
        """The installation of one repository."""
        self._access.require_app(request)
        about = request.match_info
        repository = self._world.repositories.get(f"{about['owner']}/{about['repo']}".lower())
        installation = self._access.installation_of(repository) if repository else None
        if installation is None:
            raise Refusal(404, "Not Found")
        return web.json_response(self._shapes.installation(installation))

    async def create_token(self, request: web.Request) -> web.Response:
        """A token of an installation."""
        self._access.require_app(request)
        asked = await body_of(request)
        token, grant = self._access.issue_token(int(request.match_info["id"]), asked)
        shaped: Json = {"token": token, "expires_at": time(grant.expires_at), "permissions": dict(grant.permissions)}
        if not {"repository_ids", "repositories"}.isdisjoint(asked):
            shaped["repositories"] = [self._shapes.repository(one) for one in grant.repositories]
        shaped["repository_selection"] = "selected"
        return web.json_response(shaped, status=201)

    async def installed_repositories(self, request: web.Request) -> web.Response:
        """The repositories of the request's token."""
        grant = self._access.grant(request)
        if grant is None:
            raise Refusal(401, "Requires authentication")
        shown, headers = page_of(request, grant.repositories)
        shaped = [self._shapes.repository(one) for one in shown]
        return web.json_response({"total_count": len(grant.repositories), "repositories": shaped}, headers=headers)

    async def deliveries(self, request: web.Request) -> web.Response:
        """The newest first; `cursor` is the id of the first to be shown."""
        self._access.require_app(request)
        size, begin = min(number_of(request, "per_page", 30), 100), number_of(request, "cursor", 1 << 62)
        wanted = {"success": True, "failure": False}.get(request.query.get("status", ""))
        kept = [one for one in self._hooks.deliveries if one.id <= begin and wanted in (None, one.status == "OK")]
        kept.sort(key=lambda one: one.id, reverse=True)
        headers = next_link(request, cursor=kept[size].id) if len(kept) > size else {}
        return web.json_response([one.shape() for one in kept[:size]], headers=headers)

    def _delivery(self, request: web.Request) -> Delivery:
        self._access.require_app(request)
        return found(self._hooks.deliveries, request)

    async def delivery(self, request: web.Request) -> web.Response:
        """One delivery with what was sent."""
        return web.json_response(self._delivery(request).whole())

    async def redeliver(self, request: web.Request) -> web.Response:
        """Sends it again."""
        self._hooks.redeliver(self._delivery(request))
        return web.json_response({}, status=202)
