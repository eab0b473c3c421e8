"""What lies between two commits, as git writes it. A file that moved is one removed and one added."""

from __future__ import annotations

import difflib
import hashlib
import re
from dataclasses import dataclass

from bot.demo.objects import Files

_LINE = re.compile(r"[^\n]*\n|[^\n]+")


@dataclass(frozen=True)
class Change:
    """A changed file; `patch` holds its hunks, `sha` its blob after the change (before it, where it is removed)."""

    path: str
    change_type: str
    patch: str
    sha: str
    header: str

    @property
    def additions(self) -> int:
        """Added lines."""
        return sum(line.startswith("+") for line in self.patch.split("\n"))

    @property
    def deletions(self) -> int:
        """Removed lines."""
        return sum(line.startswith("-") for line in self.patch.split("\n"))


def changes(before: Files, after: Files) -> list[Change]:
    """The changed files by path."""
    paths = sorted({*before, *after})
    return [_change(path, before.get(path), after.get(path)) for path in paths if before.get(path) != after.get(path)]


def diff(changed: list[Change]) -> str:
    """All of it as one text."""
    return "".join(f"{one.header}{one.patch}" for one in changed)


def blob_sha(text: str) -> str:
    """As git names a file's content."""
    data = text.encode()
    return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


def _change(path: str, old: str | None, new: str | None) -> Change:
    before, after = ("0" * 7 if text is None else blob_sha(text)[:7] for text in (old, new))
    kind = "ADDED" if old is None else "DELETED" if new is None else "MODIFIED"
    mode = {"ADDED": "new file mode 100644\n", "DELETED": "deleted file mode 100644\n"}.get(kind, "")
    header = f"diff --git a/{path} b/{path}\n{mode}index {before}..{after}{'' if mode else ' 100644'}\n"
    patch = _hunks(old or "", new or "")
    if patch:
        header += (
            f"--- {'/dev/null' if old is None else f'a/{path}'}\n+++ {'/dev/null' if new is None else f'b/{path}'}\n"
        )
    return Change(path, kind, patch, blob_sha(old or "" if new is None else new), header)


def _hunks(old: str, new: str) -> str:
    lines = list(difflib.unified_diff(_LINE.findall(old), _LINE.findall(new)))[2:]
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)
