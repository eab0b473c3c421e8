"""The App's database: SQLite in a file, or PostgreSQL. Every method is one transaction and blocks: call it in a thread.

What is written twice by a step that ran twice is written once: rows are found by keys that come from GitHub.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from bot import tables
from bot.checked import Checked
from bot.database import are, open_engine
from bot.ledger import Ledger, pull_requests_of
from checker import __version__
from checker.pair import Pair, read_pair, write_pair
from checker.report import read_report, write_report

# Why the App itself asks for a check: the push behind it is counted already, or was never told of.
_OWN_REASONS = ("missed", "superseded")


@dataclass(frozen=True)
class PullRequest:
    """A pull request that the App was told of. `repository`: its present name, owner/name.

    `covered`: the newest trigger that a finished check has seen. `comment_run`: the check that the comment shows,
    `comment_before`: the one that it compares it with.
    """

    id: int
    installation: int
    repository_id: int
    repository: str
    number: int
    author: str | None
    covered: int
    comment_id: int | None
    comment_gone: bool
    comment_run: str | None
    comment_before: str | None
    ignored: bool

    @property
    def partition(self) -> str:
        """As `bot.tasks.Task.partition`."""
        return f"{self.repository_id}/{self.number}"


@dataclass(frozen=True)
class Run:
    """One check of one head. `config`: the repository's settings as read for it; None where there are none."""

    id: str
    pull_request: int
    head_sha: str
    trigger: int
    shadow: bool
    config: str | None


class Store(Ledger):
    """Made by `open_store`."""

    # Pull requests

    def pull_request(self, installation: int, repository_id: int, repository: str, number: int) -> PullRequest:
        """The pull request's row, made where there is none; its repository by the name that it has now."""
        found = {"installation": installation, "repository": repository}
        with self._begin() as connection:
            self._insert(
                connection,
                tables.pull_requests,
                {"repository_id": repository_id, "number": number, **found},
                update=found,
                on=("repository_id", "number"),
            )
            row = connection.execute(
                sa.select(tables.pull_requests).where(
                    are(tables.pull_requests, repository_id=repository_id, number=number)
                )
            ).one()
        return PullRequest(**row._mapping)

    def by_id(self, pull_request: int) -> PullRequest | None:
        """A pull request that is still known."""
        with self._begin() as connection:
            row = connection.execute(
                sa.select(tables.pull_requests).where(are(tables.pull_requests, id=pull_request))
            ).one_or_none()
        return PullRequest(**row._mapping) if row else None

    def known(self, repository_id: int, number: int) -> PullRequest | None:
        """The same by number, where the App was told of it."""
        with self._begin() as connection:
            wanted = are(tables.pull_requests, repository_id=repository_id, number=number)
            row = connection.execute(sa.select(tables.pull_requests).where(wanted)).one_or_none()
        return PullRequest(**row._mapping) if row else None

    def change(self, pull_request: int, **values: Any) -> None:
        """Sets columns of a pull request."""
        with self._begin() as connection:
            connection.execute(
                sa.update(tables.pull_requests).where(are(tables.pull_requests, id=pull_request)).values(**values)
            )

    def linked_to(self, repository: str, number: int | None) -> list[PullRequest]:
        """The pull requests whose last check read this issue, or (None) any issue of this repository."""
        links = tables.linked_issues
        wanted = links.c.repository == repository.lower()
        if number is not None:
            wanted &= links.c.number == number
        return self._pull_requests(tables.pull_requests.c.id.in_(sa.select(links.c.pull_request).where(wanted)))

    def with_head(self, repository_id: int, head_sha: str) -> list[PullRequest]:
        """The pull requests of a repository that have or had this head."""
        of_head = sa.select(tables.check_runs.c.pull_request).where(tables.check_runs.c.head_sha == head_sha)
        table = tables.pull_requests
        return self._pull_requests((table.c.repository_id == repository_id) & table.c.id.in_(of_head))

    def _pull_requests(self, wanted: sa.ColumnElement[bool]) -> list[PullRequest]:
        with self._begin() as connection:
            rows = connection.execute(sa.select(tables.pull_requests).where(wanted).order_by(tables.pull_requests.c.id))
            return [PullRequest(**row._mapping) for row in rows]

    def rename(self, repository_id: int, repository: str, installation: int, *, former: str = "") -> None:
        """A repository has another name now, or another owner. `former`: its name before, where it is told.

        Its issues are linked by name, also where nothing but a link is known of it.
        """
        pulls = tables.pull_requests
        with self._begin() as connection:
            wanted = pulls.c.repository_id == repository_id
            names = set(connection.execute(sa.select(pulls.c.repository).where(wanted).distinct()).scalars())
            values = {"repository": repository, "installation": installation}
            connection.execute(sa.update(pulls).where(wanted).values(**values))
            for name in sorted({former, *names} - {""}):
                self._rename_links(connection, name.lower(), repository.lower())

    def is_renamed(self, repository_id: int, repository: str) -> bool:
        """Whether pull requests of a repository are known under another name."""
        table = tables.pull_requests
        with self._begin() as connection:
            wanted = (table.c.repository_id == repository_id) & (table.c.repository != repository)
            return connection.execute(sa.select(table.c.id).where(wanted).limit(1)).first() is not None

    def rename_account(self, installation: int, former: str, login: str) -> None:
        """Who owns the repositories of an installation has another login now."""
        pulls, links = tables.pull_requests, tables.linked_issues
        begins = f"{former.lower()}/"
        with self._begin() as connection:
            theirs = sa.func.lower(pulls.c.repository).startswith(begins, autoescape=True)
            theirs &= pulls.c.installation == installation
            for name in connection.execute(sa.select(pulls.c.repository).where(theirs).distinct()).scalars().all():
                renamed = sa.update(pulls).where(pulls.c.repository == name, pulls.c.installation == installation)
                connection.execute(renamed.values(repository=f"{login}/{name.partition('/')[2]}"))
            linked = sa.select(links.c.repository).where(links.c.repository.startswith(begins, autoescape=True))
            for name in connection.execute(linked.distinct()).scalars().all():
                self._rename_links(connection, name, f"{login.lower()}/{name.partition('/')[2]}")

    def _rename_links(self, connection: sa.Connection, former: str, now: str) -> None:
        """Some may be known under both names."""
        links = tables.linked_issues
        wanted = links.c.repository == former
        if former == now:
            return
        for row in connection.execute(sa.select(links).where(wanted)).all():
            self._insert(connection, links, {**row._mapping, "repository": now})
        connection.execute(sa.delete(links).where(wanted))

    def forget(self, *, installation: int, repository_id: int | None = None) -> None:
        """Deletes all that is kept of an installation, or of one repository of it."""
        with self._begin() as connection:
            wanted = tables.pull_requests.c.installation == installation
            if repository_id is not None:
                wanted &= tables.pull_requests.c.repository_id == repository_id
            connection.execute(sa.delete(tables.pull_requests).where(wanted))
            if repository_id is None:
                connection.execute(sa.delete(tables.replies).where(tables.replies.c.installation == installation))

    def repositories(self) -> list[tuple[int, int, str]]:
        """Installation, id and name of every repository with a pull request that is known."""
        columns = [tables.pull_requests.c[name] for name in ("installation", "repository_id", "repository")]
        with self._begin() as connection:
            return [tuple(row) for row in connection.execute(sa.select(*columns).distinct())]

    # Triggers and runs

    def trigger(self, pull_request: int, *, key: str, why: str, who: str | None, at: datetime) -> int:
        """What asks for a check, kept once for each key; its number, which grows."""
        with self._begin() as connection:
            values = {"pull_request": pull_request, "key": key, "why": why, "who": who, "at": at}
            self._insert(connection, tables.triggers, values)
            return int(
                connection.execute(sa.select(tables.triggers.c.id).where(are(tables.triggers, key=key))).scalar_one()
            )

    def is_trigger(self, key: str) -> bool:
        """Whether something that asks for a check is kept under this key."""
        with self._begin() as connection:
            return (
                connection.execute(sa.select(tables.triggers.c.id).where(are(tables.triggers, key=key))).first()
                is not None
            )

    def uncovered(self, installation: int) -> list[PullRequest]:
        """The pull requests of an installation for which a check was asked, and none has seen that."""
        newest = sa.select(sa.func.max(tables.triggers.c.id)).where(
            tables.triggers.c.pull_request == tables.pull_requests.c.id
        )
        table = tables.pull_requests
        return self._pull_requests(
            (table.c.installation == installation) & (table.c.covered < newest.scalar_subquery())
        )

    def trigger_times(self, pull_request: int, since: datetime) -> list[datetime]:
        """When people asked for checks of a pull request; the App asks by itself for what was missed."""
        table = tables.triggers
        by_people = table.c.why.not_in(_OWN_REASONS)
        return self._times(table.c.at, table.c.pull_request == pull_request, by_people, table.c.at > since)

    def trigger_times_of(self, who: str, repository_id: int, since: datetime) -> list[datetime]:
        """When somebody asked for checks in a repository."""
        table = tables.triggers
        of_repository = table.c.pull_request.in_(pull_requests_of(repository_id))
        return self._times(table.c.at, table.c.who == who, of_repository, table.c.at > since)

    def newest_trigger(self, pull_request: int) -> int:
        """The number of the newest trigger; 0 where there is none."""
        with self._begin() as connection:
            wanted = tables.triggers.c.pull_request == pull_request
            return int(connection.execute(sa.select(sa.func.max(tables.triggers.c.id)).where(wanted)).scalar() or 0)

    def reasons(self, pull_request: int, after: int) -> set[str]:
        """Why checks were asked for since a trigger."""
        table = tables.triggers
        with self._begin() as connection:
            wanted = (table.c.pull_request == pull_request) & (table.c.id > after)
            return set(connection.execute(sa.select(table.c.why).where(wanted)).scalars())

    def begin_run(self, run: Run, at: datetime) -> None:
        """Keeps a run that begins; one that began before begins anew."""
        values = {
            "id": run.id,
            "pull_request": run.pull_request,
            "head_sha": run.head_sha,
            "trigger": run.trigger,
            "shadow": run.shadow,
            "config": run.config,
            "started_at": at,
            "version": __version__,
        }
        with self._begin() as connection:
            self._insert(connection, tables.runs, values, update=values, on=("id",))

    def run(self, run: str) -> Run | None:
        """A run that is still known."""
        columns = [tables.runs.c[name] for name in Run.__dataclass_fields__]
        with self._begin() as connection:
            row = connection.execute(sa.select(*columns).where(are(tables.runs, id=run))).one_or_none()
        return Run(**row._mapping) if row else None

    def keep_pair(self, run: str, pair: Pair, inputs: dict[str, str]) -> set[tuple[str, int]]:
        """What a run read, and which issues it thereby depends on; those that were not known, as `linked_issues`."""
        links = tables.linked_issues
        with self._begin() as connection:
            values = {"pair": write_pair(pair), "inputs": inputs}
            connection.execute(sa.update(tables.runs).where(are(tables.runs, id=run)).values(**values))
            of = connection.execute(sa.select(tables.runs.c.pull_request).where(are(tables.runs, id=run))).scalar_one()
            known = connection.execute(sa.select(links.c.repository, links.c.number).where(links.c.pull_request == of))
            before = {(row[0], row[1]) for row in known}
            connection.execute(sa.delete(links).where(links.c.pull_request == of))
            read = ((issue.repository or pair.repository or "", issue.number) for issue in pair.issues)
            now = {(home.lower(), number) for home, number in read if number is not None}
            for home, number in now:
                self._insert(connection, links, {"pull_request": of, "repository": home, "number": number})
        return now - before

    def pair(self, run: str) -> Pair:
        """What a run read."""
        with self._begin() as connection:
            return read_pair(
                connection.execute(sa.select(tables.runs.c.pair).where(are(tables.runs, id=run))).scalar_one()
            )

    def keep_report(self, run: str, checked: Checked) -> None:
        """What a run found."""
        values = {
            "report": write_report(checked.report),
            "verdict": checked.report.verdict.value,
            "finished_at": checked.checked_at,
            "seconds": checked.seconds,
        }
        with self._begin() as connection:
            connection.execute(sa.update(tables.runs).where(are(tables.runs, id=run)).values(**values))

    def checked(self, run: str | None) -> Checked | None:
        """A finished run; None where it is not known, or not finished."""
        query = sa.select(tables.runs, tables.pull_requests.c.repository, tables.pull_requests.c.number)
        with self._begin() as connection:
            row = connection.execute(query.join(tables.pull_requests).where(tables.runs.c.id == run)).one_or_none()
        return _checked(row._mapping) if row and row.report is not None else None

    def last_checked(self, pull_request: int) -> Checked | None:
        """The newest finished run of a pull request."""
        newest = (
            sa.select(tables.runs.c.id)
            .where(tables.runs.c.pull_request == pull_request, tables.runs.c.report.is_not(None))
            .order_by(tables.runs.c.trigger.desc(), tables.runs.c.started_at.desc())
            .limit(1)
        )
        with self._begin() as connection:
            run = connection.execute(newest).scalar()
        return self.checked(run) if run else None

    def cover(self, pull_request: int, trigger: int) -> None:
        """A finished check has seen all triggers up to this one."""
        table = tables.pull_requests
        with self._begin() as connection:
            wanted = are(tables.pull_requests, id=pull_request) & (table.c.covered < trigger)
            connection.execute(sa.update(table).where(wanted).values(covered=trigger))

    # Check runs

    def keep_check_run(self, pull_request: int, head_sha: str, check_run_id: int, *, concluded: bool) -> None:
        """The check run of a head."""
        values = {"check_run_id": check_run_id, "concluded": concluded}
        row = {"pull_request": pull_request, "head_sha": head_sha, **values}
        with self._begin() as connection:
            self._insert(connection, tables.check_runs, row, update=values, on=("pull_request", "head_sha"))

    def check_run(self, pull_request: int, head_sha: str) -> tuple[int, bool] | None:
        """Number of a head's check run, and whether it is concluded."""
        table = tables.check_runs
        with self._begin() as connection:
            row = connection.execute(
                sa.select(table.c.check_run_id, table.c.concluded).where(
                    table.c.pull_request == pull_request, table.c.head_sha == head_sha
                )
            ).one_or_none()
        return (row[0], row[1]) if row else None

    def open_check_runs(self, pull_request: int, *, but: str) -> list[tuple[str, int]]:
        """Heads, and numbers of their check runs, that are not concluded, but for one head."""
        table = tables.check_runs
        with self._begin() as connection:
            rows = connection.execute(
                sa.select(table.c.head_sha, table.c.check_run_id).where(
                    table.c.pull_request == pull_request, ~table.c.concluded, table.c.head_sha != but
                )
            )
            return [(row[0], row[1]) for row in rows]


def open_store(url: str) -> Store:
    """The database at `sqlite:///FILE` or `postgresql://...`, brought up to its newest form.

    Raises `sqlalchemy.exc.OperationalError` where it does not answer.
    """
    return Store(open_engine(url))


def _checked(row: Any) -> Checked:
    return Checked(
        run=row["id"],
        repository=row["repository"],
        number=row["number"],
        head_sha=row["head_sha"],
        report=read_report(row["report"]),
        checked_at=row["finished_at"],
        seconds=row["seconds"],
        inputs=row["inputs"] or {},
    )
