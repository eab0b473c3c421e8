"""Folders of audits to report on, written as `paichecker audit` writes them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from fakes import load_pair

from checker.audit import Outcome, row
from checker.pipeline import check
from checker.report import Report
from checker.rules import RulesBackend

EXAMPLES = ("accidental-link", "aligned", "incomplete-specification", "scope-creep-and-literal")
SETTINGS = {"source": "/home/ann/secret-project/pairs.jsonl", "version": "1.0", "method": "paichecker"}


@cache
def example(name: str) -> str:
    pair = load_pair(name)
    return json.dumps(row(Outcome(pair, asyncio.run(check(pair, RulesBackend())), 0.25)))


def examples() -> list[dict[str, Any]]:
    """The rows of an audit of the examples by rules."""
    return [json.loads(example(name)) for name in EXAMPLES]


def row_of(report: Report, **changes: Any) -> dict[str, Any]:
    """A row on a report made by hand; the pair is one of the examples."""
    pair = replace(load_pair("scope-creep-and-literal"), id=report.id)
    return {**row(Outcome(pair, report, 1.5)), **changes}


def write_audit(
    folder: Path, rows: Iterable[dict[str, Any]], failures: Iterable[dict[str, Any]] = (), **settings: Any
) -> Path:
    """An audit's folder with these results."""
    folder.mkdir(exist_ok=True)
    (folder / "audit.json").write_text(json.dumps({**SETTINGS, **settings}))
    for name, lines in (("results", rows), ("failures", failures)):
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return folder
