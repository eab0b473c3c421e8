"""The demo's repository, its people, an issue, and a pull request that does what was asked, and something beside it."""

from __future__ import annotations

OWNER = "teahouse"
NAME = "kettle"
MAINTAINER = "wanda-ferns"
REPORTER = "ilias-mint"
AUTHOR = "bo-assam"
STRANGER = "passing-by"

_README = """# kettle

A timer for tea.

    $ kettle green
    green: 2 min
"""

_BREW = '''"""How long each tea steeps."""

MINUTES = {"green": 2, "black": 4, "herbal": 7}


def seconds(tea: str, minutes: float | None = None) -> int:
    """Seconds to wait for a tea; `minutes` replaces what the table says."""
    wanted = MINUTES[tea] if minutes is None else minutes
    return round(wanted * 60)
'''

_TEST = """from kettle.brew import seconds


def test_the_table_knows_green_tea():
    assert seconds("green") == 120


def test_minutes_replace_the_table():
    assert seconds("green", 3) == 180
"""

FILES = {"README.md": _README, "kettle/brew.py": _BREW, "tests/test_brew.py": _TEST}

ISSUE_TITLE = "A negative time is taken without a word"
ISSUE = """`kettle green --minutes -3` ends at once and rings, as if the tea were ready. The same happens with `0`.

`seconds` should raise a `ValueError` when the time is zero or less, so that the mistake is seen.

I use kettle 1.4 with Python 3.12.
"""
ISSUE_COMMENT = "Good catch. A `ValueError` from `seconds` is right, the command line prints those already."

TITLE = "Refuse a time of zero or less"
BODY = """`seconds` now raises a `ValueError` when the time is zero or less.

This PR also adds `oolong` to the table, because I drink it all day.

Fixes #{issue}
"""
BRANCH = "refuse-negative-times"
MESSAGE = "Refuse a time of zero or less"

_GUARD = """    if wanted <= 0:
        raise ValueError("Tea needs time: give more than zero minutes")
"""
_GUARDED = _BREW.replace("    return round", f"{_GUARD}    return round")
_GUARD_TEST = """

@pytest.mark.parametrize("minutes", [0, -3])
def test_a_time_of_zero_or_less_is_refused(minutes):
    with pytest.raises(ValueError, match="Tea needs time: give more than zero minutes"):
        seconds("green", minutes)
"""
_OOLONG_TEST = """

def test_the_table_knows_oolong():
    assert seconds("oolong") == 180
"""
_TESTED = f"import pytest\n\n{_TEST}{_GUARD_TEST}"

CHANGES = {
    "kettle/brew.py": _GUARDED.replace('"herbal"', '"oolong": 3, "herbal"'),
    "tests/test_brew.py": f"{_TESTED}{_OOLONG_TEST}",
}

# What the people do when they have read the comment.
DISPUTE = "/paichecker dispute UL The wording is ours to choose."
SPLIT_MESSAGE = "Leave oolong to a pull request of its own"
SPLIT = {"kettle/brew.py": _GUARDED, "tests/test_brew.py": _TESTED}
SPLIT_BODY = """`seconds` now raises a `ValueError` when the time is zero or less.

Fixes #{issue}
"""
RECHECK = "/paichecker recheck"
