"""What a pull request changes: the diff, whole or file by file where GitHub does not give it whole."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from checker import patches
from checker.github.client import Client, GitHubError
from checker.github.gaps import Gaps
from checker.pair import ChangedFile
from checker.patches import Side
from checker.taxonomy import Artifact

_DIFF = "application/vnd.github.diff"
_FILE = re.compile(r"^diff --git ", re.MULTILINE)
_BOTH = frozenset({Artifact.CODE_PATCH, Artifact.TEST_PATCH})
_MOST_FILES_OF_DIFF = 300


@dataclass(frozen=True)
class Changes:
    """The diff as text; `files` only where they were read one by one, else empty."""

    diff: str
    files: tuple[ChangedFile, ...] = ()


def is_refused(changed_files: int) -> bool:
    """Whether GitHub refuses a diff of so many files (docs.github.com/rest/pulls, "Get a pull request")."""
    return changed_files > _MOST_FILES_OF_DIFF


async def read_changes(client: Client, repository: str, number: int, changed_files: int, gaps: Gaps) -> Changes:
    """What is changed. What GitHub leaves out of it is noted as partial; unread if nothing of it comes."""
    path = f"/repos/{repository}/pulls/{number}"
    diff = None if is_refused(changed_files) else await _diff(client, path)
    if diff is None:
        return await _by_file(client, f"{path}/files?per_page=100", changed_files, gaps)
    if len(_FILE.findall(diff)) < changed_files:
        gaps.partial |= _BOTH
    return Changes(diff)


async def _diff(client: Client, path: str) -> str | None:
    try:
        return await client.text(path, _DIFF)
    except GitHubError:  # The whole diff takes GitHub longest to make; its files may come all the same.
        return None


async def _by_file(client: Client, path: str, changed_files: int, gaps: Gaps) -> Changes:
    """At most 3,000 files (docs.github.com/rest/pulls); a large file without a patch is one that was not read."""
    try:
        files = await client.pages(path)
    except GitHubError:
        gaps.unread |= _BOTH
        return Changes("")
    if len(files) < changed_files:
        gaps.partial |= _BOTH
    gaps.partial |= {_artifact_of(file["filename"]) for file in files if _is_missing(file)}
    diff = "".join(_part(file) for file in files if not _is_missing(file))
    return Changes(diff, tuple(map(_changed, files)))


def _changed(file: dict[str, Any]) -> ChangedFile:
    counts = (file.get("additions", 0), file.get("deletions", 0))
    return ChangedFile(file["filename"], file["status"], *counts, previous_path=file.get("previous_filename"))


def _is_missing(file: dict[str, Any]) -> bool:
    return file.get("patch") is None and bool(file.get("changes", 0))


def _part(file: dict[str, Any]) -> str:
    return patches.as_diff(file["filename"], file.get("previous_filename"), file["status"], file.get("patch"))


def _artifact_of(path: str) -> Artifact:
    return Artifact.TEST_PATCH if patches.side_of(path) is Side.TEST else Artifact.CODE_PATCH
