"""GraphQL: `schema.graphql` executed over the world. An attribute answers the field of its name."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

import graphql

from bot.demo import diff
from bot.demo.access import Grant, visible
from bot.demo.objects import Account, Comment, Issue, Json, PullRequest, Repository
from bot.demo.shapes import node_id, time
from bot.demo.world import World

_MOST = 100
_TERM = re.compile(r'(?:[\w-]+:)?"[^"]*"|\S+')
_CAPITAL = re.compile(r"(?<!^)([A-Z])")

SCHEMA = graphql.build_schema(files("bot.demo").joinpath("schema.graphql").read_text(encoding="utf-8"))


@dataclass(frozen=True)
class _Root:
    """What one request may see."""

    world: World
    grant: Grant | None

    def threads(self) -> list[Issue]:
        """Every issue and pull request, the newest last."""
        seen = [one for one in self.world.repositories.values() if visible(one, self.grant)]
        return [thread for repository in seen for thread in repository.threads.values()]


async def answer(world: World, grant: Grant | None, document: str, variables: Json | None) -> Json:
    """GitHub's answer to a document: `data`, and `errors` where there are any."""
    root = _Root(world, grant)
    made = {"variable_values": variables, "field_resolver": _resolve, "type_resolver": _type_of}
    result = await graphql.graphql(SCHEMA, document, root, **made)  # type: ignore[arg-type]
    answered: Json = {"data": result.data}
    if result.errors:
        answered["errors"] = [{**(error.extensions or {}), **_without_extensions(error)} for error in result.errors]
    return answered


def _without_extensions(error: graphql.GraphQLError) -> Json:
    return {name: value for name, value in error.formatted.items() if name != "extensions"}


def _refused(kind: str, message: str) -> graphql.GraphQLError:
    return graphql.GraphQLError(message, extensions={"type": kind})


def _resolve(source: Any, info: graphql.GraphQLResolveInfo[Any], **arguments: Any) -> Any:
    name = info.field_name
    special = _FIELDS.get((info.parent_type.name, name)) or _EVERYWHERE.get(name)
    if special:
        value = special(source, **arguments)
    else:
        value = source[name] if isinstance(source, dict) else getattr(source, _CAPITAL.sub(r"_\1", name).lower())
    kind = graphql.get_named_type(info.return_type).name
    if kind == "DateTime":
        return time(value)
    return _page(value, name, **arguments) if kind.endswith("Connection") else value


def _page(nodes: Sequence[Any], name: str, first: int | None = None, after: str | None = None, **more: Any) -> Json:
    """One page; a cursor is the number of nodes before the next."""
    if first is None:
        raise _refused("MISSING_PAGINATION_BOUNDARIES", f"You must provide a `first` value on the `{name}` connection.")
    if not 1 <= first <= _MOST:
        raise _refused("EXCESSIVE_PAGINATION", f"Requesting {first} records on `{name}` exceeds the limit of {_MOST}.")
    if more.get("itemTypes"):
        nodes = [one for one in nodes if _CAPITAL.sub(r"_\1", one.kind).upper() in more["itemTypes"]]
    begin = int(after or 0)
    end = begin + first
    page = {"hasNextPage": end < len(nodes), "endCursor": str(min(end, len(nodes))) if nodes else None}
    return {"nodes": nodes[begin:end], "pageInfo": page, "totalCount": len(nodes), "issueCount": len(nodes)}


def _type_of(value: Any, info: graphql.GraphQLResolveInfo[Any], kind: graphql.GraphQLAbstractType) -> str:
    if isinstance(value, Account):
        return value.type
    if isinstance(value, Comment):
        return {"issuecomment-": "IssueComment", "discussion_r": "PullRequestReviewComment"}.get(
            value.anchor, "PullRequestReview"
        )
    names = {"ReviewThread": "PullRequestReviewThread"}
    return str(getattr(value, "kind", None) or names.get(type(value).__name__, type(value).__name__))


def _repository(root: _Root, owner: str, name: str, **_: Any) -> Repository:
    found = root.world.repositories.get(f"{owner}/{name}".lower())
    if found is None or not visible(found, root.grant):
        raise _refused("NOT_FOUND", f"Could not resolve to a Repository with the name '{owner}/{name}'.")
    return found


def _thread(kind: type[Issue], words: str, *, but: type[Issue] | None = None) -> Callable[[Repository, int], Issue]:
    def find(repository: Repository, number: int) -> Issue:
        found = repository.threads.get(number)
        if not isinstance(found, kind) or (but and isinstance(found, but)):
            raise _refused("NOT_FOUND", f"Could not resolve to {words} with the number of {number}.")
        return found

    return find


def _node(root: _Root, id: str) -> Any:  # noqa: A002
    for thread in root.threads():
        inner = thread.threads if isinstance(thread, PullRequest) else []
        for one in [thread, thread.repository, *thread.comments, *inner]:
            if node_id(one) == id:
                return one
    raise _refused("NOT_FOUND", f"Could not resolve to a node with the global id of '{id}'")


def _search(root: _Root, query: str, **_: Any) -> list[Issue]:
    """The newest first. Free words must all stand in title, body or comments."""
    terms = _TERM.findall(query)
    return [one for one in reversed(root.threads()) if all(_matches(one, term) for term in terms)]


def _matches(thread: Issue, term: str) -> bool:
    qualifier, colon, value = term.partition(":")
    is_pull = isinstance(thread, PullRequest)
    if not colon:
        texts = "\n".join([thread.title, thread.body, *(one.body for one in thread.comments)])
        return term.strip('"').lower() in texts.lower()
    if qualifier == "repo":
        return value.lower() == thread.repository.full_name.lower()
    if qualifier in ("is", "type", "state"):
        kinds = {"pr": is_pull, "issue": not is_pull, "open": thread.state == "OPEN"}
        return {**kinds, "closed": thread.state != "OPEN", "merged": thread.state == "MERGED"}[value]
    if term == "linked:issue":
        return isinstance(thread, PullRequest) and bool(thread.closing())
    if qualifier in ("created", "merged") and value.startswith(">="):
        moment = thread.created_at if qualifier == "created" else getattr(thread, "merged_at", None)
        return moment is not None and moment.date().isoformat() >= value.removeprefix(">=")
    raise _refused("UNPROCESSABLE", f"The demo's search does not know {term}.")


_EVERYWHERE: Mapping[str, Callable[..., Any]] = {
    "id": lambda one: node_id(one),
    "isPrivate": lambda one: one.private,
    "nameWithOwner": lambda one: one.full_name,
    "includesCreatedEdit": lambda one: bool(one.edits),
    "userContentEdits": lambda one, **_: one.edits,
    "timelineItems": lambda one, **_: one.timeline,
    "labels": lambda one, **_: [{"name": name} for name in one.labels],
    "submittedAt": lambda one: one.created_at,
}
_FIELDS: Mapping[tuple[str, str], Callable[..., Any]] = {
    ("Query", "repository"): _repository,
    ("Query", "node"): _node,
    ("Query", "search"): _search,
    ("Repository", "issueOrPullRequest"): _thread(Issue, "an issue or pull request"),
    ("Repository", "issue"): _thread(Issue, "an Issue", but=PullRequest),
    ("Repository", "pullRequest"): _thread(PullRequest, "a PullRequest"),
    ("PullRequest", "isDraft"): lambda pull: pull.draft,
    ("PullRequest", "merged"): lambda pull: pull.merged_at is not None,
    ("PullRequest", "baseRefOid"): lambda pull: pull.base.oid,
    ("PullRequest", "headRefOid"): lambda pull: pull.head.oid,
    ("PullRequest", "changedFiles"): lambda pull: len(_changes(pull)),
    ("PullRequest", "files"): lambda pull, **_: _changes(pull),
    ("PullRequest", "reviewThreads"): lambda pull, **_: pull.threads,
    ("PullRequest", "commits"): lambda pull, **_: [{"commit": one} for one in pull.commits],
    ("PullRequest", "closingIssuesReferences"): lambda pull, **_: pull.closing(),
    ("Commit", "author"): lambda commit: {"name": commit.author.login, "user": commit.author},
}


def _changes(pull: PullRequest) -> list[diff.Change]:
    return diff.changes(pull.base.files, pull.head.files)
