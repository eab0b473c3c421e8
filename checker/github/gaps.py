"""What could not be read of a pull request, gathered while reading; it becomes a pair's `unread` and `partial`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from checker.taxonomy import Artifact

# What the token may not see is left out by GitHub itself, of a page as of an answer: that is no failure to read.
_INVISIBLE = frozenset({"NOT_FOUND", "FORBIDDEN"})


@dataclass
class Gaps:
    """What was not read, filled while reading."""

    unread: set[Artifact] = field(default_factory=set)
    partial: set[Artifact] = field(default_factory=set)

    def note(self, errors: Iterable[Mapping[str, Any]], parts: Mapping[str, Artifact]) -> None:
        """Errors beside data: the parts that their paths lead through; all parts where a path names none."""
        for error in errors:
            if error.get("type") not in _INVISIBLE:
                named = {parts[step] for step in error.get("path") or () if step in parts}
                self.partial |= named or set(parts.values())

    def settled(self) -> tuple[tuple[Artifact, ...], tuple[Artifact, ...]]:
        """Unread and partial, in the order of Artifact."""
        partial = self.partial - self.unread
        return tuple(a for a in Artifact if a in self.unread), tuple(a for a in Artifact if a in partial)
