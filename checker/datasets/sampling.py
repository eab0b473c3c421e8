"""A sample of a data set: the same for the same seed, whatever the order of the records."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping


def draw(repositories: Mapping[str, str | None], size: int | None, seed: int, *, stratified: bool) -> frozenset[str]:
    """`size` of the ids, or all. `stratified`: each repository has its share, rounded by the largest remainder."""
    if size is None or size >= len(repositories):
        return frozenset(repositories)
    if not stratified:
        return frozenset(_in_order(repositories, seed)[:size])
    strata: dict[str, list[str]] = {}
    for one in _in_order(repositories, seed):
        strata.setdefault((repositories[one] or "").casefold(), []).append(one)
    shares = _shares({name: len(ids) for name, ids in strata.items()}, size)
    return frozenset(one for name, ids in strata.items() for one in ids[: shares[name]])


def _shares(counts: Mapping[str, int], size: int) -> dict[str, int]:
    """Seats as the method of the largest remainder deals them out; names decide ties."""
    whole = sum(counts.values())
    shares = {name: count * size // whole for name, count in counts.items()}
    by_remainder = sorted(counts, key=lambda name: (-(counts[name] * size % whole), name))
    for name in by_remainder[: size - sum(shares.values())]:
        shares[name] += 1
    return shares


def _in_order(ids: Collection[str], seed: int) -> list[str]:
    return sorted(ids, key=lambda one: hashlib.sha256(f"{seed}\0{one}".encode("utf-8", "surrogatepass")).digest())
