"""The demo's GitHub: what people do on it, as methods; it answers the App on loopback and sends it webhooks."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from aiohttp import web

from bot.demo import queries
from bot.demo.access import Access, App, Refusal
from bot.demo.answers import body_of, refusals
from bot.demo.app_shapes import AppShapes
from bot.demo.hooks import Hooks
from bot.demo.objects import Account, CheckRun, Comment, Issue, Json, PullRequest, Repository
from bot.demo.pages import Pages
from bot.demo.rest import RepositoryRoutes
from bot.demo.rest_app import AppRoutes
from bot.demo.rest_checks import CheckRoutes
from bot.demo.world import World

# The most that a request may hold: a comment of 65,536 characters, escaped.
_LONGEST_REQUEST = 1 << 20
_LOOPBACK = "127.0.0.1"


class GitHub:
    """One GitHub that knows one App. Each method that somebody's deed has awaits the App's answer to its webhook."""

    def __init__(self, world: World, app: App) -> None:
        self.world = world
        self.app = app
        self.access = Access(world, app)
        self.hooks = Hooks(world, app)
        self.shapes = AppShapes(world, app)

    @asynccontextmanager
    async def serve(self, port: int = 0) -> AsyncIterator[str]:
        """Serves pages, REST under /api/v3 and GraphQL under /api/graphql on loopback only; the server's address.

        These are the paths of an Enterprise Server, so `GITHUB_SERVER_URL` is all that a client needs to be told.
        """
        runner = web.AppRunner(self._application())
        await runner.setup()
        try:
            site = web.TCPSite(runner, _LOOPBACK, port)
            await site.start()
            self.world.web = f"http://{_LOOPBACK}:{runner.addresses[0][1]}"
            yield self.world.web
            await self.hooks.settled()
        finally:
            await runner.cleanup()

    def _application(self) -> web.Application:
        api = web.Application(middlewares=[refusals], client_max_size=_LONGEST_REQUEST)
        ours = (
            self.world,
            self.access,
            self.shapes,
            self.world.account(f"{self.app.slug}[bot]", "Bot"),
            self._announce,
        )
        api.add_routes(AppRoutes(self.world, self.access, self.hooks, self.shapes).routes())
        api.add_routes(RepositoryRoutes(*ours).routes())
        api.add_routes(CheckRoutes(*ours).routes())
        graphql = web.Application(middlewares=[refusals], client_max_size=_LONGEST_REQUEST)
        graphql.router.add_post("", self._graphql)
        application = web.Application(client_max_size=_LONGEST_REQUEST)
        application.add_subapp("/api/v3", api)
        application.add_subapp("/api/graphql", graphql)
        application.add_routes(Pages(self).routes())
        return application

    async def _graphql(self, request: web.Request) -> web.Response:
        grant = self.access.grant(request)
        if grant is None:
            raise Refusal(401, "This endpoint requires you to be authenticated.")
        asked = await body_of(request)
        answered = await queries.answer(self.world, grant, str(asked.get("query")), asked.get("variables"))
        return web.json_response(answered)

    async def open_pull_request(
        self, repository: Repository, author: Account, title: str, body: str, changes: Mapping[str, str | None],
        *, message: str, branch: str, draft: bool = False,
    ) -> PullRequest:  # fmt: skip
        """A pull request into the default branch; from a fork, where its author may not push."""
        about = {"message": message, "branch": branch, "draft": draft}
        pull = self.world.open_pull_request(repository, author, title, body, changes, **about)  # type: ignore[arg-type]
        await self._tell("pull_request", "opened", pull, author)
        return pull

    async def push(self, pull: PullRequest, changes: Mapping[str, str | None], message: str) -> None:
        """One more commit."""
        before = pull.head.oid
        after = self.world.push(pull, changes, message).oid
        await self._tell("pull_request", "synchronize", pull, pull.author, before=before, after=after)

    async def comment(self, issue: Issue, author: Account, body: str) -> Comment:
        """A comment on an issue or a pull request."""
        made = self.world.comment(issue, author, body)
        await self._tell("issue_comment", "created", made, author)
        return made

    async def edit_comment(self, comment: Comment, by: Account, body: str) -> None:
        """Another text for a comment."""
        changes = {"body": {"from": comment.body}}
        comment.rewrite(body, self.world.now())
        await self._tell("issue_comment", "edited", comment, by, changes=changes)

    async def delete_comment(self, comment: Comment, by: Account) -> None:
        """A comment less."""
        comment.issue.comments.remove(comment)
        await self._tell("issue_comment", "deleted", comment, by)

    async def edit(self, issue: Issue, by: Account, *, title: str | None = None, body: str | None = None) -> None:
        """Another title or description for an issue or a pull request."""
        changes = self.world.edit(issue, by, title, body)
        if changes:
            await self._tell(_event_of(issue), "edited", issue, by, changes=changes)

    async def close(self, issue: Issue, by: Account) -> None:
        """Closes an issue, or a pull request without merging it."""
        self.world.close(issue, by)
        await self._tell(_event_of(issue), "closed", issue, by)

    async def merge(self, pull: PullRequest, by: Account) -> None:
        """Merges a pull request; its issues are closed."""
        issues = self.world.merge(pull, by)
        for issue in [pull, *issues]:
            await self._tell(_event_of(issue), "closed", issue, by)

    async def rerequest(self, run: CheckRun, by: Account) -> None:
        """Presses a check run's Re-run."""
        await self._tell("check_run", "rerequested", run, by)

    async def press(self, run: CheckRun, by: Account, identifier: str) -> None:
        """Presses a button that the App put on its check run."""
        await self._tell("check_run", "requested_action", run, by, requested_action={"identifier": identifier})

    async def _tell(self, event: str, action: str, thing: Any, by: Account, **more: Any) -> None:
        repository: Repository = thing.repository
        payload = self._payload(event, action, thing, by, more)
        await self.hooks.deliver(event, payload, self.access.installation_of(repository), repository)

    def _announce(self, event: str, action: str, thing: Any, by: Account, more: Json) -> None:
        """What the App itself did; it is not made to wait for its own answer."""
        repository: Repository = thing.repository
        payload = self._payload(event, action, thing, by, more)
        self.hooks.later(event, payload, self.access.installation_of(repository), repository)

    def _payload(self, event: str, action: str, thing: Any, by: Account, more: Json) -> Json:
        """As docs.github.com/webhooks/webhook-events-and-payloads describes it; of the repository more than there."""
        repository: Repository = thing.repository
        installation = self.access.installation_of(repository)
        about: Json = {"action": action, **self._subject(event, thing), **more}
        about |= {"repository": self.shapes.repository(repository), "sender": self.shapes.user(by)}
        if repository.owner.type == "Organization":
            about["organization"] = self.shapes.organization(repository.owner)
        if installation:
            about["installation"] = {"id": installation.id, "node_id": f"MDIzOk{installation.id}"}
        return about

    def _subject(self, event: str, thing: Any) -> Json:
        if event == "pull_request":
            return {"number": thing.number, "pull_request": self.shapes.pull_request(thing)}
        if event == "issues":
            return {"issue": self.shapes.issue(thing)}
        if event == "issue_comment":
            return {"issue": self.shapes.issue(thing.issue), "comment": self.shapes.comment(thing)}
        return {"check_run": self.shapes.check_run(thing)}


def _event_of(issue: Issue) -> str:
    return "pull_request" if isinstance(issue, PullRequest) else "issues"
