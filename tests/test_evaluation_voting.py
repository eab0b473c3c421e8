"""The vote of several backbones, and the cascade: what stands, and what a missing answer means."""

from __future__ import annotations

from itertools import product

import pytest

from checker.evaluation.voting import agree, cascade, could_change, vote, votes

SC, UL, NONE = frozenset({"SC"}), frozenset({"UL"}), frozenset[str]()
BOTH = SC | UL
ANSWERS = (None, NONE, SC, UL, BOTH)


@pytest.mark.parametrize(
    ("answers", "quorum", "stands"),
    [
        ([SC, SC, NONE], 2, SC),
        ([SC, UL, BOTH], 2, BOTH),
        ([SC, UL, NONE], 2, NONE),
        ([SC, UL, NONE], 1, BOTH),
        ([SC, SC, BOTH], 3, SC),
        ([NONE, NONE, NONE], 2, NONE),
        ([SC, None, SC], 2, SC),
        ([SC, None, UL], 2, NONE),
        ([SC, None, None], 2, None),
        ([None, None, None], 1, None),
        ([SC, None, None], 1, SC),
    ],
)
def test_a_label_stands_if_the_quorum_gives_it(
    answers: list[frozenset[str] | None], quorum: int, stands: frozenset[str] | None
) -> None:
    assert vote(answers, quorum) == stands


@pytest.mark.parametrize("quorum", [0, 4, -1])
def test_a_quorum_that_cannot_be_had_is_refused(quorum: int) -> None:
    with pytest.raises(ValueError, match="3 backbones"):
        vote([SC, SC, SC], quorum)


def test_votes_are_counted_per_label() -> None:
    assert votes([SC, BOTH, None, NONE]) == {"SC": 2, "UL": 1}


@pytest.mark.parametrize("quorum", [1, 2, 3])
def test_could_change_says_whether_some_missing_answer_would_have_added_a_label(quorum: int) -> None:
    for answers in product(ANSWERS, repeat=3):
        full = [[BOTH | {"new"}] if answer is None else [answer] for answer in answers]
        lifted = vote([one for (one,) in full], quorum)
        now = frozenset(label for label, voices in votes(answers).items() if voices >= quorum)
        assert could_change(answers, quorum) == (lifted != now and None in answers), answers


@pytest.mark.parametrize("tie", ["third", "vote"])
def test_where_the_first_two_agree_the_third_is_not_heard(tie: str) -> None:
    for third in ANSWERS:
        assert cascade(SC, SC, third, tie="vote" if tie == "vote" else "third") == SC


def test_two_silent_backbones_do_not_agree() -> None:
    assert not agree(None, None)
    assert agree(NONE, NONE)
    assert cascade(None, None, SC, "third") == SC


def test_where_they_differ_the_third_decides_or_votes() -> None:
    assert cascade(SC, UL, NONE, "third") == NONE
    assert cascade(SC, UL, UL, "vote") == UL
    assert cascade(SC, UL, NONE, "vote") == NONE


def test_without_the_third_the_first_that_answered_stands() -> None:
    assert cascade(SC, UL, None, "third") == SC
    assert cascade(None, UL, None, "third") == UL
    assert cascade(None, None, None, "third") is None
    assert cascade(None, UL, None, "vote") is None
