"""The whole pipeline, replayed on the gold set with the replies that readers gave to the prompts as they are.

A changed prompt, view or schema makes a new request, to which no reply is kept: the test then names the pairs whose
replies are stale. To renew them, ask again and export (docs/quality.md, "Renewing the replies").
"""

from __future__ import annotations

import asyncio
import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from checker.agents import ModelBackend
from checker.evidence import Evidence, Quote, prove
from checker.model import Meter, ModelFailure, Reply, Request
from checker.pair import Pair, read_pair
from checker.pipeline import check
from checker.replies import read_reply
from checker.report import Report
from checker.taxonomy import LABELS, Label, Scenario

GOLD = Path(__file__).parent / "gold"
SLUGS = sorted(path.stem for path in (GOLD / "pairs").glob("*.json"))
STALE = "no reply is kept for this request"


class KeptReplies:
    """A reply store over `replies.jsonl`; it takes nothing new."""

    def __init__(self) -> None:
        lines = (GOLD / "replies.jsonl").read_text(encoding="utf-8").splitlines()
        rows = [json.loads(line) for line in lines]
        self._replies = {(row["pair"], row["request"], row["sample"]): row["reply"] for row in rows}

    def get(self, pair: str, request: Request, sample: int) -> Reply | None:
        row = self._replies.get((pair, request.key, sample))
        return read_reply(row) if row is not None else None

    def put(self, pair: str, request: Request, sample: int, reply: Reply) -> None:
        raise AssertionError("nothing was asked, so nothing is to be kept")


class NoModel:
    """Stands where a model would; whoever asks it has no reply at hand."""

    async def ask(self, request: Request, meter: Meter) -> Reply:
        raise ModelFailure(STALE)


def load(slug: str) -> tuple[Pair, dict[str, Any]]:
    pair = read_pair(json.loads((GOLD / "pairs" / f"{slug}.json").read_text(encoding="utf-8")))
    return pair, json.loads((GOLD / "expected" / f"{slug}.json").read_text(encoding="utf-8"))


@cache
def reports() -> dict[str, Report]:
    async def all_of_them() -> list[Report]:
        backend = ModelBackend(NoModel(), store=KeptReplies())
        return [await check(load(slug)[0], backend) for slug in SLUGS]

    return dict(zip(SLUGS, asyncio.run(all_of_them()), strict=True))


def share(right: list[bool]) -> float:
    return sum(right) / len(right)


def test_no_reply_is_stale() -> None:
    stale = [slug for slug, report in reports().items() if any(STALE in doubt for doubt in report.undetermined)]
    assert not stale, f"prompts, views or schemas changed; ask again about {', '.join(stale)} (docs/quality.md)"


def test_the_labels_match_the_gold_exactly_in_at_least_85_per_cent_and_in_kind_in_95() -> None:
    said = {slug: {label.value for label in report.labels} for slug, report in reports().items()}
    true = {slug: set(load(slug)[1]["labels"]) for slug in SLUGS}
    assert share([said[slug] == true[slug] for slug in SLUGS]) >= 0.85
    assert share([bool(said[slug]) == bool(true[slug]) for slug in SLUGS]) >= 0.95


@pytest.mark.parametrize("slug", SLUGS)
def test_no_label_stands_without_a_proved_quote_from_a_side_that_can_show_it(slug: str) -> None:
    pair, _ = load(slug)
    for finding in reports()[slug].findings:
        assert any(evidence.artifact in LABELS[finding.label].grounds for evidence in finding.evidence)
        for evidence in finding.evidence:
            assert isinstance(prove(Quote(evidence.source, evidence.quote), pair.texts), Evidence)


@pytest.mark.parametrize("slug", SLUGS)
def test_the_expected_quotes_of_the_gold_stand_in_the_pair(slug: str) -> None:
    pair, expected = load(slug)
    assert pair.id == expected["id"]
    assert {Scenario(s).label.value for s in expected["scenarios"]} == set(expected["labels"]) - {"Others"}
    for quote in expected["quotes"]:
        assert isinstance(prove(Quote(quote["source"], quote["text"]), pair.texts), Evidence), quote


def test_the_gold_set_holds_every_scenario_twice_and_enough_of_the_rest() -> None:
    expected = [load(slug)[1] for slug in SLUGS]
    assert all(sum(scenario in one["scenarios"] for one in expected) >= 2 for scenario in Scenario)
    assert sum(Label.OTHERS in one["labels"] for one in expected) >= 4
    assert sum(not one["labels"] for one in expected) >= 10
    assert sum(len(one["labels"]) >= 2 for one in expected) >= 4
    assert len(expected) >= 40
