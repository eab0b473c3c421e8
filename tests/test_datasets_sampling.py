"""A sample is the same for the same seed, and its strata have their shares."""

from __future__ import annotations

from collections import Counter

import pytest

from checker.datasets.sampling import draw

IDS = {
    f"{repository}-{n}": repository
    for repository, count in (("a/a", 70), ("b/b", 20), ("c/c", 10))
    for n in range(count)
}


def test_the_same_seed_draws_the_same_whatever_the_order() -> None:
    backwards = dict(reversed(IDS.items()))
    assert draw(IDS, 10, 7, stratified=True) == draw(backwards, 10, 7, stratified=True)
    assert draw(IDS, 10, 7, stratified=False) == draw(backwards, 10, 7, stratified=False)
    assert draw(IDS, 10, 7, stratified=False) != draw(IDS, 10, 8, stratified=False)


@pytest.mark.parametrize(("size", "shares"), [(10, (7, 2, 1)), (7, (5, 1, 1)), (1, (1, 0, 0)), (99, (69, 20, 10))])
def test_each_repository_has_its_share(size: int, shares: tuple[int, ...]) -> None:
    counted = Counter(IDS[one] for one in draw(IDS, size, 0, stratified=True))
    assert tuple(counted[name] for name in ("a/a", "b/b", "c/c")) == shares


@pytest.mark.parametrize("stratified", [True, False])
def test_a_sample_has_its_size_and_a_larger_one_than_the_whole_is_the_whole(stratified: bool) -> None:
    for size in range(1, 100, 7):
        assert len(draw(IDS, size, 3, stratified=stratified)) == size
    assert draw(IDS, 1_000, 3, stratified=stratified) == set(IDS)
    assert draw(IDS, None, 3, stratified=stratified) == set(IDS)


def test_pairs_of_an_unknown_repository_are_a_stratum_of_their_own() -> None:
    assert len(draw({"x": None, "y": None, "z-1": "z/z"}, 2, 0, stratified=True)) == 2
