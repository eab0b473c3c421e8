"""What GitHub answers about one small repository: pull request 3 for issue 2, and pull request 4 for no issue."""

from __future__ import annotations

from typing import Any

from github_server import Answer, Received, diff, graphql, refusal

Json = dict[str, Any]

REPOSITORY = "harbour/tidetable"
LINKED, UNLINKED = f"{REPOSITORY}#3", f"{REPOSITORY}#4"
LINKED_ID, UNLINKED_ID = "harbour__tidetable-3", "harbour__tidetable-4"
MERGED_AT = "2024-03-05T12:00:00Z"
LATE_COMMENT, EARLY_COMMENT = "Released with 1.3, thank you – très bien.", "The rounding is right now."
_HEAD = "b" * 40
_DIFF = """\
diff --git a/tides.py b/tides.py
--- a/tides.py
+++ b/tides.py
@@ -1,2 +1,2 @@
 def height(metres):
-    return int(metres * 10) / 10
+    return round(metres, 1)
"""


def answer(received: Received) -> Answer:
    """By the query's name, or the pull request's diff; what is not known is not found."""
    if received.query.startswith("\nquery PullRequest("):
        number = received.variables["number"]
        return _repository("pullRequest", _pull_request(number) if number in (3, 4) else None)
    if received.query.startswith("\nquery Issue("):
        return _repository("issueOrPullRequest", _issue() if received.variables["number"] == 2 else None)
    if received.query.startswith("\nquery PullRequests("):
        return graphql({"search": {"issueCount": 2, **_page({"number": 4}, {"number": 3})}})
    if received.query.startswith("\nquery Search("):
        return graphql({"search": _page()})
    if received.path in (f"/repos/{REPOSITORY}/pulls/{number}" for number in (3, 4)):
        return diff(_DIFF)
    return refusal(404, "Not Found")


def _repository(field: str, node: Json | None) -> Answer:
    data = {"repository": {"nameWithOwner": REPOSITORY, "isPrivate": False, field: node}}
    missing = {"type": "NOT_FOUND", "message": "Could not resolve to a node with the given number."}
    return graphql(data) if node else graphql(data, missing)


def _page(*nodes: Json) -> Json:
    return {"nodes": list(nodes), "pageInfo": {"hasNextPage": False, "endCursor": None}}


def _written(body: str, when: str, login: str = "mira") -> Json:
    author = {"__typename": "User", "login": login}
    address = f"https://github.com/{REPOSITORY}/issues/2#{when}"
    return {"body": body, "createdAt": when, "author": author, "authorAssociation": "MEMBER", "url": address}


def _thread(number: int, title: str, body: str) -> Json:
    empty = {name: _page() for name in ("userContentEdits", "comments", "timelineItems")}
    about = {"id": f"N{number}", "number": number, "title": title, "includesCreatedEdit": False, "labels": _page()}
    return {**_written(body, "2024-03-01T12:00:00Z"), **about, **empty}


def _issue() -> Json:
    subject = {"repository": {"nameWithOwner": REPOSITORY, "isPrivate": False}, "issueState": "CLOSED"}
    body = "`height` cuts the second decimal off. It should round to one decimal."
    return {"__typename": "Issue", **_thread(2, "Heights are cut, not rounded", body), **subject}


def _pull_request(number: int) -> Json:
    closing = {"number": 2, "repository": {"nameWithOwner": REPOSITORY, "isPrivate": False}}
    commit = {
        "oid": _HEAD,
        "message": "Round heights",
        "committedDate": "2024-03-02T12:00:00Z",
        "parents": {"nodes": [{"oid": "a" * 40}]},
        "author": {"name": "Mira", "user": {"login": "mira"}},
    }
    return {
        **_thread(number, "Round heights to one decimal", "Fixes #2." if number == 3 else "Heights are rounded now."),
        "state": "MERGED",
        "mergedAt": MERGED_AT,
        "mergeCommit": {"oid": "c" * 40},
        "baseRefOid": "a" * 40,
        "headRefOid": _HEAD,
        "changedFiles": 1,
        "comments": _page(
            _written(EARLY_COMMENT, "2024-03-04T12:00:00Z"), _written(LATE_COMMENT, "2024-04-01T12:00:00Z")
        ),
        "reviews": _page(),
        "reviewThreads": _page(),
        "commits": _page({"commit": commit}),
        "files": _page({"path": "tides.py", "additions": 1, "deletions": 1, "changeType": "MODIFIED"}),
        "closingIssuesReferences": _page(closing) if number == 3 else _page(),
    }
