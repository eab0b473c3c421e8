"""The pages of a node's lists after the first, which came with the node itself."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from checker.github import documents
from checker.github.client import Client, GitHubError
from checker.github.diff import is_refused
from checker.github.gaps import Gaps
from checker.taxonomy import Artifact

Json = dict[str, Any]

_MOST_PAGES = 100


async def complete(client: Client, node: Json, kind: str, parts: Mapping[str, Artifact], gaps: Gaps) -> None:
    """Reads the further pages of each connection of a node at once, in place. What is null in a page is left out.

    `kind`: of `documents.CONNECTIONS`; `parts`: which artifact each connection is noted as where it is not read whole.
    """

    async def read(connection: documents.Connection) -> None:
        part = parts[connection.field]
        held = node[connection.field] or {"nodes": [None], "pageInfo": {"hasNextPage": False}}
        try:
            # Where the diff is refused, REST lists the files with their patches: they are not read twice.
            if connection is not documents.FILES or not is_refused(node["changedFiles"]):
                await _further_pages(client, node["id"], kind, connection, held)
        except GitHubError:
            gaps.partial.add(part)
        if None in held["nodes"] and (node[connection.field] is None or connection is documents.CLOSING):
            gaps.partial.add(part)
        node[connection.field] = {"nodes": [one for one in held["nodes"] if one is not None]}

    await asyncio.gather(*map(read, documents.CONNECTIONS[kind]))
    threads = node.get("reviewThreads", {"nodes": ()})["nodes"]
    of_thread = {"comments": Artifact.PR_REVIEWS}
    await asyncio.gather(*(complete(client, one, "PullRequestReviewThread", of_thread, gaps) for one in threads))


async def _further_pages(client: Client, node_id: str, kind: str, connection: documents.Connection, held: Json) -> None:
    page = held["pageInfo"]
    for _ in range(_MOST_PAGES):
        if not page["hasNextPage"]:
            return
        data, errors = await client.query(documents.more(kind, connection), id=node_id, after=page["endCursor"])
        answered = (data["node"] or {}).get(connection.field)
        if answered is not None:
            held["nodes"] += answered["nodes"]
            page = answered["pageInfo"]
        if errors or answered is None:
            break
    raise GitHubError(f"{connection.field} was not read to its end.")
