"""The GraphQL documents. Each connection is selected once, here, for its first page and for those that follow.

The names are those of GitHub's published schema (docs.github.com/graphql/reference); a test validates all of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

_AUTHOR = "author { __typename login }"
_ACTOR = "actor { __typename login }"
# An issue or a pull request has at most 100 (docs.github.com, "Managing labels").
_LABELS = "labels(first: 100) { nodes { name } }"
_PAGE = "pageInfo { hasNextPage endCursor }"
# `state` has another type in each, and one selection may not hold both under one name.
_SUBJECT = "number title url repository { nameWithOwner isPrivate }"
_PULL_REQUEST = f"prState: state merged mergedAt {_SUBJECT}"
_ISSUE = f"issueState: state {_SUBJECT}"

_SELECTIONS = {
    "comment": f"body url createdAt authorAssociation {_AUTHOR}",
    "review": f"body url submittedAt authorAssociation {_AUTHOR}",
    "thread_comment": f"body url createdAt authorAssociation {_AUTHOR}",
    "commit": "commit { oid message committedDate parents(first: 1) { nodes { oid } } author { name user { login } } }",
    "file": "path additions deletions changeType",
    "closing": "number repository { nameWithOwner isPrivate }",
    "edit": "editedAt diff",
    "event": (
        "__typename ... on RenamedTitleEvent { createdAt previousTitle }"
        f" ... on ClosedEvent {{ {_ACTOR} }} ... on LabeledEvent {{ {_ACTOR} }} ... on AssignedEvent {{ {_ACTOR} }}"
        " ... on CrossReferencedEvent { createdAt source {"
        f" __typename ... on PullRequest {{ {_PULL_REQUEST} }} ... on Issue {{ {_ISSUE} }} }} }}"
    ),
}


@dataclass(frozen=True)
class Connection:
    """A paginated field: its name, what is selected of each node, page size and further arguments."""

    field: str
    nodes: str
    first: int = 100
    arguments: str = ""

    def select(self, after: str = "") -> str:
        """The field with one page of nodes."""
        arguments = f"first: {self.first}{self.arguments}{after}"
        return f"{self.field}({arguments}) {{ nodes {{ {self.nodes} }} {_PAGE} }}"


_THREAD_COMMENTS = Connection("comments", _SELECTIONS["thread_comment"], 50)
_EVENTS = "CROSS_REFERENCED_EVENT, RENAMED_TITLE_EVENT, CLOSED_EVENT, LABELED_EVENT, ASSIGNED_EVENT"

EDITS = Connection("userContentEdits", _SELECTIONS["edit"])
FILES = Connection("files", _SELECTIONS["file"])
COMMENTS = Connection("comments", _SELECTIONS["comment"])
CLOSING = Connection("closingIssuesReferences", _SELECTIONS["closing"])
TIMELINE = Connection("timelineItems", _SELECTIONS["event"], arguments=f", itemTypes: [{_EVENTS}]")
PULL_REQUEST_TIMELINE = Connection(
    "timelineItems",
    f"{_SELECTIONS['event']} ... on MergedEvent {{ {_ACTOR} }}",
    arguments=f", itemTypes: [{_EVENTS}, MERGED_EVENT]",
)
PULL_REQUEST_CONNECTIONS = (
    EDITS,
    COMMENTS,
    Connection("reviews", _SELECTIONS["review"]),
    Connection("reviewThreads", f"id path line originalLine {_THREAD_COMMENTS.select()}", 50),
    Connection("commits", _SELECTIONS["commit"]),
    FILES,
    CLOSING,
    PULL_REQUEST_TIMELINE,
)
ISSUE_CONNECTIONS = (EDITS, COMMENTS, TIMELINE)
THREAD_CONNECTIONS = (_THREAD_COMMENTS,)
CONNECTIONS = {
    "PullRequest": PULL_REQUEST_CONNECTIONS,
    "Issue": ISSUE_CONNECTIONS,
    "PullRequestReviewThread": THREAD_CONNECTIONS,
}


def _all(connections: tuple[Connection, ...]) -> str:
    return " ".join(connection.select() for connection in connections)


PULL_REQUEST = f"""
query PullRequest($owner: String!, $name: String!, $number: Int!) {{
  repository(owner: $owner, name: $name) {{
    nameWithOwner isPrivate
    pullRequest(number: $number) {{
      id number title body url createdAt mergedAt state baseRefOid headRefOid changedFiles authorAssociation
      includesCreatedEdit {_AUTHOR} mergeCommit {{ oid }} {_LABELS} {_all(PULL_REQUEST_CONNECTIONS)}
    }}
  }}
}}"""

ISSUE = f"""
query Issue($owner: String!, $name: String!, $number: Int!) {{
  repository(owner: $owner, name: $name) {{
    nameWithOwner isPrivate
    issueOrPullRequest(number: $number) {{
      __typename
      ... on PullRequest {{ body {_PULL_REQUEST} changedFiles {FILES.select()} {PULL_REQUEST_TIMELINE.select()} }}
      ... on Issue {{
        id body createdAt authorAssociation includesCreatedEdit {_ISSUE}
        {_AUTHOR} {_LABELS} {_all(ISSUE_CONNECTIONS)}
      }}
    }}
  }}
}}"""

SEARCH = f"""
query Search($words: String!) {{
  search(type: ISSUE, query: $words, first: 50) {{
    nodes {{ __typename ... on PullRequest {{ {_PULL_REQUEST} }} ... on Issue {{ {_ISSUE} }} }} {_PAGE}
  }}
}}"""


PULL_REQUESTS = f"""
query PullRequests($words: String!, $after: String) {{
  search(type: ISSUE, query: $words, first: 100, after: $after) {{
    issueCount nodes {{ ... on PullRequest {{ number }} }} {_PAGE}
  }}
}}"""


def more(type_name: str, connection: Connection) -> str:
    """The document for the pages of a connection after the first: variables `id` and `after`."""
    page = connection.select(", after: $after")
    return f"query More($id: ID!, $after: String!) {{ node(id: $id) {{ ... on {type_name} {{ {page} }} }} }}"


def state_of(node: Mapping[str, Any]) -> str:
    """The state of an issue or a pull request as these documents select it: `open`, `closed`, `merged`."""
    return str(node.get("prState") or node.get("issueState")).lower()
