"""How often something may happen: commands by person and pull request, and checks that somebody sets off."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta


@dataclass(frozen=True)
class Cap:
    """At most `most` times in any stretch of time of this length."""

    most: int
    per: timedelta = timedelta(hours=1)


# A long review needs a handful of commands; a thousand in an afternoon are somebody playing.
COMMANDS_OF_A_PERSON = Cap(20)
"""What one person may say in one repository, wrong commands included."""
COMMANDS_ON_A_PULL_REQUEST = Cap(40)
"""What all people together may say on one pull request."""
CHECKS_OF_A_PULL_REQUEST = Cap(15)
"""Checks of one pull request, whatever set them off. Pushes within 20 seconds are one check."""
CHECKS_OF_A_STRANGER = Cap(10)
"""Checks in one repository that pushes, edits and commands of one person without write access set off."""


def free_at(cap: Cap, earlier: Sequence[datetime], now: datetime) -> datetime | None:
    """When it may happen once more, after it happened at these times; None: now."""
    recent = sorted(at for at in earlier if now - at < cap.per)
    return recent[-cap.most] + cap.per if len(recent) >= cap.most else None
