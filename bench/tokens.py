"""What a check costs in tokens and calls, with and without short cuts, without asking a model.

python bench/tokens.py FILE... [--id ID] [--sum]

Every role is given its real request; a stand-in answers in the role's schema with two labels found, so that all
three phases run (the dearest course), or, with --quiet, with nothing found. Tokens are estimated as characters / 4
of the request's JSON and of an answer of ordinary length.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections.abc import Iterator
from typing import Any

from checker import prompting
from checker.agents import ModelBackend
from checker.datasets.files import read_files
from checker.model import Meter, Reply, Request, Usage
from checker.pair import Pair
from checker.pipeline import check
from checker.taxonomy import Artifact, Label, Role

_WHY = "The words quoted show it, since nothing else in the texts given speaks to the contrary at all."


class StandIn:
    """Answers every role, with as many labels as it can prove, or with none."""

    def __init__(self, pair: Pair, *, quiet: bool) -> None:
        self._pair = pair
        self._quiet = quiet

    async def ask(self, request: Request, meter: Meter) -> Reply:
        """See `checker.model.Model`."""
        role = next(role for role in Role if prompting.load(role).system == request.system)
        answer = json.dumps(self._answer(role, request))
        usage = Usage(request.estimated_tokens, len(answer) // 4)
        meter.book(request.model, usage)
        return Reply(({"type": "text", "text": answer},), "end_turn", usage, request.model)

    def _answer(self, role: Role, request: Request) -> dict[str, Any]:
        if role in (Role.COORDINATOR, Role.CODE_VALIDATOR):
            where = {"lines": []} if role is Role.CODE_VALIDATOR else {}
            decisions = [{"label": label.value, "why": _WHY, "keep": True, **where} for label in Label]
            return {"decisions": decisions} | ({"others": None} if role is Role.COORDINATOR else {})
        shown = request.messages[0]["content"][0]["text"]
        ids = [line.split()[0].rstrip(":") for line in shown.splitlines() if line.startswith("S") and "stand)" in line]
        names = [name for name in request.schema["properties"] if name not in ("signals", "clues")]
        patterns = {name: self._pattern(name) for name in names}
        return {"signals": [{"id": i, "counts": True, "why": _WHY[:60]} for i in ids], "clues": [], **patterns}

    def _pattern(self, name: str) -> dict[str, Any]:
        artifact, scenario = {
            "incomplete_specification": (Artifact.ISSUE_DISCUSSION, "IS-1"),
            "scope_creep": (Artifact.PR_DESCRIPTION, "SC-2"),
        }.get(name, (None, None))
        text = next((t for t in self._pair.texts.values() if t.artifact is artifact and len(t.body) > 20), None)
        holds = text is not None and not self._quiet
        quotes = [{"source": text.name, "text": text.body.strip()[:150]}] if text and holds else []
        repair = _WHY if holds else ""
        scenario = scenario if holds else None
        return {
            "why": _WHY,
            "holds": holds,
            "confidence": "high",
            "quotes": quotes,
            "repair": repair,
            "scenario": scenario,
        }


def cost(pair: Pair, *, quiet: bool, shortcuts: bool) -> tuple[int, int, int]:
    """Calls, tokens in, tokens out of one check."""
    backend = ModelBackend(StandIn(pair, quiet=quiet))
    usage = asyncio.run(check(pair, backend, shortcuts=shortcuts)).usage
    return sum(u.calls for u in usage), sum(u.input_tokens for u in usage), sum(u.output_tokens for u in usage)


def pairs(paths: list[str], ids: list[str]) -> Iterator[Pair]:
    """The pairs of the files; what cannot be read ends the run."""
    for found in read_files(paths, frozenset(ids)):
        if not isinstance(found, Pair):
            sys.exit(str(found))
        yield found


def main() -> None:
    """Prints a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+")
    parser.add_argument("--id", action="append", default=[])
    parser.add_argument("--sum", action="store_true", help="only mean and median over all pairs")
    options = parser.parse_args()
    rows: dict[str, list[int]] = {}
    for pair in pairs(options.files, options.id):
        for quiet in (False, True):
            for shortcuts in (True, False):
                calls, tokens_in, tokens_out = cost(pair, quiet=quiet, shortcuts=shortcuts)
                found, asked = ("nothing found", "labels found ")[not quiet], ("all asked ", "short cuts")[shortcuts]
                course = f"{found} {asked}"
                rows.setdefault(course, []).append(tokens_in + tokens_out)
                if not options.sum:
                    line = f"{pair.id:<40} {course}  {calls} calls {tokens_in:>7,} in {tokens_out:>6,} out"
                    print(line, f"{tokens_in + tokens_out:>7,} together")
    for course, totals in rows.items():
        totals.sort()
        mean, median = sum(totals) // len(totals), totals[len(totals) // 2]
        print(f"{course}: mean {mean:,}, median {median:,} of {len(totals)} pairs")


if __name__ == "__main__":
    main()
