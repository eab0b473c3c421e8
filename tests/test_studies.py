"""The studies of a data set, against figures worked out by hand."""

from __future__ import annotations

import json
import math
import os
import random
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from fakes import HERE

from checker.evaluation.experiments import Submission
from checker.evaluation.filter_lists import FilterList
from checker.evaluation.judged import Judged, read_judged
from checker.evaluation.labels import EvaluationInputError
from checker.evaluation.overlap import overlap
from checker.evaluation.solved import bin_edges, solved
from checker.evaluation.studies import counts, share
from checker.evaluation.study_render import solved_text
from checker.evaluation.trail import NO_LABEL

LABELS: Mapping[str, frozenset[str]] = {
    "o__r-1": frozenset({"SC"}),
    "o__r-2": NO_LABEL,
    "o__r-3": frozenset({"DP", "UL"}),
    "o__r-4": NO_LABEL,
    "o__s-5": frozenset({"UL", "DP"}),
    "o__s-6": NO_LABEL,
    "lite-7": frozenset({"FP"}),
}
PEOPLE = Judged("people (l.csv)", LABELS, datasets={i: "lite" if i == "lite-7" else "gym" for i in LABELS})
AGENTS = [
    Submission("alpha", frozenset({"o__r-2", "o__r-4", "o__s-6", "o__r-1"})),
    Submission("beta", frozenset({"o__r-1", "o__r-3", "o__s-5", "o__r-2", "o__r-4"})),
    Submission("gamma", frozenset({"o__r-2", "o__r-4", "x__y-9"}), frozenset({"o__r-2", "o__r-4", "x__y-9"})),
    Submission("delta", frozenset()),
]


def report(identity: str, verdict: str, **more: Any) -> dict[str, Any]:
    return {"id": identity, "verdict": verdict, "labels": [], "backend": "a-model", **more}


def audit(folder: Path, *rows: Mapping[str, Any]) -> Path:
    folder.mkdir()
    (folder / "results.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return folder


def test_a_share_has_the_interval_of_wilson() -> None:
    one, z, p = share(68, 500), 1.959964, 68 / 500
    middle = (p + z * z / 1000) / (1 + z * z / 500)
    reach = z / (1 + z * z / 500) * math.sqrt(p * (1 - p) / 500 + z * z / (4 * 500 * 500))
    assert one.fraction == p
    assert (one.low, one.high) == (pytest.approx(middle - reach), pytest.approx(middle + reach))
    assert (share(0, 0).of, share(0, 0).fraction, share(0, 0).low) == (0, None, None)


def test_pairs_and_labels_are_counted_per_data_set_and_repository() -> None:
    found = counts(PEOPLE)
    assert (found.all.misaligned.count, found.all.misaligned.of, found.all.without_label) == (4, 7, 3)
    assert [(g.name, g.misaligned.count, g.misaligned.of) for g in found.datasets] == [("gym", 3, 6), ("lite", 1, 1)]
    assert [(g.name, g.misaligned.of) for g in found.repositories] == [("o/r", 4), ("o/s", 2), ("", 1)]
    assert found.datasets[0].labels == {"SC": 1, "DP": 2, "IS": 0, "UL": 2, "FP": 0, "Others": 0}
    assert (found.labels["DP"].count, found.labels["DP"].of) == (2, 7)


def test_label_sets_are_counted_whatever_their_order() -> None:
    assert [(labels, one.count) for labels, one in counts(PEOPLE).combinations] == [("DP|UL", 2), ("FP", 1), ("SC", 1)]


def test_an_audit_is_read_with_its_judge_and_what_was_not_decided_is_in_no_rate(tmp_path: Path) -> None:
    folder = audit(
        tmp_path / "mine",
        report("a", "misaligned", labels=["SC"], repository="o/r", findings=[{"scenario": "SC-2"}, {"scenario": None}]),
        report("b", "aligned", repository="o/r"),
        report("c", "undetermined", repository="o/r"),
        report("d", "nothing_found", backend="rules"),
        {"id": "e", "failure": "the server was gone", "backend": "a-model"},
    )
    judged = read_judged(folder)
    assert judged.judge == "a-model, rules (audit mine; in 1 pair rules found nothing, which is not alignment)"
    assert (judged.labels.keys(), judged.undetermined, judged.failed) == ({"a", "b", "d"}, {"c"}, {"e"})
    found = counts(judged)
    assert (found.all.misaligned.count, found.all.misaligned.of) == (1, 3)
    assert (found.all.undetermined, found.all.failed, found.datasets) == (1, 1, ())
    assert found.all.scenarios is not None
    assert {name: n for name, n in found.all.scenarios.items() if n} == {"SC-2": 1}
    assert (found.repositories[0].name, found.repositories[0].undetermined) == ("o/r", 1)


def test_of_a_pair_that_was_tried_again_the_last_answer_counts(tmp_path: Path) -> None:
    rows = (report("a", "undetermined"), report("a", "misaligned", labels=["DP"], findings=[{"scenario": "DP-1"}]))
    judged = read_judged(audit(tmp_path / "again", *rows))
    assert (judged.labels, judged.undetermined) == ({"a": {"DP"}}, frozenset())
    assert judged.scenarios == {"a": {"DP-1"}}


def test_a_last_line_that_a_stop_cut_short_is_no_result(tmp_path: Path) -> None:
    folder = audit(tmp_path / "torn", report("a", "aligned"))
    with (folder / "results.jsonl").open("a", encoding="utf-8") as file:
        file.write('{"id": "b", "verd')
    assert read_judged(folder).ids == {"a"}


def test_misalignment_by_the_number_of_agents_that_solve_a_pair() -> None:
    found = solved(PEOPLE, AGENTS)
    assert (found.pairs, found.misaligned.count, found.misaligned.of) == (6, 3, 6)  # the other data set is not touched
    bins = [(one.least, one.most, one.misaligned.count, one.misaligned.of) for one in found.bins]
    assert bins == [(0, 0, 0, 0), (1, 1, 2, 3), (2, 2, 1, 1), (3, 3, 0, 2), (4, 4, 0, 0)]
    assert found.contrast is not None
    assert (found.contrast.median_misaligned, found.contrast.median_without_label) == (1, 3)
    assert found.contrast.fewer == pytest.approx(7 / 9)  # of nine couples six clear, two ties
    assert found.contrast.p is not None
    assert 0.05 < found.contrast.p < 1
    assert found.unknown == ("x__y-9",)


def test_every_number_of_agents_is_in_one_bin() -> None:
    for agents in (1, 10, 11, 12, 134, 180):
        bins = bin_edges(agents)
        assert [n for least, most in bins for n in range(least, most + 1)] == list(range(agents + 1)), agents
    assert bin_edges(134) == [(0, 0), (1, 26), (27, 53), (54, 80), (81, 107), (108, 134)]


def test_the_leaderboard_with_and_without_misaligned_pairs() -> None:
    found = solved(PEOPLE, AGENTS)
    rows = [
        (one.name, one.all.count, one.without_label.count, one.misaligned.count, one.rank, one.rank_without, one.climbs)
        for one in found.standings
    ]
    assert rows == [
        ("beta", 5, 2, 3, 1, 2, -1),
        ("alpha", 4, 3, 1, 2, 1, 1),
        ("gamma", 2, 2, 0, 3, 2, 1),
        ("delta", 0, 0, 0, 4, 4, 0),
    ]
    assert {(one.all.of, one.without_label.of, one.misaligned.of) for one in found.standings} == {(6, 3, 3)}
    assert found.tau == pytest.approx(3 / math.sqrt(6 * 5))  # four couples alike, one reversed, one tied after
    gamma = found.standings[2]
    assert (gamma.unknown, gamma.unrecorded) == (1, 4)


def test_ranks_are_compared_with_those_after_leaving_out_as_many_pairs_at_random() -> None:
    dice = random.Random(3)
    names = [f"p{n}" for n in range(200)]
    bad = frozenset(names[:60])
    # Whoever solves more of the good pairs solves fewer of the misaligned ones: without these the order is another.
    agents = [
        Submission(f"a{k}", frozenset(n for n in names if dice.random() < (0.9 - k / 20 if n in bad else 0.3 + k / 40)))
        for k in range(12)
    ]
    found = solved(Judged("m", {n: frozenset({"SC"}) if n in bad else NO_LABEL for n in names}), agents)
    assert found.chance is not None
    assert found.tau is not None
    assert (found.chance.left_out, found.chance.rounds) == (60, 1000)
    assert found.tau < found.chance.tau.low < found.chance.tau.mean < found.chance.tau.high <= 1
    assert found.chance.as_low < 0.01
    any_pairs = Judged("m", {n: frozenset({"SC"}) if k % 10 < 3 else NO_LABEL for k, n in enumerate(names)})
    usual = solved(any_pairs, agents)
    assert usual.chance is not None
    assert usual.tau is not None
    assert usual.chance.tau == found.chance.tau
    assert usual.chance.tau.low <= usual.tau <= usual.chance.tau.high
    assert usual.chance.as_low > 0.05


def test_where_no_pair_is_without_a_label_there_is_no_second_leaderboard() -> None:
    judged = Judged("m", {"a": frozenset({"SC"})}, frozenset({"b"}))
    found = solved(judged, [Submission("one", frozenset("ab")), Submission("two", frozenset("a"))])
    assert [(one.rank, one.rank_without, one.climbs) for one in found.standings] == [(1, None, None), (2, None, None)]
    said = " ".join(solved_text(found).split())
    assert "none is without a label, so there is no leaderboard without the others" in said
    assert "None was found to have no label, so the share of the decided says nothing. Apart from these 1" in said
    assert "change their rank" not in said


def test_where_nothing_is_left_out_there_is_no_comparison() -> None:
    judged = Judged("m", {"a": NO_LABEL, "b": NO_LABEL})
    assert solved(judged, [Submission("one", frozenset("a")), Submission("two", frozenset("ab"))]).chance is None


def test_without_a_second_rate_there_is_no_tau_and_without_variation_no_p() -> None:
    found = solved(PEOPLE, [Submission("all", frozenset(LABELS))])
    assert found.tau is None
    assert found.contrast is not None
    assert (found.contrast.fewer, found.contrast.p) == (0.5, None)


def test_undecided_pairs_stay_on_the_leaderboard_and_leave_every_other_figure() -> None:
    judged = Judged("m", {"a": frozenset({"SC"}), "b": NO_LABEL}, frozenset({"c"}), frozenset({"d"}))
    found = solved(judged, [Submission("one", frozenset("abcd"))])
    (one,) = found.standings
    assert (one.all.of, one.without_label.of, one.misaligned.of) == (4, 1, 1)
    assert (sum(b.misaligned.of for b in found.bins), found.undetermined, found.failed) == (2, 1, 1)


def test_agents_that_solve_no_labelled_pair_are_a_sentence() -> None:
    with pytest.raises(EvaluationInputError, match=r"none of the ids that submissions name \('x__y-9', ...\)"):
        solved(PEOPLE, [Submission("elsewhere", frozenset({"x__y-9"}))])


def test_the_overlap_with_a_bare_list_is_over_the_data_sets_that_it_touches() -> None:
    found = overlap(PEOPLE, FilterList("spice", frozenset({"o__r-1", "o__r-2", "o__r-3", "x__y-9"})))
    assert (found.both, found.only_here, found.only_there, found.neither, found.n) == (2, 1, 1, 2, 6)
    assert (found.assumed, found.flagged, found.unknown) == (True, 4, ("x__y-9",))
    assert (found.jaccard.count, found.jaccard.of) == (2, 4)
    assert found.kappa == pytest.approx(1 / 3)
    assert (found.odds_ratio, found.p) == (pytest.approx(4), pytest.approx(1))
    assert found.odds_low is not None
    assert found.odds_high is not None
    assert found.odds_low < 1 < found.odds_high
    assert {label: (one.count, one.of) for label, one in found.per_label.items() if one.of} == {
        "SC": (1, 1),
        "DP": (1, 2),
        "UL": (1, 2),
        "No Misalignment": (1, 3),
    }


def test_the_overlap_with_a_list_that_tells_what_it_looked_at_is_over_those_pairs() -> None:
    looked_at = frozenset({"o__r-1", "o__r-2", "o__r-3", "o__r-4", "x__y-9"})
    found = overlap(PEOPLE, FilterList("f", frozenset({"o__r-1", "o__r-4"}), looked_at))
    assert (found.both, found.only_here, found.only_there, found.neither) == (1, 1, 1, 1)
    assert (found.assumed, found.kappa, found.odds_ratio) == (False, 0, 1)


def test_an_empty_cell_leaves_the_odds_ratio_undefined_and_fishers_p_exact() -> None:
    judged = Judged("m", {**{f"m{i}": frozenset({"IS"}) for i in range(3)}, **{f"n{i}": NO_LABEL for i in range(3)}})
    found = overlap(judged, FilterList("f", frozenset({"m0", "m1", "m2"}), judged.ids))
    assert (found.odds_ratio, found.odds_low, found.odds_high) == (None, None, None)
    assert found.p == pytest.approx(2 / 20)  # of the 20 ways to flag three of six, the two extremes
    assert found.kappa == 1


def test_flagged_pairs_that_were_not_decided_are_counted_apart() -> None:
    judged = Judged("m", {"a": frozenset({"SC"}), "b": NO_LABEL}, frozenset({"c"}), frozenset({"d"}))
    found = overlap(judged, FilterList("f", frozenset({"a", "c", "d"})))
    assert (found.n, found.both, found.undecided, found.unknown) == (2, 1, 2, ())


def test_a_list_of_other_pairs_is_a_sentence() -> None:
    with pytest.raises(EvaluationInputError, match="f: none of its pairs is among the labels that were decided"):
        overlap(PEOPLE, FilterList("f", frozenset({"x__y-9"})))


@pytest.mark.skipif("PAICHECKER_PAPER_DATA" not in os.environ, reason="PAICHECKER_PAPER_DATA names no folder")
def test_every_figure_of_the_papers_table_two_comes_out() -> None:
    arguments = [sys.executable, "bench/paper_studies.py", "--data", os.environ["PAICHECKER_PAPER_DATA"]]
    environment = {**os.environ, "PYTHONPATH": str(HERE.parent)}
    done = subprocess.run(arguments, capture_output=True, text=True, check=False, cwd=HERE.parent, env=environment)
    assert (done.returncode, done.stderr) == (0, "")
    assert "0 of 16 figures deviate" in done.stdout
    assert "74 scenarios in 68 misaligned pairs of 500, 13.6 %" in done.stdout
