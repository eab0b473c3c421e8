"""Durable work, on DBOS: a delivery that was answered 202 is done, though the process may be killed at any moment.

`handle` does a task, one after another for each pull request; it may ask for a `check`, of which each pull request has
one at a time. Steps are coarse and may run twice; they give back ids and words, never texts or secrets.
"""

from __future__ import annotations

import logging
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from dbos import DBOS, DBOSClient, DBOSConfig, DBOSPortableJSONSerializer, EnqueueOptions

from bot import doing, examining
from bot.auth import Gone, Suspended
from bot.database import engine_url
from bot.examining import Forgotten
from bot.tasks import Kind, Task, read_task
from bot.work import Work
from checker.github.client import GitHubError, NotFoundError

log = logging.getLogger(__name__)

_NAME, _INBOX, _CHECKS = "paichecker", "inbox", "checks"
# Left alone by a new release: a run that an older one began is finished by the newer one.
_VERSION = "1"
# A crash loop of the machine must not make good work look bad.
_MOST_RECOVERIES = 100
_TASKS_AT_ONCE, _CHECKS_AT_ONCE = 16, 8
# What GitHub does not answer is asked for again for about half an hour; it has been down for ten minutes.
_PATIENCE: dict[str, Any] = {"retries_allowed": True, "interval_seconds": 2, "backoff_rate": 1.6, "max_attempts": 15}
_STOPPING_SECONDS = 30

_work: Work | None = None
"""DBOS calls workflows by their names; what they work with stands here while it runs."""


def _the_work() -> Work:
    if _work is None:
        raise RuntimeError("durable work was called before `start`")
    return _work


def _will_pass(error: BaseException) -> bool:
    """Whether the same may succeed later: no answer, a limit, a failure of GitHub's or of the database."""
    if isinstance(error, GitHubError):
        is_meant = isinstance(error, Gone | Suspended | NotFoundError)
        return not is_meant and (error.status is None or error.status >= 500)
    return isinstance(error, sa.exc.OperationalError)


def _step(name: str, **options: Any) -> Callable[[Any], Any]:
    return DBOS.step(name=name, should_retry=_will_pass, **{**_PATIENCE, **options})


@DBOS.workflow(name="handle", max_recovery_attempts=_MOST_RECOVERIES)
async def _handle(task: dict[str, Any]) -> None:
    try:
        asked = await _do(task)
    except (GitHubError, Forgotten) as error:
        log.warning("a task was given up: %s", error, extra=_about(task))
        return
    for check in asked:
        await _enqueue_check(**check)
    if task["kind"] == Kind.FORGET and "repository_id" not in task:
        await _delete_work(f"{task['installation']}-", but=str(DBOS.workflow_id))


@_step("delete work")
async def _delete_work(prefix: str, *, but: str) -> None:
    """What was done for an installation that is gone: names of people and repositories stand in it."""
    done = await DBOS.list_workflows_async(workflow_id_prefix=prefix, load_input=False, load_output=False)
    ids = [workflow.workflow_id for workflow in done if workflow.workflow_id != but]
    if ids:
        await DBOS.delete_workflows_async(ids)


@_step("do")
async def _do(task: dict[str, Any]) -> list[dict[str, Any]]:
    return [asked.__dict__ for asked in await doing.do(_the_work(), read_task(task))]


async def _enqueue_check(installation: int, pull_request: int, partition: str, trigger: int, delay: int = 0) -> None:
    await DBOS.enqueue_workflow_with_options_async(
        {
            "workflow_name": "check",
            "queue_name": _CHECKS,
            "workflow_id": f"{installation}-check-{pull_request}-{trigger}",
            "queue_partition_key": partition,
            "delay_seconds": float(delay),
        },
        pull_request,
        trigger,
    )


@DBOS.workflow(name="check", max_recovery_attempts=_MOST_RECOVERIES)
async def _check(pull_request: int, trigger: int) -> str:
    run = f"{DBOS.workflow_id}"
    try:
        return await _examine(pull_request, trigger, run)
    except (GitHubError, Forgotten) as error:
        log.warning("a check was given up: %s", error, extra={"run": run})
    except Exception:  # whatever it is, the log must tell, and the head's check run must be concluded
        log.exception("a check failed", extra={"run": run})
    try:
        await _show_failure(run)
    except (GitHubError, Forgotten) as error:
        log.warning("a failed check could not be concluded: %s", error, extra={"run": run})
    return "failed"


async def _examine(pull_request: int, trigger: int, run: str) -> str:
    if await _begin(pull_request, trigger, run) is None:
        return "nothing to do"
    if not await _read(run):
        return "skipped"
    verdict = await _judge(run)
    if await _publish(run):
        # The head has moved: the push has been or will be told of, or the delivery was lost.
        await _again(pull_request, run)
        return "superseded"
    return str(verdict)


@_step("begin")
async def _begin(pull_request: int, trigger: int, run: str) -> str | None:
    return await examining.begin(_the_work(), pull_request, trigger, run)


@_step("collect")
async def _read(run: str) -> bool:
    return await examining.read_pair(_the_work(), run)


@_step("check", max_attempts=3)
async def _judge(run: str) -> str:
    return await examining.judge(_the_work(), run)


@_step("publish")
async def _publish(run: str) -> bool:
    return await examining.publish(_the_work(), run)


@_step("show failure")
async def _show_failure(run: str) -> None:
    await examining.show_failure(_the_work(), run)


async def _again(pull_request: int, run: str) -> None:
    asked = await _superseded(pull_request, run)
    if asked is not None:
        await _enqueue_check(**asked)


@_step("ask again")
async def _superseded(pull_request: int, run: str) -> dict[str, Any] | None:
    asked = await examining.ask_again(_the_work(), pull_request, run)
    return asked.__dict__ if asked else None


def _about(task: dict[str, Any]) -> dict[str, object]:
    return {"delivery": task["key"], "repository": task.get("repository"), "number": task.get("number")}


def _options(task: Task) -> EnqueueOptions:
    return {
        "workflow_name": "handle",
        "queue_name": _INBOX,
        "workflow_id": f"{task.installation}-{task.key}-{task.kind}",
        "queue_partition_key": task.partition,
    }


async def enqueue(task: Task) -> None:
    """Keeps a task. Kept twice it is done once."""
    await DBOS.enqueue_workflow_with_options_async(_options(task), task.as_json())


@asynccontextmanager
async def outside(database_url: str) -> AsyncIterator[Callable[[Task], Awaitable[None]]]:
    """Keeps tasks from another process, for the server to do."""
    client = DBOSClient(
        system_database_url=engine_url(database_url, "jobs"),
        serializer=DBOSPortableJSONSerializer(),
        application_name=_NAME,
    )

    async def enqueue_there(task: Task) -> None:
        await client.enqueue_async(_options(task), task.as_json())

    try:
        yield enqueue_there
    finally:
        client.destroy()


async def start(work: Work, database_url: str, *, executor: str) -> None:
    """Takes up what was left, and waits for more. `executor`: this process's name, the same after a restart.

    To be called in the event loop that the work shall run in; it blocks while tables are made.
    """
    global _work
    _work = work
    url = engine_url(database_url, "jobs")
    if url.startswith("sqlite"):
        # DBOS would make it readable for all.
        os.close(os.open(url.removeprefix("sqlite:///"), os.O_RDWR | os.O_CREAT, 0o600))
    config: DBOSConfig = {
        "name": _NAME,
        "system_database_url": url,
        "application_version": _VERSION,
        "executor_id": executor,
        "serializer": DBOSPortableJSONSerializer(),
        "sys_db_pool_size": 2 if url.startswith("sqlite") else 10,
        "log_level": "WARNING",
        "max_executor_threads": 16,
    }
    DBOS(config=config)
    DBOS.listen_queues([_INBOX, _CHECKS])
    DBOS.launch()
    for name, most in ((_INBOX, _TASKS_AT_ONCE), (_CHECKS, _CHECKS_AT_ONCE)):
        await DBOS.register_queue_async(
            name,
            partition_concurrency=1,
            worker_concurrency=most,
            polling_interval_sec=0.2,
            on_conflict="always_update",
        )


def stop() -> None:
    """Lets running steps end, for half a minute; what is left is taken up at the next start."""
    global _work
    DBOS.destroy(workflow_completion_timeout_sec=_STOPPING_SECONDS)
    _work = None


async def forget_old(before: datetime) -> int:
    """Deletes work that ended before; a delivery of that age would be done anew. How much there was."""
    old = await DBOS.list_workflows_async(
        status=["SUCCESS", "ERROR", "CANCELLED"],
        completed_before=before.isoformat(),
        load_input=False,
        load_output=False,
    )
    ids = [workflow.workflow_id for workflow in old]
    if ids:
        await DBOS.delete_workflows_async(ids)
    return len(ids)
