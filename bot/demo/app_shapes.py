"""Objects that are the App's own, as GitHub writes them: itself, its installations, its check runs."""

from __future__ import annotations

from bot.demo.access import App, Installation
from bot.demo.objects import CheckRun, Json, PullRequest
from bot.demo.shapes import Shapes, node_id, time
from bot.demo.world import World


class AppShapes(Shapes):
    """The objects of one world with one App."""

    def __init__(self, world: World, app: App) -> None:
        super().__init__(world)
        self._app = app

    def app(self) -> Json:
        """integration."""
        app = self._app
        web = self._world.web
        about = {"id": app.id, "node_id": node_id(app), "slug": app.slug, "name": app.name, "description": None}
        urls = {"external_url": web, "html_url": f"{web}/apps/{app.slug}"}
        times = dict.fromkeys(("created_at", "updated_at"), time(app.created_at))
        may = {"permissions": dict(app.permissions), "events": list(app.events)}
        return {**about, **urls, **times, **may, "owner": self.user(app.owner)}

    def installation(self, installation: Installation) -> Json:
        """installation."""
        id_, account, app = installation.id, installation.account, self._app
        page = f"{self._world.web}/settings/installations/{id_}"
        urls = {"html_url": page, "repositories_url": f"{self.rest}/installation/repositories"}
        urls["access_tokens_url"] = f"{self.rest}/app/installations/{id_}/access_tokens"
        return {
            "id": id_,
            "account": self.user(account),
            "app_id": app.id,
            "app_slug": app.slug,
            "target_id": account.id,
            "target_type": account.type,
            "repository_selection": "selected",
            "permissions": dict(installation.permissions),
            "events": list(app.events),
            "single_file_name": None,
            "suspended_by": None,
            "suspended_at": time(installation.suspended_at),
            **dict.fromkeys(("created_at", "updated_at"), time(app.created_at)),
            **urls,
        }

    def check_run(self, run: CheckRun) -> Json:
        """check-run. Of a fork's pull request it does not know (docs.github.com/rest/checks/runs)."""
        home = self.url(run.repository)
        url = f"{home}/check-runs/{run.id}"
        texts = {name: run.output.get(name) for name in ("title", "summary", "text")}
        notes = {"annotations_count": len(run.annotations), "annotations_url": f"{url}/annotations"}
        pulls = [one for one in run.repository.pull_requests() if one.head.oid == run.head_sha]
        suite = int(run.head_sha[:8], 16)
        return {
            "id": run.id,
            "node_id": node_id(run),
            "name": run.name,
            "head_sha": run.head_sha,
            "external_id": run.external_id,
            "status": run.status,
            "conclusion": run.conclusion,
            "started_at": time(run.started_at),
            "completed_at": time(run.completed_at),
            "url": url,
            "html_url": f"{run.repository.url}/runs/{run.id}",
            "details_url": run.details_url or self._world.web,
            "output": {**texts, **notes},
            "check_suite": {"id": suite},
            "app": self.app(),
            "pull_requests": [self._minimal(one) for one in pulls if one.head_repository is one.repository],
        }

    def _minimal(self, pull: PullRequest) -> Json:
        repository = pull.repository
        repo = {"id": repository.id, "url": self.url(repository), "name": repository.name}
        ends = {"head": {"ref": pull.branch, "sha": pull.head.oid}, "base": {"ref": "main", "sha": pull.base.oid}}
        shaped = {end: {**about, "repo": repo} for end, about in ends.items()}
        return {"id": pull.id, "number": pull.number, "url": f"{repo['url']}/pulls/{pull.number}", **shaped}
