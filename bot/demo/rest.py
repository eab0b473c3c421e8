"""REST of a repository, its pull requests, issues and comments, with GitHub's statuses (docs.github.com/rest)."""

from __future__ import annotations

import base64
from dataclasses import dataclass

from aiohttp import web

from bot.demo import diff
from bot.demo.access import Access, Refusal
from bot.demo.answers import body_of, found, page_of
from bot.demo.objects import Account, Announce, Comment, Issue, Json, PullRequest, Repository
from bot.demo.shapes import REACTIONS, Shapes
from bot.demo.world import World

_LONGEST_COMMENT = 65_536
_LARGE_FILE = 1_000_000
_MOST_DIFF_FILES, _MOST_DIFF_LINES = 300, 20_000
_TALK = ("issues", "pull_requests")


@dataclass(frozen=True)
class RepositoryRoutes:
    """What an installation's token opens."""

    _world: World
    _access: Access
    _shapes: Shapes
    _bot: Account
    _announce: Announce

    def routes(self) -> list[web.RouteDef]:
        """All of them."""
        repo = "/repos/{owner}/{repo}"
        number, comment = rf"{repo}/issues/{{number:\d+}}", rf"{repo}/issues/comments/{{id:\d+}}"
        pull = rf"{repo}/pulls/{{number:\d+}}"
        return [
            web.get(repo, self.repository),
            web.get(f"{repo}/collaborators/{{user}}/permission", self.permission),
            web.get(f"{repo}/contents", self.contents),
            web.get(f"{repo}/contents/{{path:.*}}", self.contents),
            web.get(f"{repo}/pulls", self.pull_requests),
            web.get(pull, self.pull_request),
            web.get(f"{pull}/files", self.files),
            web.get(number, self.issue),
            web.get(f"{number}/comments", self.comments),
            web.post(f"{number}/comments", self.create_comment),
            web.get(comment, self.comment),
            web.patch(comment, self.update_comment),
            web.delete(comment, self.delete_comment),
            web.get(f"{comment}/reactions", self.reactions),
            web.post(f"{comment}/reactions", self.react),
        ]

    async def repository(self, request: web.Request) -> web.Response:
        """A repository."""
        return web.json_response(self._shapes.repository(self._access.repository(request, "read", "metadata")))

    async def permission(self, request: web.Request) -> web.Response:
        """What somebody may in a repository; whoever has no role may read what is public."""
        repository = self._access.repository(request, "read", "metadata")
        if self._access.grant(request) is None:
            raise Refusal(401, "Requires authentication")
        who = self._world.accounts.get(request.match_info["user"].lower())
        if who is None:
            raise Refusal(404, f"{request.match_info['user']} is not a user")
        role = "admin" if who is repository.owner else repository.roles.get(who.login)
        role_name = role or ("none" if repository.private else "read")
        held = {"maintain": "write", "triage": "read"}.get(role_name, role_name)
        user = {**self._shapes.user(who), "role_name": role_name}
        return web.json_response({"permission": held, "role_name": role_name, "user": user})

    async def contents(self, request: web.Request) -> web.Response:
        """A file, or what a folder holds."""
        repository = self._access.repository(request, "read", "contents")
        path, ref = request.match_info.get("path", "").strip("/"), request.query.get("ref") or "main"
        commit = repository.at(ref)
        if commit is None:
            raise Refusal(404, f"No commit found for the ref {ref}")
        text = commit.files.get(path)
        if text is not None:
            return self._file(request, repository, path, ref, text)
        start = f"{path}/" if path else ""
        names = {one.removeprefix(start).partition("/")[0] for one in commit.files if one.startswith(start)}
        if not names:
            raise Refusal(404, "Not Found")
        inside = ((f"{start}{name}", commit.files.get(f"{start}{name}")) for name in sorted(names))
        return web.json_response([self._shapes.content(repository, one, ref, held) for one, held in inside])

    def _file(self, request: web.Request, repository: Repository, path: str, ref: str, text: str) -> web.Response:
        accept = request.headers.get("accept", "")
        if accept.startswith("application/vnd.github.raw"):
            return web.Response(text=text, content_type=accept)
        small = len(text.encode()) <= _LARGE_FILE
        content = base64.encodebytes(text.encode()).decode() if small else ""
        shaped = self._shapes.content(repository, path, ref, text)
        return web.json_response({**shaped, "content": content, "encoding": "base64" if small else "none"})

    def _pull(self, request: web.Request) -> PullRequest:
        repository = self._access.repository(request, "read", "pull_requests")
        pull = repository.threads.get(int(request.match_info["number"]))
        if not isinstance(pull, PullRequest):
            raise Refusal(404, "Not Found")
        return pull

    async def pull_requests(self, request: web.Request) -> web.Response:
        """The newest first: those that are open, unless another state is asked for."""
        repository = self._access.repository(request, "read", "pull_requests")
        wanted = {"open": (True,), "closed": (False,)}.get(request.query.get("state", "open"), (True, False))
        kept = [one for one in repository.pull_requests() if (one.closed_at is None) in wanted]
        shown, headers = page_of(request, kept)
        return web.json_response([self._shapes.pull_request_simple(one) for one in shown], headers=headers)

    async def pull_request(self, request: web.Request) -> web.Response:
        """A pull request, or its diff."""
        pull = self._pull(request)
        if "diff" not in request.headers.get("accept", ""):
            return web.json_response(self._shapes.pull_request(pull))
        changed = diff.changes(pull.base.files, pull.head.files)
        text = diff.diff(changed)
        if len(changed) > _MOST_DIFF_FILES or text.count("\n") > _MOST_DIFF_LINES:
            raise Refusal(406, "Sorry, the diff exceeded the maximum number of files or lines.")
        return web.Response(text=text, content_type="application/vnd.github.diff")

    async def files(self, request: web.Request) -> web.Response:
        """Its changed files."""
        pull = self._pull(request)
        shown, headers = page_of(request, diff.changes(pull.base.files, pull.head.files))
        return web.json_response([self._shapes.file(pull, one) for one in shown], headers=headers)

    def _issue(self, request: web.Request, level: str) -> Issue:
        """An issue wants `issues`; a pull request is content with `pull_requests`."""
        name = f"{request.match_info['owner']}/{request.match_info['repo']}".lower()
        known = self._world.repositories.get(name)
        issue = known.threads.get(int(request.match_info["number"])) if known else None
        self._access.repository(request, level, *_talk_of(issue))
        if issue is None:
            raise Refusal(404, "Not Found")
        return issue

    async def issue(self, request: web.Request) -> web.Response:
        """An issue; a pull request is one, too."""
        return web.json_response(self._shapes.issue(self._issue(request, "read")))

    async def comments(self, request: web.Request) -> web.Response:
        """The oldest first."""
        shown, headers = page_of(request, self._issue(request, "read").comments)
        return web.json_response([self._shapes.comment(one) for one in shown], headers=headers)

    async def create_comment(self, request: web.Request) -> web.Response:
        """The App comments."""
        issue = self._issue(request, "write")
        made = self._world.comment(issue, self._bot, _text_of(await body_of(request)))
        self._announce("issue_comment", "created", made, self._bot, {})
        return web.json_response(self._shapes.comment(made), status=201)

    def _comment(self, request: web.Request, level: str) -> Comment:
        repository = self._access.repository(request, "read", *_TALK)
        comment = found((one for thread in repository.threads.values() for one in thread.comments), request)
        self._access.repository(request, level, *_talk_of(comment.issue))
        return comment

    async def comment(self, request: web.Request) -> web.Response:
        """One comment."""
        return web.json_response(self._shapes.comment(self._comment(request, "read")))

    async def update_comment(self, request: web.Request) -> web.Response:
        """The App writes a comment anew."""
        comment = self._comment(request, "write")
        text, changes = _text_of(await body_of(request)), {"body": {"from": comment.body}}
        comment.rewrite(text, self._world.now())
        self._announce("issue_comment", "edited", comment, self._bot, {"changes": changes})
        return web.json_response(self._shapes.comment(comment))

    async def delete_comment(self, request: web.Request) -> web.Response:
        """The App takes a comment back."""
        comment = self._comment(request, "write")
        comment.issue.comments.remove(comment)
        self._announce("issue_comment", "deleted", comment, self._bot, {})
        return web.Response(status=204)

    async def reactions(self, request: web.Request) -> web.Response:
        """The reactions on a comment."""
        wanted = request.query.get("content")
        kept = [one for one in self._comment(request, "read").reactions if wanted in (None, one.content)]
        shown, headers = page_of(request, kept)
        return web.json_response([self._shapes.reaction(one) for one in shown], headers=headers)

    async def react(self, request: web.Request) -> web.Response:
        """The App reacts to a comment."""
        comment, content = self._comment(request, "write"), (await body_of(request)).get("content")
        if content not in REACTIONS:
            raise Refusal(422, "Validation Failed: content is not one of GitHub's reactions")
        reaction, is_new = self._world.react(comment, self._bot, content)
        return web.json_response(self._shapes.reaction(reaction), status=201 if is_new else 200)


def _talk_of(issue: Issue | None) -> tuple[str, ...]:
    return _TALK if isinstance(issue, PullRequest) else ("issues",)


def _text_of(body: Json) -> str:
    text = body.get("body")
    if not isinstance(text, str) or not text.strip():
        raise Refusal(422, "Validation Failed: body can't be blank")
    if len(text) > _LONGEST_COMMENT:
        raise Refusal(422, f"Validation Failed: body is too long (maximum is {_LONGEST_COMMENT} characters)")
    return text
