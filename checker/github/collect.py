"""`collect(address) -> Pair`: everything about one pull request and its issues, as of a moment.

What could not be read, or was not read to its end, is named in the pair's `unread` and `partial`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, Literal

from checker import patches
from checker.github import documents
from checker.github.address import Address
from checker.github.client import Client, GitHubError, NotFoundError
from checker.github.diff import Changes, read_changes
from checker.github.gaps import Gaps
from checker.github.linked import head_is_listed, linked, own_commits
from checker.github.pages import complete
from checker.github.roles import association, maintainers
from checker.github.versions import body_at, first_body, first_title, title_at
from checker.pair import ChangedFile, Comment, Commit, Issue, Pair, PullRequest, Related, pair_id
from checker.taxonomy import Artifact

Json = dict[str, Any]
Moment = Literal["now", "merge"] | datetime

_GHOST = "ghost"
_A_PULL_REQUEST: Literal["pull request"] = "pull request"
_PART_OF_PULL_REQUEST = {
    "comments": Artifact.PR_COMMENTS,
    "reviews": Artifact.PR_REVIEWS,
    "reviewThreads": Artifact.PR_REVIEWS,
    "commits": Artifact.PR_COMMITS,
    "closingIssuesReferences": Artifact.ISSUE_DESCRIPTION,
    "timelineItems": Artifact.PR_TIMELINE,
    "userContentEdits": Artifact.PR_DESCRIPTION,
    "files": Artifact.CODE_PATCH,
    "mergeCommit": Artifact.MERGE_REFERENCES,
}
_PART_OF_ISSUE = {
    "comments": Artifact.ISSUE_DISCUSSION,
    "timelineItems": Artifact.ISSUE_TIMELINE,
    "userContentEdits": Artifact.ISSUE_DESCRIPTION,
}


async def collect(client: Client, address: Address, *, as_of: Moment = "now") -> Pair:
    """Reads a pull request with its issues. `as_of`: later texts are left out, but for what refers here from later on.

    Raises GitHubError where the pull request itself cannot be read.
    """
    gaps = Gaps()
    repository = await client.early(lambda: _repository(client, address, gaps))
    node, full_name = repository["pullRequest"], repository["nameWithOwner"]
    until = _moment(as_of, node)
    async with asyncio.TaskGroup() as group:
        changes = group.create_task(read_changes(client, full_name, node["number"], node["changedFiles"], gaps))
        mentions = group.create_task(_merge_mentions(client, full_name, node, gaps))
        await complete(client, node, "PullRequest", _PART_OF_PULL_REQUEST, gaps)
        linking = group.create_task(_issues(client, node, full_name, until, gaps))
    issues, claimed = linking.result()
    pull_request = replace(
        _pull_request(node, full_name, changes.result(), until, gaps),
        merge_mentioned_by=mentions.result(),
        claimed_pull_requests=claimed,
    )
    unread, partial = gaps.settled()
    return Pair(
        id=pair_id(full_name, node["number"]),
        repository=full_name,
        pull_request=pull_request,
        issues=issues,
        as_of=until,
        unread=unread,
        partial=partial,
    )


async def _repository(client: Client, address: Address, gaps: Gaps) -> Json:
    """The repository with the pull request in it."""
    owner, _, name = address.repository.partition("/")
    data, errors = await client.query(documents.PULL_REQUEST, owner=owner, name=name, number=address.number)
    repository: Json = data["repository"]
    if repository["pullRequest"] is None and any(error.get("type") != "NOT_FOUND" for error in errors):
        raise GitHubError(
            f"{address}: GitHub failed to read it ({str(errors[0].get('message', ''))[:200]}). Try later."
        )
    if repository["pullRequest"] is None:
        raise NotFoundError(f"{address}: there is no such pull request, or the token may not see it.")
    gaps.note(errors, _PART_OF_PULL_REQUEST)
    return repository


def _moment(as_of: Moment, node: Json) -> datetime:
    if isinstance(as_of, datetime):
        return as_of
    merged = node["mergedAt"]
    return _time(merged) if as_of == "merge" and merged else datetime.now(UTC).replace(microsecond=0)


def _time(text: str) -> datetime:
    return datetime.fromisoformat(text)


async def _issues(
    client: Client, node: Json, repository: str, until: datetime, gaps: Gaps
) -> tuple[tuple[Issue, ...], tuple[int, ...]]:
    """The linked issues in order: GitHub's own links first, then what title, body and own commits claim.

    And the numbers among them that are pull requests of this repository.
    """
    wanted = linked(node, repository)
    read = await asyncio.gather(*(_issue(client, *one, repository, until, gaps) for one in wanted))
    # Two names may lead to one repository: one that was renamed.
    found = {(issue.repository, issue.number): issue for issue in read if isinstance(issue, Issue)}
    pull_requests = [
        number
        for (where, number), one in zip(wanted, read, strict=True)
        if one is _A_PULL_REQUEST and where == repository
    ]
    return tuple(found.values()), tuple(pull_requests)


async def _issue(
    client: Client, where: str, number: int, home: str, until: datetime, gaps: Gaps
) -> Issue | Literal["pull request"] | None:
    """One issue; None for a number that is nothing. Another repository's is read only if public."""
    owner, _, name = where.partition("/")
    try:
        data, errors = await client.query(documents.ISSUE, owner=owner, name=name, number=number)
    except NotFoundError:
        return None if where == home else _closed(where, number, gaps)
    except GitHubError:
        return _closed(where, number, gaps)
    repository = data["repository"]
    node = repository["issueOrPullRequest"]
    if repository["nameWithOwner"] != home and repository["isPrivate"]:
        return _closed(where, number, gaps)
    if node is None and any(error.get("type") != "NOT_FOUND" for error in errors):
        return _closed(where, number, gaps)
    if node is None:
        return None
    if node["__typename"] != "Issue":
        return _A_PULL_REQUEST
    gaps.note(errors, _PART_OF_ISSUE)
    await complete(client, node, "Issue", _PART_OF_ISSUE, gaps)
    return _as_issue(node, repository["nameWithOwner"], until, gaps)


def _closed(where: str, number: int, gaps: Gaps) -> Issue:
    gaps.partial |= set(_PART_OF_ISSUE.values())
    return Issue(number=number, repository=where, body="")


def _as_issue(node: Json, repository: str, until: datetime, gaps: Gaps) -> Issue:
    title, (body, is_first) = first_title(node), first_body(node)
    later, is_known = body_at(node, until)
    if not (is_first and is_known):
        gaps.partial.add(Artifact.ISSUE_DESCRIPTION)
    edited = f"{title_at(node, until)}\n{later}"
    known = maintainers(node)
    return Issue(
        number=node["number"],
        repository=repository,
        title=title,
        body=body,
        edited=edited if edited != f"{title}\n{body}" else None,
        author=_login(node),
        association=association(node, known),
        created_at=_time(node["createdAt"]),
        url=node["url"],
        labels=_labels(node),
        comments=_comments(node["comments"]["nodes"], known, until),
        mentioned_by=_mentions(node["timelineItems"]["nodes"], repository),
    )


def _login(node: Json) -> str:
    return str(node["author"]["login"]) if node.get("author") else _GHOST


def _labels(node: Json) -> tuple[str, ...]:
    return tuple(label["name"] for label in (node["labels"] or {"nodes": ()})["nodes"] if label)


def _comment(node: Json, known: Collection[str], **place: Any) -> Comment:
    author = node.get("author") or {}
    return Comment(
        body=node["body"],
        author=_login(node),
        association=association(node, known),
        is_bot=author.get("__typename") == "Bot",
        created_at=_time(node.get("createdAt") or node["submittedAt"]),
        url=node["url"],
        **place,
    )


def _comments(nodes: Iterable[Json], known: Collection[str], until: datetime) -> tuple[Comment, ...]:
    written = (_comment(node, known) for node in nodes if node.get("createdAt") or node.get("submittedAt"))
    return _in_time(written, until)


def _in_time(comments: Iterable[Comment], until: datetime) -> tuple[Comment, ...]:
    read = [comment for comment in comments if comment.created_at is not None and comment.created_at <= until]
    return tuple(sorted(read, key=lambda comment: comment.created_at or until))


def _mentions(events: Iterable[Json], home: str) -> tuple[Related, ...]:
    """What refers here, each once."""
    sources = [event["source"] for event in events if event.get("source")]
    return _related((source for source in sources if source.get("number") is not None), home)


def _related(nodes: Iterable[Json], home: str) -> tuple[Related, ...]:
    """Of other repositories only what is public: a title quoted elsewhere is a leak."""
    found = [
        Related(
            number=node["number"],
            title=node["title"],
            kind="pull_request" if node["__typename"] == "PullRequest" else "issue",
            repository=None if node["repository"]["nameWithOwner"] == home else node["repository"]["nameWithOwner"],
            state=documents.state_of(node),
            merged=bool(node.get("merged")),
            merged_at=_time(node["mergedAt"]) if node.get("mergedAt") else None,
            url=node["url"],
        )
        for node in nodes
        if node and (node["repository"]["nameWithOwner"] == home or not node["repository"]["isPrivate"])
    ]
    return tuple(dict.fromkeys(found))


async def _merge_mentions(client: Client, repository: str, node: Json, gaps: Gaps) -> tuple[Related, ...]:
    """Issues and pull requests that name the merge commit, by GitHub's search."""
    commit = node["mergeCommit"]
    if not commit:
        return ()
    words = f"repo:{repository} {commit['oid'][:12]}"
    try:
        data, errors = await client.query(documents.SEARCH, words=words)
    except GitHubError:
        gaps.unread.add(Artifact.MERGE_REFERENCES)
        return ()
    if errors or data["search"]["pageInfo"]["hasNextPage"]:
        gaps.partial.add(Artifact.MERGE_REFERENCES)
    return tuple(r for r in _related(data["search"]["nodes"], repository) if r.number != node["number"])


def _pull_request(node: Json, repository: str, changes: Changes, until: datetime, gaps: Gaps) -> PullRequest:
    code, test = patches.split(changes.diff)
    known = maintainers(node)
    body, is_known = body_at(node, until)
    if not is_known:
        gaps.partial.add(Artifact.PR_DESCRIPTION)
    if not head_is_listed(node):
        gaps.partial.add(Artifact.PR_COMMITS)
    threads = (
        _comment(comment, known, path=thread["path"], line=thread["line"] or thread["originalLine"])
        for thread in node["reviewThreads"]["nodes"]
        for comment in thread["comments"]["nodes"]
    )
    reviews = (
        _comment(review, known) for review in node["reviews"]["nodes"] if review["submittedAt"] and review["body"]
    )
    return PullRequest(
        number=node["number"],
        title=title_at(node, until),
        body=body,
        author=_login(node),
        created_at=_time(node["createdAt"]),
        merged_at=_time(node["mergedAt"]) if node["mergedAt"] else None,
        base_sha=node["baseRefOid"],
        head_sha=node["headRefOid"],
        url=node["url"],
        labels=_labels(node),
        comments=_comments(node["comments"]["nodes"], known, until),
        reviews=_in_time((*reviews, *threads), until),
        commits=tuple(_commit(commit) for commit in own_commits(node)),
        mentioned_by=_mentions(node["timelineItems"]["nodes"], repository),
        code_patch=code,
        test_patch=test,
        files=changes.files or tuple(_file(f) for f in node["files"]["nodes"]),
    )


def _commit(node: Json) -> Commit:
    author = node.get("author") or {}
    login = (author.get("user") or {}).get("login")
    return Commit(node["message"], node["oid"], login or author.get("name"), _time(node["committedDate"]))


def _file(node: Json) -> ChangedFile:
    status = {"DELETED": "removed"}.get(node["changeType"], node["changeType"].lower())
    return ChangedFile(node["path"], status, node["additions"], node["deletions"])
