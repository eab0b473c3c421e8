"""Which issues a pull request is linked to, and which of its commits are its own."""

from __future__ import annotations

from typing import Any

from checker.links import Relation, references

Json = dict[str, Any]

_CLOSES = (Relation.CLOSES, Relation.LISTED)


def linked(node: Json, home: str) -> list[tuple[str, int]]:
    """Repository and number of each linked issue, once: GitHub's links, then what title, body and own commits claim.

    What is claimed may turn out to be a pull request or nothing. Names of repositories do not differ by case.
    """
    given = [(n["repository"]["nameWithOwner"], n["number"]) for n in node["closingIssuesReferences"]["nodes"]]
    texts = [(node["title"], True, True), (node["body"], False, True)]
    texts += [(commit["message"], False, False) for commit in own_commits(node)]
    claimed = [
        (reference.repository or home, reference.number)
        for text, is_title, is_markdown in texts
        for reference in references(text, title=is_title, markdown=is_markdown)
        if reference.relation in _CLOSES and not reference.negated
    ]
    wanted: dict[tuple[str, int], tuple[str, int]] = {}
    for where, number in given + claimed:
        wanted.setdefault((where.lower(), number), (home if where.lower() == home.lower() else where, number))
    return [one for one in wanted.values() if one != (home, node["number"])]


def own_commits(node: Json) -> list[Json]:
    """Without what merges brought in: the commits that the head leads back to by first parents, oldest first."""
    commits = {n["commit"]["oid"]: n["commit"] for n in node["commits"]["nodes"]}
    own: list[Json] = []
    at: str | None = node["headRefOid"] if head_is_listed(node) else next(reversed(commits))
    while at in commits:
        commit = commits.pop(at)
        own.append(commit)
        at = next((parent["oid"] for parent in commit["parents"]["nodes"]), None)
    return own[::-1]


def head_is_listed(node: Json) -> bool:
    """Whether the head is among the commits, or there are none; else their list was cut short."""
    oids = {n["commit"]["oid"] for n in node["commits"]["nodes"]}
    return not oids or node["headRefOid"] in oids
