"""One check of one pull request, in steps that may each be done twice: begin, collect, judge, publish."""

from __future__ import annotations

import logging
import re
import time
from dataclasses import replace
from typing import Any

from bot import checks, writing
from bot.checked import Checked, inputs_of
from bot.checks import IGNORED, Body, Head
from bot.engine import within
from bot.feedback import note_thumbs
from bot.model_replies import Replies
from bot.publishing import adopt, comment_address, conclude, end_open, show_comment, show_started, supersede_others
from bot.repo_config import PATH, RepositoryConfig, read_config
from bot.settings import Mode
from bot.store import PullRequest, Run
from bot.work import Asked, Work, threaded
from checker.github.address import Address
from checker.github.client import Client
from checker.github.collect import collect
from checker.pair import Pair
from checker.pipeline import check

log = logging.getLogger(__name__)

BACKFILL = "backfill"
"""Why a check is asked for that shows nothing, whatever the mode."""
# What is said to us is no part of the discussion either: a dispute's reason reads like an order to a model.
_COMMAND = re.compile(r"^[ \t]*/paichecker\b.*$", re.IGNORECASE | re.MULTILINE)
_CLOSED = "it is closed"
_SILENT = "by now the settings ask that nothing be shown"
_FORCED = frozenset({"recheck", "recheck button", "rerequested"})


async def begin(work: Work, pull_request_id: int, trigger: int, run_id: str) -> str | None:
    """Reads the head and the settings, and decides whether to check; the run's id where it is checked.

    A trigger that a finished check has seen asks for nothing more: so pushes within seconds become one check.
    """
    pull_request = await threaded(work.store.by_id, pull_request_id)
    if pull_request is None or await _is_done(work, pull_request, trigger):
        return None
    newest = await threaded(work.store.newest_trigger, pull_request.id)
    async with work.installations.client(pull_request.installation, pull_request.repository_id) as client:
        now = await writing.pull_request(client, pull_request.repository, pull_request.number)
        text = await writing.settings_file(client, pull_request.repository, PATH)
        config = read_config(text, models=work.engine.models)
        why = await threaded(work.store.reasons, pull_request.id, min(pull_request.covered, trigger - 1))
        silent = (config.mode or work.mode) is Mode.SHADOW
        shadow = silent or why <= {BACKFILL}
        run = Run(run_id, pull_request.id, now["head"]["sha"], newest, shadow, text)
        await threaded(work.store.change, pull_request.id, author=(now.get("user") or {}).get("login"))
        before = await threaded(work.store.run, run_id)
        if before is not None and before.head_sha != run.head_sha and not shadow:
            # It began with an older head, and was stopped.
            await adopt(work, client, pull_request, before.head_sha)
        await threaded(work.store.begin_run, run, work.now())
        if not shadow:
            await supersede_others(work, client, pull_request, run.head_sha)
        elif silent:
            await end_open(work, client, pull_request, _SILENT)
        skipped = _skips(pull_request, config, now, shadow=shadow, forced=bool(why & _FORCED))
        if skipped is None:
            if not shadow:
                await show_started(work, client, pull_request, run.head_sha)
            return run.id
        await _skip(work, client, pull_request, run, config, skipped)
    return None


async def _is_done(work: Work, pull_request: PullRequest, trigger: int) -> bool:
    """Covered, and no check run was left open: one may have been begun just when its trigger was covered."""
    if pull_request.covered < trigger:
        return False
    if await threaded(work.store.newest_trigger, pull_request.id) > pull_request.covered:
        return True
    left_open = await threaded(work.store.open_check_runs, pull_request.id, but="")
    return not left_open


def _skips(
    pull_request: PullRequest, config: RepositoryConfig, now: dict[str, Any], *, shadow: bool, forced: bool
) -> str | None:
    """Why it is not checked. Who may ask for a check gets one, whatever the settings leave out."""
    if pull_request.ignored:
        return IGNORED
    if now.get("state") == "closed" and not forced:
        return _CLOSED
    left_out = config.leaves_out()
    if left_out is not None:
        return left_out
    user = now.get("user") or {}
    is_bot = user.get("type") == "Bot"
    return None if forced else config.skips(user.get("login", ""), is_bot, bool(now.get("draft")), ())


async def _skip(
    work: Work, client: Client, pull_request: PullRequest, run: Run, config: RepositoryConfig, why: str
) -> None:
    kept = await threaded(work.store.check_run, pull_request.id, run.head_sha)
    # What was concluded of a closed pull request's head stays to be read.
    if not run.shadow and not (why == _CLOSED and (kept is None or kept[1])):
        head = Head(pull_request.repository, pull_request.number, run.head_sha)
        body = checks.skipped(head, why, at=work.now(), problems=config.problems)
        await conclude(work, client, pull_request, run.head_sha, body)
    await threaded(work.store.cover, pull_request.id, run.trigger)


async def read_pair(work: Work, run_id: str) -> bool:
    """Reads issue and pull request, and keeps them; False where the run is over: its files are all skipped."""
    run, pull_request = await _of(work, run_id)
    config = read_config(run.config, models=work.engine.models)
    async with work.installations.client(pull_request.installation, pull_request.repository_id) as client:
        pair, added = await _kept(work, client, pull_request, run)
        if await _is_outdated(client, pull_request, pair, added):
            pair, _ = await _kept(work, client, pull_request, run)
        why = await threaded(work.store.reasons, pull_request.id, pull_request.covered)
        paths = [file.path for file in pair.pull_request.files]
        skipped = (
            None
            if why & _FORCED
            else replace(config, drafts=True, bots=True, skip_authors=()).skips("", False, False, paths)
        )
        if skipped is not None:
            await _skip(work, client, pull_request, run, config, skipped)
    return skipped is None


async def _kept(work: Work, client: Client, pull_request: PullRequest, run: Run) -> tuple[Pair, set[tuple[str, int]]]:
    """What is read now, and its issues that were not known to belong to it."""
    pair = _without_ours(await collect(client, Address(pull_request.repository, pull_request.number)), work)
    return pair, await threaded(work.store.keep_pair, run.id, pair, inputs_of(pair))


async def _is_outdated(client: Client, pull_request: PullRequest, pair: Pair, added: set[tuple[str, int]]) -> bool:
    """Whether an issue was edited while it was read: until it was kept, its delivery asked for no check of this."""
    home = pull_request.repository
    for issue in pair.issues:
        if issue.number is not None and (home.lower(), issue.number) in added:
            read = issue.edited or f"{issue.title}\n{issue.body}"
            if await writing.issue_text(client, home, issue.number) != read:
                return True
    return False


def _without_ours(pair: Pair, work: Work) -> Pair:
    """Our own comments are no part of the discussion: they would be quoted, and would move each recheck."""
    pull_request = pair.pull_request
    others = [one for one in pull_request.comments if not work.is_own(one.author, is_bot=one.is_bot)]
    heard = [replace(one, body=_COMMAND.sub("", one.body).strip()) for one in others]
    kept = tuple(one for one in heard if one.body)
    return replace(pair, pull_request=replace(pull_request, comments=kept))


async def judge(work: Work, run_id: str) -> str:
    """Lets the engine judge what was read, keeps the report, and gives its verdict."""
    run, pull_request = await _of(work, run_id)
    config = read_config(run.config, models=work.engine.models)
    pair = await threaded(work.store.pair, run.id)
    began = time.monotonic()
    async with work.installations.client(pull_request.installation, pull_request.repository_id) as client:
        replies = Replies(work.store, pull_request.installation, work.now)
        report = await check(pair, work.engine.backend(pair, config, client, replies))
    checked = Checked(
        run=run.id,
        repository=pull_request.repository,
        number=pull_request.number,
        head_sha=run.head_sha,
        report=within(report, config),
        checked_at=work.now(),
        seconds=time.monotonic() - began,
        inputs=inputs_of(pair),
    )
    await threaded(work.store.keep_report, run.id, checked)
    return checked.report.verdict.value


async def publish(work: Work, run_id: str) -> bool:
    """Shows what was found, unless the head has moved meanwhile: then it is superseded, and True."""
    run, pull_request = await _of(work, run_id)
    checked = await threaded(work.store.checked, run.id)
    if run.shadow or checked is None:
        await threaded(work.store.cover, pull_request.id, run.trigger)
        return False
    async with work.installations.client(pull_request.installation, pull_request.repository_id) as client:
        now = await writing.pull_request(client, pull_request.repository, pull_request.number)
        newer = now["head"]["sha"]
        if newer != run.head_sha:
            head = Head(pull_request.repository, pull_request.number, run.head_sha)
            body = checks.superseded(head, by=newer, at=work.now())
            await conclude(work, client, pull_request, run.head_sha, body)
            return True
        why = await threaded(work.store.reasons, pull_request.id, pull_request.covered)
        async with work.turn("comment", pull_request.id):
            await _show(work, client, run, checked, was_asked_for=bool(why & _FORCED))
        shown = await threaded(work.store.by_id, pull_request.id)
        if shown is not None:
            await note_thumbs(client, work.store, shown, work.now())
    await threaded(work.store.cover, pull_request.id, run.trigger)
    return False


async def show_answers(work: Work, client: Client, pull_request_id: int) -> None:
    """Shows what was said meanwhile, with the check that is shown. One that is not yet will show it by itself."""
    async with work.turn("comment", pull_request_id):
        pull_request = await threaded(work.store.by_id, pull_request_id)
        if pull_request is None:
            return
        checked = await shown_check(work, pull_request)
        run = await threaded(work.store.run, checked.run) if checked else None
        if checked is None or run is None or run.shadow:
            return
        kept = await threaded(work.store.check_run, pull_request_id, run.head_sha)
        is_concluded = kept is not None and kept[1]
        if is_concluded or pull_request.comment_id is not None:
            await _show(work, client, run, checked, conclusion=is_concluded)


async def shown_check(work: Work, pull_request: PullRequest) -> Checked | None:
    """The check that the comment shows, else the newest."""
    shown = await threaded(work.store.checked, pull_request.comment_run)
    return shown or await threaded(work.store.last_checked, pull_request.id)


async def _show(
    work: Work, client: Client, run: Run, checked: Checked, *, conclusion: bool = True, was_asked_for: bool = False
) -> None:
    """The comment, and the check run that leads to it."""
    pull_request = await threaded(work.store.by_id, run.pull_request)
    if pull_request is None:
        raise Forgotten(run.id)
    config = read_config(run.config, models=work.engine.models)
    comment = await show_comment(work, client, pull_request, checked, config, was_asked_for=was_asked_for)
    if conclusion:
        body = await _concluded(work, pull_request, checked, config, comment)
        await conclude(work, client, pull_request, run.head_sha, body)


async def _concluded(
    work: Work, pull_request: PullRequest, checked: Checked, config: RepositoryConfig, comment: str | None
) -> Body:
    answers = await threaded(work.store.answers, pull_request.id)
    return checks.concluded(
        checked,
        web=work.web,
        fail_on=config.fail_on,
        answers=answers,
        problems=config.problems,
        comment=comment,
    )


async def show_pause(work: Work, client: Client, pull_request: PullRequest, head_sha: str, why: str) -> None:
    """Tells on a head's check run that there is no check now; without `head_sha` on that of the last check.

    What was found of the head stays: who asks often enough must not turn a red check run into a grey one.
    """
    checked = await threaded(work.store.last_checked, pull_request.id)
    run = await threaded(work.store.run, checked.run) if checked else None
    head_sha = head_sha or (run.head_sha if run else "")
    kept = await threaded(work.store.check_run, pull_request.id, head_sha)
    if not head_sha or (kept is not None and not kept[1]):
        # A check of it is under way, and concludes it.
        return
    if checked is None or run is None or run.shadow or run.head_sha != head_sha:
        head = Head(pull_request.repository, pull_request.number, head_sha)
        body = checks.skipped(head, why, at=work.now())
    else:
        config = read_config(run.config, models=work.engine.models)
        comment = None if pull_request.comment_gone else comment_address(work, pull_request, pull_request.comment_id)
        body = checks.outdated(await _concluded(work, pull_request, checked, config, comment), why)
    await conclude(work, client, pull_request, head_sha, body)


async def show_failure(work: Work, run_id: str) -> None:
    """A neutral check run that says that PAIChecker itself failed."""
    run, pull_request = await _of(work, run_id)
    if not run.shadow:
        async with work.installations.client(pull_request.installation, pull_request.repository_id) as client:
            head = Head(pull_request.repository, pull_request.number, run.head_sha)
            await conclude(work, client, pull_request, run.head_sha, checks.failed(head, run=run.id, at=work.now()))
    await threaded(work.store.cover, pull_request.id, run.trigger)


async def ask_again(work: Work, pull_request_id: int, run_id: str) -> Asked | None:
    """A check of the head that superseded this run's: its delivery may have been lost. Covered if it was not."""
    pull_request = await threaded(work.store.by_id, pull_request_id)
    if pull_request is None:
        return None
    key, why = f"{run_id}/superseded", "superseded"
    trigger = await threaded(work.store.trigger, pull_request_id, key=key, why=why, who=None, at=work.now())
    return Asked(pull_request.installation, pull_request.id, pull_request.partition, trigger)


class Forgotten(Exception):
    """The pull request was forgotten while it was checked: the App was taken away."""


async def _of(work: Work, run_id: str) -> tuple[Run, PullRequest]:
    run = await threaded(work.store.run, run_id)
    pull_request = await threaded(work.store.by_id, run.pull_request) if run else None
    if run is None or pull_request is None:
        raise Forgotten(run_id)
    return run, pull_request
