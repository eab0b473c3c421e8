"""Several backbones, one answer: a vote, and a cascade in which the third is asked only where two differ.

An answer is the set of labels that one backbone gives to one pair; the empty set says that there is no
misalignment. None says that the backbone gave no answer (it failed, ran out, or was not asked). Pure functions
without dependencies, over labels of any hashable type.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Literal, TypeVar

Label = TypeVar("Label")
Tie = Literal["third", "vote"]


def vote(answers: Sequence[frozenset[Label] | None], quorum: int) -> frozenset[Label] | None:
    """The labels that at least `quorum` backbones give; with none at quorum the empty set, no misalignment.

    A missing answer gives no label its voice. None, no answer of the panel, where fewer than `quorum` backbones
    answered: then no label could stand, so that none does says nothing about the pair. Raises ValueError for a
    quorum below 1 or above the number of backbones.
    """
    if not 1 <= quorum <= len(answers):
        raise ValueError(f"a quorum of {quorum} cannot be had from {len(answers)} backbones")
    given = [answer for answer in answers if answer is not None]
    if len(given) < quorum:
        return None
    return frozenset(label for label, voices in votes(answers).items() if voices >= quorum)


def votes(answers: Sequence[frozenset[Label] | None]) -> dict[Label, int]:
    """How many backbones give each label."""
    return dict(Counter(label for answer in answers if answer is not None for label in answer))


def could_change(answers: Sequence[frozenset[Label] | None], quorum: int) -> bool:
    """Whether the answers that are missing could have brought a further label to the quorum.

    A panel without a label about which this is true has not found the pair aligned: it is undetermined.
    """
    missing = sum(answer is None for answer in answers)
    return missing >= quorum or any(quorum - missing <= voices < quorum for voices in votes(answers).values())


def agree(first: frozenset[Label] | None, second: frozenset[Label] | None) -> bool:
    """Whether the first two of a cascade settle the pair, so that the third need not be asked."""
    return first is not None and first == second


def cascade(
    first: frozenset[Label] | None,
    second: frozenset[Label] | None,
    third: frozenset[Label] | None,
    tie: Tie,
) -> frozenset[Label] | None:
    """The answer of the first two where they agree; else the third's (`third`), or a vote of two in three (`vote`).

    Where the third was to decide and gave no answer, the first's stands, or else the second's: name first whom
    you trust more. None where nobody answered, or, in a vote, fewer than two.
    """
    if agree(first, second):
        return first
    if tie == "vote":
        return vote((first, second, third), 2)
    return next((answer for answer in (third, first, second) if answer is not None), None)
