"""What a model's tokens cost, from a dated table that a user can override."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import Field, TypeAdapter

from checker.model import Usage

# US dollars per million tokens; platform.claude.com/docs/en/about-claude/pricing, as of this day.
DATED = "2026-10-24"


Amount = Annotated[float, Field(ge=0, allow_inf_nan=False)]


@dataclass(frozen=True)
class Price:
    """US dollars per million tokens; cache writes are those of the five-minute cache."""

    input: Amount
    output: Amount
    cache_read: Amount
    cache_write: Amount

    def dollars(self, usage: Usage) -> float:
        """What this usage costs."""
        millionths = (
            usage.input_tokens * self.input
            + usage.output_tokens * self.output
            + usage.cache_read_tokens * self.cache_read
            + usage.cache_write_tokens * self.cache_write
        )
        return millionths / 1_000_000


_HAIKU_5_5 = Price(0.10, 0.50, 0.01, 0.125)

PRICES: dict[str, Price] = {
    "claude-fable-5-1": Price(10, 50, 0.25, 12.5),
    "claude-fable-5": Price(10, 50, 1.0, 12.5),
    "claude-opus-5-5": Price(4, 20, 0.2, 5),
    "claude-opus-5": Price(5, 25, 0.5, 6.25),
    "claude-opus-4-8": Price(5, 25, 0.5, 6.25),
    "claude-opus-4-7": Price(5, 25, 0.5, 6.25),
    "claude-opus-4-6": Price(5, 25, 0.5, 6.25),
    "claude-sonnet-5-5": Price(2, 10, 0.1, 2.5),
    "claude-sonnet-5": Price(2, 10, 0.2, 2.5),
    "claude-sonnet-4-6": Price(3, 15, 0.3, 3.75),
    # Prompts over 100,000 tokens cost five times as much; a request of ours stays far below.
    "claude-haiku-5-5": _HAIKU_5_5,
    "claude-haiku-4-5": Price(1, 5, 0.1, 1.25),
}


def read_prices(path: Path) -> dict[str, Price]:
    """A user's own prices, `{"model": {"input": 1, "output": 5, "cache_read": 0.1, "cache_write": 1.25}}`.

    They are laid over the built-in table. Raises OSError, or ValueError with a sentence about the file's shape.
    """
    table = TypeAdapter(dict[str, Price]).validate_python(json.loads(path.read_text(encoding="utf-8")))
    return {**PRICES, **table}


def price_of(model: str, prices: Mapping[str, Price]) -> Price | None:
    """The model's price, also for a dated name such as `claude-haiku-4-5-20251001`; None if unknown."""
    if model in prices:
        return prices[model]
    base, _, date = model.rpartition("-")
    return prices.get(base) if len(date) == 8 and date.isdecimal() else None
