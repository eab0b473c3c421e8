"""From what was found to what is seen on GitHub: the check run of each head, and the one comment."""

from __future__ import annotations

import logging

from bot import checks, writing
from bot.checked import Checked, digest_of
from bot.checks import Body, Head
from bot.closed_off import empty_check_runs, post_anew, tells_what_is_gone
from bot.comment import MARKER, render_comment, should_post
from bot.repo_config import RepositoryConfig
from bot.store import PullRequest
from bot.work import Work, threaded
from checker.github.client import Client

log = logging.getLogger(__name__)


async def show_started(work: Work, client: Client, pull_request: PullRequest, head_sha: str) -> None:
    """A check run in progress for a head that has none, or whose check is asked for again."""
    async with work.turn("check run", pull_request.id):
        kept = await threaded(work.store.check_run, pull_request.id, head_sha)
        if kept is None or kept[1]:
            head = Head(pull_request.repository, pull_request.number, head_sha)
            await _write(work, client, pull_request, head_sha, checks.started(head, at=work.now()), concluded=False)


async def conclude(work: Work, client: Client, pull_request: PullRequest, head_sha: str, body: Body) -> None:
    """The head's check run, with its conclusion; made where there is none."""
    async with work.turn("check run", pull_request.id):
        await _write(work, client, pull_request, head_sha, body, concluded=True)


async def adopt(work: Work, client: Client, pull_request: PullRequest, head_sha: str) -> None:
    """Keeps the check run of a head that was made and not kept, for the App was stopped in between; as an open one."""
    async with work.turn("check run", pull_request.id):
        kept = await threaded(work.store.check_run, pull_request.id, head_sha)
        newest = await writing.find_check_run(client, pull_request.repository, pull_request.number, head_sha)
        if newest is not None and (kept is None or kept[0] != newest):
            await threaded(work.store.keep_check_run, pull_request.id, head_sha, newest, concluded=False)


async def supersede_others(work: Work, client: Client, pull_request: PullRequest, newest: str) -> None:
    """Concludes what is open of other heads. `newest`: the head as the API gives it now."""
    for older, _ in await threaded(work.store.open_check_runs, pull_request.id, but=newest):
        head = Head(pull_request.repository, pull_request.number, older)
        await conclude(work, client, pull_request, older, checks.superseded(head, by=newest, at=work.now()))


async def end_open(work: Work, client: Client, pull_request: PullRequest, why: str) -> None:
    """Concludes what is open, for nothing more is to be shown: a check run that never ends may block a merge."""
    for sha, _ in await threaded(work.store.open_check_runs, pull_request.id, but=""):
        head = Head(pull_request.repository, pull_request.number, sha)
        await conclude(work, client, pull_request, sha, checks.skipped(head, why, at=work.now()))


async def _write(
    work: Work, client: Client, pull_request: PullRequest, head_sha: str, body: Body, *, concluded: bool
) -> None:
    """A concluded check run is not opened again: a head that is checked again gets a new one."""
    number, is_concluded = await threaded(work.store.check_run, pull_request.id, head_sha) or (None, False)
    if number is None or (is_concluded and not concluded):
        # One that was made and not kept, for the App was stopped in between.
        newest = await writing.find_check_run(client, pull_request.repository, pull_request.number, head_sha)
        number = newest if newest != number else None
    elif is_concluded:
        # What was annotated stays; GitHub would add it once more.
        body = {**body, "output": {k: v for k, v in body["output"].items() if k != "annotations"}}
    if number is None:
        number = await writing.create_check_run(client, pull_request.repository, body)
    else:
        await writing.edit_check_run(client, pull_request.repository, number, body)
    await threaded(work.store.keep_check_run, pull_request.id, head_sha, number, concluded=concluded)


async def show_comment(
    work: Work,
    client: Client,
    pull_request: PullRequest,
    checked: Checked,
    config: RepositoryConfig,
    *,
    was_asked_for: bool,
) -> str | None:
    """Writes the one comment, where there is to be one; its address, or None.

    `was_asked_for`: somebody wants to see what this check changed, be it nothing.
    """
    answers = await threaded(work.store.answers, pull_request.id)
    comment = await _comment(work, client, pull_request)
    gone = pull_request.comment_gone
    if gone or not should_post(checked, config.comment, comment is not None, answers):
        return None
    # Shown once more, after an answer, it is still compared with what it was compared with.
    shown = await threaded(work.store.checked, pull_request.comment_run)
    is_new = shown is None or (shown.run != checked.run and (was_asked_for or not _says_the_same(shown, checked)))
    run_before = pull_request.comment_run if is_new else pull_request.comment_before
    before = await threaded(work.store.checked, run_before)
    is_closed_off = before is not None and await tells_what_is_gone(client, before, checked)
    if is_closed_off:
        # Nor is it compared with when it is written anew after an answer.
        run_before = before = None
    body = render_comment(checked, web=work.web, before=before, answers=answers)
    if is_closed_off:
        comment = await post_anew(work, client, pull_request, body)
        await empty_check_runs(work, client, pull_request, checked.head_sha)
    elif comment is None:
        comment = await writing.create_comment(client, pull_request.repository, pull_request.number, body)
    elif not await writing.edit_comment(client, pull_request.repository, comment, body):
        await threaded(work.store.change, pull_request.id, comment_gone=True)
        log.info("the comment was deleted, and is not posted again", extra=_about(pull_request))
        return None
    if comment is None:
        # The check run alone tells; the next check tries again.
        return None
    await threaded(
        work.store.change, pull_request.id, comment_id=comment, comment_run=checked.run, comment_before=run_before
    )
    return comment_address(work, pull_request, comment)


def comment_address(work: Work, pull_request: PullRequest, comment: int | None) -> str | None:
    """Where a comment of a pull request is shown."""
    place = f"{work.web}/{pull_request.repository}/pull/{pull_request.number}"
    return None if comment is None else f"{place}#issuecomment-{comment}"


def _says_the_same(shown: Checked, now: Checked) -> bool:
    """A delivery that came late asks for a check of what was checked already: what changed before that stays told."""
    return (shown.head_sha, shown.inputs, _proofs(shown)) == (now.head_sha, now.inputs, _proofs(now))


def _proofs(checked: Checked) -> tuple[object, ...]:
    return checked.report.verdict, checked.report.backend, sorted(map(digest_of, checked.report.findings))


async def _comment(work: Work, client: Client, pull_request: PullRequest) -> int | None:
    """By its kept number; else by marker and author, for the App may have been stopped before it kept it."""
    if pull_request.comment_id is not None:
        return pull_request.comment_id
    return await writing.find_comment(
        client, pull_request.repository, pull_request.number, begin=MARKER, login=work.login
    )


def _about(pull_request: PullRequest) -> dict[str, object]:
    return {"repository": pull_request.repository, "number": pull_request.number}
