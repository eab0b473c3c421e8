"""REST of check runs (docs.github.com/rest/checks/runs)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from aiohttp import web

from bot.demo.access import Access, Refusal
from bot.demo.answers import body_of, found, page_of
from bot.demo.app_shapes import AppShapes
from bot.demo.objects import Account, Announce, CheckRun, Json, newest_of_each_name
from bot.demo.world import World

_LONGEST_SUMMARY = 65_535
_MOST_ANNOTATIONS, _MOST_ACTIONS = 50, 3
_ACTION_LENGTHS = {"label": 20, "description": 40, "identifier": 20}
_KEPT = ("name", "status", "conclusion", "external_id", "details_url", "actions")


@dataclass(frozen=True)
class CheckRoutes:
    """The App's check runs."""

    _world: World
    _access: Access
    _shapes: AppShapes
    _bot: Account
    _announce: Announce

    def routes(self) -> list[web.RouteDef]:
        """All of them."""
        repo = "/repos/{owner}/{repo}"
        run = rf"{repo}/check-runs/{{id:\d+}}"
        return [
            web.post(f"{repo}/check-runs", self.create_check_run),
            web.get(run, self.check_run),
            web.patch(run, self.update_check_run),
            web.get(f"{repo}/commits/{{ref}}/check-runs", self.check_runs),
        ]

    async def create_check_run(self, request: web.Request) -> web.Response:
        """A check run at a commit."""
        repository = self._access.repository(request, "write", "checks")
        asked = await body_of(request)
        if not asked.get("name") or repository.at(str(asked.get("head_sha"))) is None:
            raise Refusal(422, f"No commit found for SHA: {asked.get('head_sha')}")
        about: Json = {"id": self._world.next_id(), "repository": repository, "started_at": self._world.now()}
        run = CheckRun(name=asked["name"], head_sha=asked["head_sha"], **about)
        self._update(run, asked)
        repository.check_runs.append(run)
        self._announce("check_run", "created", run, self._bot, {})
        return web.json_response(self._shapes.check_run(run), status=201)

    def _run(self, request: web.Request, level: str) -> CheckRun:
        return found(self._access.repository(request, level, "checks").check_runs, request)

    async def check_run(self, request: web.Request) -> web.Response:
        """One check run."""
        return web.json_response(self._shapes.check_run(self._run(request, "read")))

    async def update_check_run(self, request: web.Request) -> web.Response:
        """What changed of it; annotations are added to those that it has."""
        run, was = self._run(request, "write"), self._run(request, "write").status
        self._update(run, await body_of(request))
        if run.status == "completed" != was:
            self._announce("check_run", "completed", run, self._bot, {})
        return web.json_response(self._shapes.check_run(run))

    def _update(self, run: CheckRun, asked: Json) -> None:
        output, actions = asked.get("output") or {}, asked.get("actions") or []
        _check_lengths(output, actions)
        if asked.get("status") == "completed" and not (asked.get("conclusion") or run.conclusion):
            raise Refusal(422, "Invalid request. A completed check run needs a conclusion.")
        for name in _KEPT:
            if name in asked:
                setattr(run, name, asked[name])
        if "started_at" in asked:
            run.started_at = datetime.fromisoformat(asked["started_at"])
        if "conclusion" in asked:
            run.status = "completed"
        if run.status == "completed":
            given = asked.get("completed_at")
            run.completed_at = datetime.fromisoformat(given) if given else run.completed_at or self._world.now()
        run.output = {**run.output, **output}
        run.annotations += output.get("annotations", [])

    async def check_runs(self, request: web.Request) -> web.Response:
        """The check runs at a commit; of each name the newest, unless all are asked for."""
        repository = self._access.repository(request, "read", "checks")
        commit, wanted = repository.at(request.match_info["ref"]), request.query.get("check_name")
        if commit is None:
            raise Refusal(422, f"No commit found for SHA: {request.match_info['ref']}")
        kept = [one for one in repository.check_runs if one.head_sha == commit.oid and wanted in (None, one.name)]
        if request.query.get("filter") != "all":
            kept = newest_of_each_name(kept)
        shown, headers = page_of(request, kept)
        shaped = [self._shapes.check_run(one) for one in shown]
        return web.json_response({"total_count": len(kept), "check_runs": shaped}, headers=headers)


def _check_lengths(output: Json, actions: list[Json]) -> None:
    """The limits of docs.github.com/rest/checks/runs."""
    if output and not (output.get("title") and output.get("summary")):
        raise Refusal(422, "Invalid request. An output needs a title and a summary.")
    if any(len(output.get(name) or "") > _LONGEST_SUMMARY for name in ("summary", "text")):
        raise Refusal(422, f"Invalid request. Only {_LONGEST_SUMMARY} characters are allowed.")
    if len(output.get("annotations", [])) > _MOST_ANNOTATIONS or len(actions) > _MOST_ACTIONS:
        raise Refusal(422, f"Invalid request. At most {_MOST_ANNOTATIONS} annotations and {_MOST_ACTIONS} actions.")
    for name, most in _ACTION_LENGTHS.items():
        if any(not 0 < len(action.get(name, "")) <= most for action in actions):
            raise Refusal(422, f"Invalid request. An action's {name} has 1 to {most} characters.")
