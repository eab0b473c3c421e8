"""What `bench/chaos.py` finds at the end: on githubd, in the App's tables and in those of its durable work."""

from __future__ import annotations

import itertools
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from chaos_world import SLUG, Call, People, PullRequest

from bot import tables
from bot.answered import answered
from bot.comment import MARKER
from bot.database import engine_url
from bot.store import Store
from checker.pair import read_pair

OURS = frozenset({"pull_request", "issue_comment", "issues"})
"""Events that people's acts make; the others ask for nothing."""
WAITING = frozenset({"PENDING", "ENQUEUED", "DELAYED"})
_STORING_SECONDS = 5.0
_CLAIMED = re.compile(r"also adds `(\w+)`")


@dataclass(frozen=True)
class Delivery:
    """All attempts at one delivery. `last` is the number of the newest one."""

    guid: str
    taken: bool
    done: bool
    last: int


def deliveries(rows: Iterable[Mapping[str, Any]]) -> list[Delivery]:
    """What people's acts made, of `/_ctl/deliveries?full=1`."""
    attempts: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for row in rows:
        if row["event"] in OURS and row["payload"]["sender"]["login"] != f"{SLUG}[bot]":
            attempts[row["guid"]].append(row)
    return [
        Delivery(guid, any(row["status_code"] == 202 for row in of), all(row["done"] for row in of), of[-1]["id"])
        for guid, of in attempts.items()
    ]


@dataclass(frozen=True)
class Workflow:
    """One piece of durable work. `starts`: how often it was begun."""

    id: str
    name: str
    status: str
    starts: int
    output: str


class Jobs:
    """The tables of DBOS."""

    def __init__(self, url: str) -> None:
        self._engine = sa.create_engine(engine_url(url, "jobs"), poolclass=sa.pool.NullPool)
        schema = None if url.startswith("sqlite") else "dbos"
        names = ("workflow_uuid", "name", "status", "recovery_attempts")
        work = sa.table("workflow_status", *map(sa.column, names), schema=schema)
        ended = sa.table("workflow_output", sa.column("workflow_uuid"), sa.column("output"), schema=schema)
        output = sa.func.coalesce(ended.c.output, "")
        self._query = sa.select(*(work.c[name] for name in names), output).select_from(
            work.outerjoin(ended, work.c.workflow_uuid == ended.c.workflow_uuid)
        )

    def all(self) -> list[Workflow]:
        """Everything that was ever begun."""
        with self._engine.connect() as connection:
            return [Workflow(*row) for row in connection.execute(self._query)]


def is_done(delivery: Delivery, jobs: Sequence[Workflow]) -> bool:
    """Whether what it asked for ended well."""
    return any(delivery.guid in job.id and job.status == "SUCCESS" for job in jobs)


def lost_work(found: Sequence[Delivery], jobs: Sequence[Workflow]) -> Iterator[str]:
    """Deliveries that were not taken, or not done; work that did not end well."""
    for delivery in found:
        if not delivery.taken:
            yield f"delivery {delivery.guid} was never acknowledged"
        elif not is_done(delivery, jobs):
            yield f"delivery {delivery.guid} was acknowledged and is not done"
    for job in jobs:
        if job.status != "SUCCESS":
            yield f"{job.name} {job.id} is {job.status} after {job.starts} starts"
        elif job.name == "check" and "failed" in job.output:
            yield f"{job.name} {job.id} failed"


class Verdict:
    """What is to be seen on githubd, held against what the people did. `state`: `/_ctl/state?mine=1`."""

    def __init__(self, people: People, state: Mapping[str, Any], store: Store) -> None:
        self._people = people
        self._store = store
        self._comments: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
        for comment in state["comments"]:
            if not comment["deleted"]:
                self._comments[comment["issue"]].append(comment)
        self._check_runs: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
        for run in state["check_runs"]:
            self._check_runs[run["head_sha"]].append(run)
        self._rows = {
            (row.repository, row.number): row for row in store.select(sa.select(tables.pull_requests)) if row.number
        }

    def problems(self) -> Iterator[str]:
        """What was lost, doubled or is stale, a sentence each."""
        for pull in self._people.pulls:
            name = f"{pull.repository}#{pull.number}"
            for problem in (*self._of_comment(pull), *self._of_check_runs(pull), *self._of_triggers(pull)):
                yield f"{name}: {problem}"
        yield from self._of_answers()
        yield from self._of_ledger()

    def comments(self) -> Counter[int]:
        """Comments of ours on each pull request that claims something: how many have how many."""
        return Counter(len(self._shown(pull)) for pull in self._people.pulls if pull.claims)

    def _shown(self, pull: PullRequest) -> list[Mapping[str, Any]]:
        ours = self._comments[f"{pull.repository}#{pull.number}"]
        return [comment for comment in ours if comment["body"].startswith(MARKER)]

    def _of_comment(self, pull: PullRequest) -> Iterator[str]:
        shown = self._shown(pull)
        row = self._rows[pull.repository, pull.number]
        if len(shown) not in self._deserved(pull, row.id):
            yield f"{len(shown)} comments, and it deserves {int(pull.claims)}"
        if not pull.claims or len(shown) != 1:
            return
        if row.comment_id != shown[0]["id"]:
            yield "the comment is not the one that was kept"
        if pull.heads[-1] not in shown[0]["body"]:
            yield "the comment is about an older head"
        yield from self._of_run(pull, row.comment_run, shown[0]["body"])

    def _deserved(self, pull: PullRequest, row: int) -> set[int]:
        """What was disputed before it was shown may, and need not, have a comment that says so."""
        checked = self._store.last_checked(row)
        points = answered(checked.report.findings, self._store.answers(row)) if checked else ()
        is_disputed = points and not any(point.is_open for point in points)
        return {0, 1} if is_disputed and pull.claims else {int(pull.claims)}

    def _of_run(self, pull: PullRequest, run: str, body: str) -> Iterator[str]:
        query = sa.select(tables.runs.c.head_sha, tables.runs.c.pair).where(tables.runs.c.id == run)
        head, read = self._store.select(query)[0]
        pair = read_pair(read)
        if head != pull.heads[-1]:
            yield "the check that is shown is of an older head"
        if pair.pull_request.body != pull.body:
            yield "the check that is shown read an older description"
        issue = pair.issues[0]
        if not (issue.edited or issue.body).endswith(pull.issue_body):
            yield "the check that is shown read an older issue"
        claim = _CLAIMED.search(pull.body)
        if claim and claim[1] not in body and "disputed what was found" not in body:
            yield "the comment quotes an older description"

    def _of_check_runs(self, pull: PullRequest) -> Iterator[str]:
        for head in pull.heads:
            runs = self._check_runs[head]
            if not runs:
                yield f"head {head[:7]} has no check run"
            yield from (f"a check run of {head[:7]} is {r['status']}" for r in runs if r["status"] != "completed")
        newest = self._check_runs[pull.heads[-1]]
        for run in newest:
            if "uperseded" in run["title"]:
                yield f"check run {run['id']} of the newest head says that it is superseded"
        if newest and newest[-1]["title"] in ("PAIChecker failed", "Not checked"):
            yield f"the newest head's check run says {newest[-1]['title']!r}"

    def _of_triggers(self, pull: PullRequest) -> Iterator[str]:
        row = self._rows[pull.repository, pull.number]
        if row.covered < self._store.newest_trigger(row.id):
            yield "a check that was asked for was not made"

    def _of_answers(self) -> Iterator[str]:
        everything = [comment for of in self._comments.values() for comment in of]
        for kind, wanted in (("explain", {1}), ("dispute", {0, 1}), ("recheck", {0}), ("say", {0})):
            for number, _ in self._people.comments.get(kind, ()):
                begin = f"<!-- paichecker:answer {number}/"
                count = sum(comment["body"].startswith(begin) for comment in everything)
                if count not in wanted:
                    yield f"comment {number} ({kind}) has {count} answers"

    def _of_ledger(self) -> Iterator[str]:
        """A dispute is one row or one answer that refuses it; another reply is one row at most."""
        rows = Counter(row.key.partition("/")[0] for row in self._store.select(sa.select(tables.answers.c.key)))
        seen = Counter(row.comment_id for row in self._store.select(sa.select(tables.commands.c.comment_id)))
        begins = {comment["body"][:60] for of in self._comments.values() for comment in of}
        for kind in ("dispute", "say", "explain", "recheck"):
            for number, _ in self._people.comments.get(kind, ()):
                if seen[number] != (kind != "say"):
                    yield f"comment {number} ({kind}) stands {seen[number]} times among the commands"
                refused = any(begin.startswith(f"<!-- paichecker:answer {number}/") for begin in begins)
                if kind == "dispute" and rows[str(number)] + refused != 1:
                    yield f"dispute {number} has {rows[str(number)]} rows and {int(refused)} refusals"
                if kind == "say" and rows[str(number)] > 1:
                    yield f"reply {number} has {rows[str(number)]} rows"


@dataclass(frozen=True)
class Paid:
    """Calls of the model: all, those that had been made before, and of these those that no kill explains.

    Each of the last tells the seconds from the first answer to the next kill (None: there was none), and to the second
    call.
    """

    calls: int
    twice: int
    unexplained: tuple[tuple[float | None, float], ...]


def paid(calls: Sequence[Call], kills: Sequence[float]) -> Paid:
    """A kill explains a second call if the first one was in flight, or its answer was about to be stored."""
    by_key: dict[str, list[Call]] = defaultdict(list)
    for call in sorted(calls, key=lambda call: call.came):
        by_key[call.key].append(call)
    again = [(before, call) for of in by_key.values() for before, call in itertools.pairwise(of)]
    unexplained = []
    for before, call in again:
        kill = next((kill for kill in kills if before.came <= kill <= call.came), None)
        if kill is None or kill > before.answered + _STORING_SECONDS:
            late = None if kill is None else round(kill - before.answered, 1)
            unexplained.append((late, round(call.came - before.answered, 1)))
    return Paid(len(calls), len(again), tuple(unexplained))


def again(calls: Paid) -> Iterator[str]:
    """A sentence on each call that no kill explains."""
    for late, later in calls.unexplained:
        yield f"a call to the model was made again {later} s after its answer, the next kill {late} s after it"
