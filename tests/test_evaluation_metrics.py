"""Figures against people's labels: against a count by hand, and how odd pairs are counted."""

from __future__ import annotations

import random

import pytest

from checker.evaluation.compare import compare, holm, intervals, kappa, kappas, mcnemar
from checker.evaluation.evaluate import evaluate
from checker.evaluation.labels import EvaluationInputError, Method, Truth
from checker.evaluation.metrics import FIGURES, Table, score, table, tabulate
from checker.evaluation.phases import Changes, phases
from checker.evaluation.trail import NO_LABEL, SEVEN, LabelSet, Prediction

NONE = NO_LABEL


def labels(text: str) -> LabelSet:
    return frozenset(text.split("|")) if text else NONE


def scored(*pairs: tuple[str, str | None], name: str = "m") -> Table:
    """A table of (people's, said); `` is no misalignment, None no prediction."""
    truth = {f"p{i}": labels(people) for i, (people, _) in enumerate(pairs)}
    said = {f"p{i}": Prediction(None if s is None else labels(s)) for i, (_, s) in enumerate(pairs)}
    return table(name, truth, said)


def by_hand(pairs: list[tuple[LabelSet, LabelSet | None]]) -> dict[str, float]:
    """The paper's figures in plain Python."""

    def ratio(part: float, whole: float) -> float:
        return part / whole if whole else 0.0

    n = len(pairs)
    people = [true != NONE for true, _ in pairs]
    said = [s is None or s != NONE for _, s in pairs]
    both = sum(p and s for p, s in zip(people, said, strict=True))
    figures = {
        "binary_accuracy": sum(p == s for p, s in zip(people, said, strict=True)) / n,
        "binary_precision": ratio(both, sum(said)),
        "binary_recall": ratio(both, sum(people)),
        "binary_f1": ratio(2 * both, sum(said) + sum(people)),
        "exact_match": sum(true == s for true, s in pairs) / n,
    }
    each = []
    for label in SEVEN:
        true = [label in t for t, _ in pairs]
        given = [s is not None and label in s for _, s in pairs]
        hits = sum(t and g for t, g in zip(true, given, strict=True))
        if any(true) or any(given):
            same = sum(t == g for t, g in zip(true, given, strict=True)) / n
            f1 = ratio(2 * hits, sum(true) + sum(given))
            each.append((same, ratio(hits, sum(given)), ratio(hits, sum(true)), f1))
    for index, name in enumerate(("accuracy", "precision", "recall", "f1")):
        figures[f"macro_{name}"] = sum(one[index] for one in each) / len(each)
    return figures


def drawn(seed: int, n: int = 60) -> list[tuple[LabelSet, LabelSet | None]]:
    draw = random.Random(seed)

    def some() -> LabelSet:
        return frozenset(draw.sample(SEVEN[:-1], draw.choice([0, 0, 1, 1, 2]))) or NONE

    return [(some(), draw.choice([some(), some(), None, NONE | {"SC"}])) for _ in range(n)]


@pytest.mark.parametrize("seed", range(20))
def test_every_figure_is_what_a_count_by_hand_gives(seed: int) -> None:
    pairs = drawn(seed)
    truth = {str(i): true for i, (true, _) in enumerate(pairs)}
    one = table("m", truth, {str(i): Prediction(said) for i, (_, said) in enumerate(pairs)})
    assert score(one).figures == pytest.approx(by_hand(pairs))


def test_a_pair_without_a_prediction_is_misaligned_and_never_an_exact_match() -> None:
    scores = score(scored(("", None), ("SC", None), ("", ""), ("SC", "SC")))
    assert scores.figures["exact_match"] == 0.5
    assert scores.figures["binary_recall"] == 1.0
    assert scores.figures["binary_accuracy"] == 0.75
    assert scores.without_prediction == 2
    assert scores.labels["SC"].recall == 0.5


def test_a_label_beside_no_misalignment_is_misaligned_and_no_exact_match() -> None:
    scores = score(scored(("SC", "SC|No Misalignment"), ("", "")))
    assert (scores.figures["exact_match"], scores.figures["binary_accuracy"]) == (0.5, 1.0)
    assert scores.contradictory == 1


def test_labels_that_occur_nowhere_are_left_out_of_macro_figures_and_those_only_predicted_are_not() -> None:
    assert set(score(scored(("SC", "SC"), ("", ""))).labels) == {"SC", "No Misalignment"}
    scores = score(scored(("SC", "SC"), ("", "DP"), ("", "")))
    assert set(scores.labels) == {"SC", "DP", "No Misalignment"}
    assert scores.figures["macro_recall"] == pytest.approx((1 + 0 + 0.5) / 3)


# Which pairs count

TRUTH = Truth(
    {"a": NONE, "b": labels("SC"), "c": labels("DP"), "x": NONE}, {"a": "gym", "b": "gym", "c": "gym", "x": "lite"}
)


def test_all_labelled_pairs_of_a_touched_data_set_count_and_those_of_others_do_not() -> None:
    method = Method("m", {"a": Prediction(NONE), "b": Prediction(labels("SC")), "zz": Prediction(NONE)})
    assert tabulate(TRUTH, method).ids == ("a", "b", "c")
    (one,) = evaluate(TRUTH, [method], rounds=10).methods
    assert (one.scores.n, one.no_row, one.scores.without_prediction, one.unlabelled) == (3, 1, 1, 1)


def test_of_a_sample_only_pairs_with_a_row_count() -> None:
    method = Method("m", {"a": Prediction(NONE), "c": Prediction(None)})
    (one,) = evaluate(TRUTH, [method], rounds=10, predicted_only=True).methods
    assert (one.scores.n, one.no_row, one.scores.without_prediction) == (2, 0, 1)


def test_a_method_without_a_labelled_pair_cannot_be_scored() -> None:
    with pytest.raises(EvaluationInputError, match="none of its pairs is labelled"):
        tabulate(TRUTH, Method("m", {"zz": Prediction(NONE)}))


def test_undetermined_counts_as_no_misalignment_and_is_told_apart() -> None:
    said = {"a": Prediction(NONE), "b": Prediction(NONE, undecided=True), "c": Prediction(labels("DP"))}
    (one,) = evaluate(TRUTH, [Method("m", said)], rounds=10).methods
    assert (one.scores.undecided, one.scores.figures["binary_recall"]) == (1, 0.5)
    assert one.decided is not None
    assert (one.decided.n, one.decided.figures["binary_recall"], one.decided.figures["exact_match"]) == (2, 1.0, 1.0)


def test_what_is_known_of_cost_is_summed_with_the_number_of_pairs() -> None:
    said = {"a": Prediction(NONE, dollars=0.5, tokens=10), "b": Prediction(NONE, dollars=None, tokens=20)}
    (one,) = evaluate(TRUTH, [Method("m", said)], rounds=10).methods
    assert {name: (spent.total, spent.known) for name, spent in one.spent.items()} == {
        "dollars": (0.5, 1),
        "tokens": (30, 2),
    }


# Intervals


def test_an_interval_is_that_of_samples_scored_one_by_one() -> None:
    import numpy as np

    pairs = drawn(5, 40)
    truth = {str(i): true for i, (true, _) in enumerate(pairs)}
    one = table("m", truth, {str(i): Prediction(said) for i, (_, said) in enumerate(pairs)})
    everywhere = {label for true, said in pairs for label in (true | (said or frozenset()))}
    assert everywhere == set(SEVEN)  # or the samples' macro figures would be over other labels
    draws = np.random.default_rng(3).integers(0, 40, size=(100, 40))
    found = [by_hand([pairs[i] for i in row]) for row in draws]
    ends = intervals(one, 100, seed=3)
    for name in FIGURES[:5]:
        low, high = np.quantile([figures[name] for figures in found], [0.025, 0.975])
        assert (ends[name].low, ends[name].high) == pytest.approx((low, high)), name
    assert ends["macro_f1"].low < score(one).figures["macro_f1"] < ends["macro_f1"].high


def test_the_same_seed_gives_the_same_interval_and_blocks_do_not_show() -> None:
    one = scored(*[("SC", "SC"), ("", "DP"), ("DP", None)] * 20)
    assert intervals(one, 300, seed=1) == intervals(one, 300, seed=1)
    assert intervals(one, 300, seed=1) != intervals(one, 300, seed=2)


def test_a_perfect_method_has_no_doubt_about_it() -> None:
    ends = intervals(scored(("SC", "SC"), ("", "")), 50, seed=0)
    assert (ends["exact_match"].low, ends["exact_match"].high) == (1.0, 1.0)


# Comparisons


@pytest.mark.parametrize(
    ("b", "c", "p"), [(0, 0, 1.0), (5, 5, 1.0), (0, 5, 0.0625), (1, 9, 22 / 1024), (10, 0, 2 / 1024)]
)
def test_mcnemars_exact_test_is_a_coin_thrown_for_each_discordant_pair(b: int, c: int, p: float) -> None:
    assert mcnemar(b, c) == pytest.approx(p)


def test_holms_adjustment_grows_with_the_number_of_tests_and_never_falls() -> None:
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert holm([0.9, 0.8]) == [1.0, 1.0]
    assert holm([]) == []


def test_methods_are_compared_on_the_pairs_that_both_are_scored_on() -> None:
    first = scored(("SC", "SC"), ("", "SC"), ("DP", "DP"), name="first")
    second = table(
        "second", {"p1": NONE, "p2": labels("DP"), "p9": NONE}, {"p1": Prediction(NONE), "p9": Prediction(NONE)}
    )
    (one,) = compare([first, second])
    assert (one.first, one.second, one.n) == ("first", "second", 2)
    assert (one.exact_match.only_first, one.exact_match.only_second) == (1, 1)
    assert (one.binary.only_first, one.binary.only_second) == (0, 1)
    assert one.exact_match.p == 1.0


def test_methods_that_share_no_pair_are_not_compared() -> None:
    other = table("o", {"q": NONE}, {"q": Prediction(NONE)})
    assert compare([scored(("", "")), other]) == ()


def test_kappa_is_agreement_beyond_chance_and_none_where_nothing_varies() -> None:
    import numpy as np

    half, same = np.array([True, True, False, False]), np.array([True, False, True, False])
    assert kappa(half, half) == 1.0
    assert kappa(half, same) == pytest.approx(0.0)
    assert kappa(np.array([True] * 4), np.array([True] * 4)) is None
    assert kappa(np.array([True] * 4), half) == pytest.approx(0.0)
    found = kappas(scored(("SC", "SC"), ("", ""), ("SC", "")))
    assert found["SC"] == found["binary"] == pytest.approx(0.4)


# Phases


def course(true: str, *after: str | None) -> tuple[str, Prediction]:
    known = tuple(None if a is None else labels(a) for a in after)
    return true, Prediction(known[-1], phases=known)


def test_changes_are_counted_to_right_to_wrong_and_between_wrongs() -> None:
    courses = [
        course("SC", "SC|UL", "SC", "SC"),
        course("SC", "SC", "", ""),
        course("SC", "UL", "DP", None),
        course("", "SC", None, ""),
        course("UL", "UL", "UL", "UL"),
    ]
    truth = {str(i): labels(true) for i, (true, _) in enumerate(courses)}
    found = phases(table("m", truth, {str(i): prediction for i, (_, prediction) in enumerate(courses)}))
    assert found is not None
    assert found.n == 5
    assert found.changes == (Changes(("I", "II"), 1, 1, 1), Changes(("II", "III"), 1, 0, 0))
    assert [(one.exact_match, one.unknown) for one in found.after] == [(0.4, 0), (0.4, 1), (0.6, 1)]
    assert found.after[0].binary_accuracy == 0.8


def test_without_phases_there_is_nothing_to_say_of_them() -> None:
    assert phases(scored(("SC", "SC"))) is None
