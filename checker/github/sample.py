"""A sample of a repository's pull requests that are linked to an issue, as in the paper's live study."""

from __future__ import annotations

import random
from datetime import date
from typing import Literal

from checker.github import documents
from checker.github.client import Client, GitHubError

State = Literal["open", "merged"]

# GitHub's search gives no more than this many results (docs.github.com, "About search").
MOST_RESULTS = 1_000


async def linked_pull_requests(client: Client, repository: str, state: State, since: date | None) -> list[int]:
    """The numbers of pull requests with a linked issue, ascending; `since`: created (open) or merged from this day on.

    Raises GitHubError, also where there are more than search can list: then a later `since` is wanted.
    """
    words = f"repo:{repository} is:pr is:{state} linked:issue"
    if since is not None:
        words += f" {'merged' if state == 'merged' else 'created'}:>={since.isoformat()}"
    numbers: list[int] = []
    after: str | None = None
    while True:
        data, errors = await client.query(documents.PULL_REQUESTS, words=words, after=after)
        if errors:
            raise GitHubError(f"GitHub's search failed: {errors[0].get('message', 'no reason given')}.")
        found = data["search"]
        if found["issueCount"] > MOST_RESULTS:
            raise GitHubError(
                f"{repository} has {found['issueCount']:,} such pull requests; GitHub lists {MOST_RESULTS:,} at most: "
                "name a later --since."
            )
        numbers += [node["number"] for node in found["nodes"] if node]
        if not found["pageInfo"]["hasNextPage"]:
            return sorted(set(numbers))
        after = found["pageInfo"]["endCursor"]


def draw(numbers: list[int], size: int | None, seed: int) -> list[int]:
    """`size` of the numbers, ascending, the same for the same seed; all of them where there are no more."""
    if size is None or size >= len(numbers):
        return numbers
    return sorted(random.Random(seed).sample(numbers, size))  # noqa: S311
