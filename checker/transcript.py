"""Everything that one check read, asked, answered, called and cost.

A transcript holds the pair itself and every turn, so that a check can be scored again, or replayed offline
byte for byte (`checker.replay`). It never holds a credential: requests carry none.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

from pydantic import TypeAdapter

from checker.model import Request, Usage
from checker.pair import Pair, write_pair
from checker.report import Report, write_report
from checker.taxonomy import Role

SCHEMA = "paichecker.transcript/1"
_JSON: TypeAdapter[Any] = TypeAdapter(list[Any])


@dataclass
class Turn:
    """One request of a role and what came of it: a reply, or a failure, or neither (it was cut off).

    `booked`: the usage of every attempt, in order; the last is the reply's own. `stored`: the reply was at hand.
    """

    role: Role
    request: Request
    reply: dict[str, Any] | None = None
    failure: str | None = None
    stored: bool = False
    booked: list[Usage] = field(default_factory=list)


@dataclass
class Transcript:
    """Filled while a check runs; `write` may be called at any moment, also after a failure."""

    pair: Pair
    backend: str = ""
    settings: dict[str, Any] = field(default_factory=dict)
    turns: list[Turn] = field(default_factory=list)
    tool_calls: list[dict[str, Any]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    report: Report | None = None

    def note(self, sentence: str) -> None:
        """Records a step that asks nobody, such as a short cut taken."""
        self.notes.append(sentence)

    def as_json(self) -> dict[str, Any]:
        """The transcript as JSON-ready data."""
        return {
            "schema": SCHEMA,
            "backend": self.backend,
            "settings": self.settings,
            "pair": write_pair(self.pair),
            "notes": self.notes,
            "turns": [_turn(turn) for turn in self.turns],
            "tool_calls": _JSON.dump_python(self.tool_calls, mode="json"),
            "report": write_report(self.report) if self.report else None,
        }

    def write(self, directory: Path) -> Path:
        """Writes `<id>.json` (escaped for a file name), whole or not at all, readable by its owner only."""
        directory.mkdir(parents=True, exist_ok=True)
        path = directory / f"{file_name(self.pair.id)}.json"
        draft = path.with_suffix(".part")
        draft.touch(mode=0o600)
        draft.write_text(json.dumps(self.as_json(), ensure_ascii=False, indent=1), encoding="utf-8")
        return draft.replace(path)


def file_name(pair_id: str) -> str:
    """An id as a file's name; a long one ends in a hash, so that no two share a name."""
    escaped = quote(pair_id, safe="")
    return escaped if len(escaped) <= 150 else f"{escaped[:130]}-{hashlib.sha256(pair_id.encode()).hexdigest()[:16]}"


def _turn(turn: Turn) -> dict[str, Any]:
    return {
        "role": turn.role.value,
        "key": turn.request.key,
        "request": asdict(turn.request),
        "reply": turn.reply,
        "failure": turn.failure,
        "stored": turn.stored,
        "booked": [asdict(usage) for usage in turn.booked],
    }
