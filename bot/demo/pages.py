"""Pages to click through: a repository, its issues and pull requests, and forms to answer as one of its people.

What the App and people wrote is Markdown of strangers: of its HTML a few tags without attributes are let through.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from html import escape
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from aiohttp import web
from markdown_it import MarkdownIt
from markdown_it.token import Token

from bot.demo import diff
from bot.demo.objects import Account, CheckRun, Comment, Issue, PullRequest, Repository, Written, newest_of_each_name

if TYPE_CHECKING:
    from bot.demo.github import GitHub

_TAG = re.compile(r"</?(?:details|summary|sub|sup|del|kbd|b|strong|em|i|code)>|<details open>|<br ?/?>")
_HTML_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_HUNK = re.compile(r"@@ -(\d+)(?:,\d+)? \+(\d+)")
_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'",
    "Cache-Control": "no-store",
}
_OCTICONS = {"success": "✓", "neutral": "◦", "failure": "✗", None: "…"}
_STYLE = files("bot.demo").joinpath("pages.css").read_text(encoding="utf-8")


def _harmless_html(tokens: Sequence[Token], position: int, *_: Any) -> str:
    """The few tags as they are, comments not at all, anything else as text."""
    text = _HTML_COMMENT.sub("", tokens[position].content)
    between = [escape(part) for part in _TAG.split(text)]
    tags = [*_TAG.findall(text), ""]
    return "".join(f"{part}{tag}" for part, tag in zip(between, tags, strict=True))


def _markdown() -> MarkdownIt:
    reader = MarkdownIt("commonmark").enable(["table", "strikethrough"]).disable("image")
    reader.renderer.rules |= {"html_block": _harmless_html, "html_inline": _harmless_html}  # type: ignore[attr-defined]
    return reader


_MARKDOWN = _markdown()


def rendered(markdown: str) -> str:
    """A comment's HTML. What is no Markdown and none of the few tags comes out as text."""
    return str(_MARKDOWN.render(markdown))


class Pages:
    """The pages over one GitHub."""

    def __init__(self, github: GitHub) -> None:
        self._github = github

    def routes(self) -> list[web.RouteDef]:
        """All of them. The forms carry no tokens: this is made-up data on loopback."""
        repo = "/{owner}/{repo}"
        thread = rf"{repo}/{{kind:issues|pull}}/{{number:\d+}}"
        return [
            web.get("/", self.start),
            web.get(repo, self.repository),
            web.get(thread, self.thread),
            web.get(f"{thread}/files", self.thread),
            web.get(f"{repo}/blob/{{ref}}/{{path:.*}}", self.blob),
            web.get(rf"{repo}/runs/{{id:\d+}}", self.run),
            web.post(f"{thread}/comment", self.comment),
            web.post(rf"{repo}/runs/{{id:\d+}}", self.press),
        ]

    async def start(self, request: web.Request) -> web.Response:
        """To the first repository."""
        raise web.HTTPFound(next(iter(self._github.world.repositories.values())).url)

    def _repository(self, request: web.Request) -> Repository:
        name = f"{request.match_info['owner']}/{request.match_info['repo']}".lower()
        found = self._github.world.repositories.get(name)
        if found is None:
            raise web.HTTPNotFound
        return found

    def _thread(self, request: web.Request) -> Issue:
        found = self._repository(request).threads.get(int(request.match_info["number"]))
        if found is None:
            raise web.HTTPNotFound
        return found

    def _run(self, request: web.Request) -> CheckRun:
        runs = self._repository(request).check_runs
        found = next((run for run in runs if run.id == int(request.match_info["id"])), None)
        if found is None:
            raise web.HTTPNotFound
        return found

    async def repository(self, request: web.Request) -> web.Response:
        """Pull requests, issues, and the files of the default branch."""
        repository = self._repository(request)
        threads = list(reversed(repository.threads.values()))
        pulls = [_row(one) for one in threads if isinstance(one, PullRequest)]
        issues = [_row(one) for one in threads if not isinstance(one, PullRequest)]
        paths = [
            f'<li><a href="{escape(f"{repository.url}/blob/main/{path}")}">{escape(path)}</a>'
            for path in repository.head.files
        ]
        lists = {"Pull requests": pulls, "Issues": issues, "Files": paths}
        body = "".join(
            f"<h2>{name}</h2><ul class=box>{''.join(rows) or '<li>None.'}</ul>" for name, rows in lists.items()
        )
        return _page(repository, repository.full_name, body)

    async def thread(self, request: web.Request) -> web.Response:
        """An issue or a pull request with what was said, the check, the diff, and a form."""
        issue = self._thread(request)
        parts = [f"<h1>{escape(issue.title)} <small>#{issue.number}</small></h1>", _state(issue)]
        parts += [_said(issue, ""), *(_said(one, f"issuecomment-{one.id}") for one in issue.comments)]
        if isinstance(issue, PullRequest):
            runs = [run for run in issue.repository.check_runs if run.head_sha == issue.head.oid]
            parts += [self._check(run) for run in newest_of_each_name(runs)]
        parts.append(self._form(issue))
        if isinstance(issue, PullRequest):
            parts += [_diff(one) for one in diff.changes(issue.base.files, issue.head.files)]
        return _page(issue.repository, issue.title, "".join(parts))

    def _people(self, issue: Issue | CheckRun) -> str:
        repository = issue.repository
        words = {"admin": "maintainer", "maintain": "maintainer", "write": "maintainer"}
        options = []
        for one in self._github.world.accounts.values():
            if one.type != "User":
                continue
            author = "author" if isinstance(issue, Issue) and issue.author is one else "stranger"
            word = words.get(repository.roles.get(one.login, ""), author)
            options.append(f'<option value="{escape(one.login)}">{escape(one.login)}, {word}</option>')
        return f"<select name=as aria-label=As>{''.join(sorted(options, key=_maintainers_first))}</select>"

    def _form(self, issue: Issue) -> str:
        return (
            f'<form class=box method=post action="{escape(issue.url)}/comment">'
            "<textarea name=body rows=4 required placeholder='Say something, or /paichecker help'></textarea>"
            f"<p>As {self._people(issue)} <button class=main>Comment</button></p></form>"
        )

    def _check(self, run: CheckRun) -> str:
        buttons = [("rerequest", "Re-run", "")]
        buttons += [(one["identifier"], one["label"], one["description"]) for one in run.actions]
        made = (
            f'<button name=action value="{escape(value)}" title="{escape(words)}">{escape(label)}</button> '
            for value, label, words in buttons
        )
        title = run.output.get("title") or run.status.replace("_", " ")
        return (
            f'<form class="box check" method=post action="{escape(run.repository.url)}/runs/{run.id}">'
            f'<p><b class="{escape(str(run.conclusion))}">{_OCTICONS.get(run.conclusion, "◦")}</b> '
            f'<a href="{escape(run.repository.url)}/runs/{run.id}">{escape(run.name)}</a> '
            f"{escape(title)}</p><p>As {self._people(run)} {''.join(made)}</p></form>"
        )

    async def run(self, request: web.Request) -> web.Response:
        """A check run's whole output."""
        run = self._run(request)
        texts = "".join(rendered(run.output.get(name) or "") for name in ("summary", "text"))
        body = f"<h1>{escape(run.name)}</h1>{self._check(run)}<div class='box md'>{texts}</div>"
        return _page(run.repository, run.name, body)

    async def blob(self, request: web.Request) -> web.Response:
        """A file, with a place to link to at each line."""
        repository, about = self._repository(request), request.match_info
        commit = repository.at(about["ref"])
        text = commit.files.get(about["path"]) if commit else None
        if text is None:
            raise web.HTTPNotFound
        rows = [
            f"<tr id=L{n}><td>{n}<td>{escape(line)}" for n, line in enumerate(text.removesuffix("\n").split("\n"), 1)
        ]
        body = f"<h1>{escape(about['path'])}</h1><table class='box diff'>{''.join(rows)}</table>"
        return _page(repository, about["path"], body)

    async def _form_of(self, request: web.Request) -> tuple[Account, dict[str, str]]:
        """Who filled it in, and what."""
        form = {name: str(value) for name, value in (await request.post()).items()}
        who = self._github.world.accounts.get(form.get("as", "").lower())
        if who is None:
            raise web.HTTPBadRequest(text="The form does not say as whom.")
        return who, form

    async def comment(self, request: web.Request) -> web.Response:
        """Somebody comments."""
        who, form = await self._form_of(request)
        made = await self._github.comment(self._thread(request), who, form.get("body", ""))
        raise web.HTTPFound(made.url)

    async def press(self, request: web.Request) -> web.Response:
        """Somebody presses one of a check run's buttons."""
        run, (who, form) = self._run(request), await self._form_of(request)
        action = form.get("action", "rerequest")
        await (self._github.rerequest(run, who) if action == "rerequest" else self._github.press(run, who, action))
        pulls = (one.url for one in run.repository.pull_requests() if one.head.oid == run.head_sha)
        raise web.HTTPFound(next(pulls, run.repository.url))


def _maintainers_first(option: str) -> tuple[bool, bool]:
    return ", maintainer" not in option, ", author" not in option


def _page(repository: Repository, title: str, body: str) -> web.Response:
    head = f"<!doctype html><html lang=en><meta charset=utf-8><title>{escape(title)}</title><style>{_STYLE}</style>"
    where = f"<header><a href='{escape(repository.url)}'>{escape(repository.full_name)}</a> <i>on the demo's GitHub</i>"
    text = f"{head}<body>{where}</header><main>{body}</main>"
    return web.Response(text=text, content_type="text/html", headers=_HEADERS)


def _row(issue: Issue) -> str:
    state = issue.state.lower()
    link = f'<a href="{escape(issue.url)}">{escape(issue.title)}</a>'
    about = f"<small>#{issue.number} by {escape(issue.author.login)}</small>"
    return f"<li><span class='state {state}'>{state}</span> {link} {about}"


def _state(issue: Issue) -> str:
    state = issue.state.lower()
    what = f"<span class='state {state}'>{state}</span> {escape(issue.author.login)}"
    if isinstance(issue, PullRequest):
        links = "".join(f' · closes <a href="{escape(one.url)}">#{one.number}</a>' for one in issue.closing())
        what += f" wants to merge <code>{escape(issue.branch)}</code> into <code>main</code>{links}"
    return f"<p>{what}</p>"


def _said(one: Written, anchor: str) -> str:
    association = one.author_association.lower()
    role = "" if association == "none" else f"<span class=role>{association}</span>"
    bot = " <span class=role>bot</span>" if one.author.type == "Bot" else ""
    edited = " · edited" if one.edits else ""
    reactions = _reactions(one) if isinstance(one, Comment) else ""
    return (
        f"<article id='{anchor}' class=box><div class=who><b>{escape(one.author.login)}</b>{bot} "
        f"<small>{one.created_at:%d %b, %H:%M}{edited}</small> {role}</div>"
        f"<div class=md>{rendered(one.body)}</div>{reactions}</article>"
    )


def _reactions(comment: Comment) -> str:
    signs = {
        "+1": "👍",
        "-1": "👎",
        "laugh": "😄",
        "confused": "😕",
        "heart": "❤️",
        "hooray": "🎉",
        "eyes": "👀",
        "rocket": "🚀",
    }
    shown = "".join(
        f"<span class=role>{signs[one.content]} {escape(one.user.login)}</span> " for one in comment.reactions
    )
    return f"<div class=reactions>{shown}</div>" if shown else ""


def _diff(change: diff.Change) -> str:
    anchor = f"diff-{hashlib.sha256(change.path.encode()).hexdigest()}"
    rows, old, new = [], 0, 0
    for line in change.patch.removesuffix("\n").split("\n"):
        hunk = _HUNK.match(line)
        if hunk:
            old, new = int(hunk[1]), int(hunk[2])
            rows.append(f"<tr class=hunk><td><td><td>{escape(line)}")
            continue
        sign = line[:1]
        left, right = ("" if sign in "+\\" else old), ("" if sign in "-\\" else new)
        place = f"R{right}" if right else f"L{left}"
        kind = {"+": "add", "-": "del"}.get(sign, "")
        rows.append(f"<tr class='{kind}' id='{anchor}{place}'><td>{left}<td>{right}<td>{escape(line)}")
        old, new = old + (left != ""), new + (right != "")
    return f"<h3 id='{anchor}'>{escape(change.path)}</h3><table class='box diff'>{''.join(rows)}</table>"
