"""What of a pull request's conversation the engine is given: what people say to each other, not to the App."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from fakes import load_pair

from bot.examining import _without_ours
from bot.work import Work
from checker.hidden_text import hidden_passages
from checker.pair import Comment, Pair

APP: Any = Work.__new__(Work)
object.__setattr__(APP, "slug", "paichecker-test")


def discussed(*comments: Comment) -> Pair:
    pair = load_pair("aligned")
    return replace(pair, pull_request=replace(pair.pull_request, comments=comments))


def test_our_own_comments_and_commands_to_us_are_no_part_of_the_discussion() -> None:
    dispute = "/paichecker dispute UL it should be ours, please\n\nI will write the tests."
    said = (
        Comment("Ours", "paichecker-test", is_bot=True),
        Comment("Another bot's", "stale", is_bot=True),
        Comment("  /PAICHECKER recheck", "mona"),
        Comment(dispute, "mona"),
        Comment("A person of our name", "paichecker-test"),
    )
    kept = _without_ours(discussed(*said), APP).pull_request.comments
    assert [one.body for one in kept] == ["Another bot's", "I will write the tests.", "A person of our name"]
    assert list(hidden_passages(dispute, is_code=False))
    assert not [passage for one in kept for passage in hidden_passages(one.body, is_code=False)]
