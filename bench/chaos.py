"""`kill -9` of the App at random moments, while people work on githubd: what is lost, doubled or stale?

PYTHONPATH=.:tests python bench/chaos.py [--database sqlite|postgresql] [--kills 50] [--deliveries 200]
    [--pull-requests 20] [--seed 1] [--pace 1] [--rules] [--logs FOLDER]

The App runs as `python -m bot` in a process of its own, githubd in another; the model is scripted, and takes 0.3 s for
a call (`--rules`: no model). Deliveries that met a dead App are delivered again, as its sweeper would ask GitHub to. At
the end everything is to be done: each delivery, one comment for each pull request that deserves one and about its
newest head, a conclusion for every head, one answer to each command. Of the calls to the model only those may be paid
twice that were in flight at a kill. Prints the figures, and as the last line the same as JSON; the exit status is 1 if
something was lost, doubled or stale. The variables are those of `tests/githubd_server.py` and `tests/databases.py`.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from anthropic_server import MessagesServer
from app_keys import rsa_pair
from chaos_app import App
from chaos_verdict import WAITING, Jobs, Verdict, Workflow, again, deliveries, is_done, lost_work, paid
from chaos_world import People, Script, world
from databases import database
from githubd_server import Githubd, free_port, githubd

from bot.store import open_store

_SECRET = "chaos"
_MODEL_SECONDS = 0.3
# As GitHub answers. What is written takes effect at the end of that time, also for one who was killed meanwhile.
_LATENCY: tuple[dict[str, Any], ...] = (
    {"method": "POST", "match": "/comments$|/check-runs$|/reactions$", "seconds": 0.4},
    {"method": "PATCH", "match": "/repos/", "seconds": 0.3},
    {"match": "/repos/|/graphql", "seconds": 0.1},
)
# How long the App lives between two kills, from the moment it is ready; some are killed while they start.
_LIVES = (0.2, 8.0)
_STARTS = (0.1, 2.5)
_KILLED_AT_START = 0.15
# What the end may take: a push waits 20 s for others, and the checks of a pull request wait for each other.
_END_SECONDS = 300


@dataclass(frozen=True)
class Options:
    """What is typed."""

    database: str
    kills: int
    deliveries: int
    pull_requests: int
    seed: int
    pace: float
    rules: bool
    logs: Path


@dataclass
class Result:
    """What came of it."""

    options: Options
    acts: Counter[str] = field(default_factory=Counter)
    problems: list[str] = field(default_factory=list)
    figures: dict[str, Any] = field(default_factory=dict)


class Run:
    """One run over one database."""

    def __init__(self, options: Options, url: str, served: Githubd, app: App, script: Script) -> None:
        self._served = served
        self._app = app
        self._jobs = Jobs(url)
        self._url = url
        self._script = script
        self._random = random.Random(options.seed)
        self._people = People(
            served.control, options.deliveries, options.pull_requests, random.Random(options.seed + 1)
        )
        self._finished = threading.Event()
        self._redelivered = 0
        self.result = Result(options)

    def go(self) -> Result:
        """Works, kills, waits, and looks."""
        self._served.control("limits", {"resource": "core", "limit": 1_000_000})
        self._served.control("limits", {"resource": "graphql", "limit": 1_000_000})
        for fault in _LATENCY:
            self._served.control("fault", {"kind": "delay", "count": None, **fault})
        self._app.start()
        self._app.wait()
        began = time.monotonic()
        killer = threading.Thread(target=self._kill)
        redeliverer = threading.Thread(target=self._redeliver)
        killer.start()
        redeliverer.start()
        self._work()
        killer.join()
        worked = time.monotonic() - began
        workflows = self._wait()
        self._finished.set()
        redeliverer.join()
        self._look(workflows)
        self.result.figures |= {"seconds": round(worked), "seconds at rest": round(time.monotonic() - began - worked)}
        return self.result

    def _work(self) -> None:
        options = self.result.options
        # The last deliveries still meet a third of the kills.
        pause = options.kills * (sum(_LIVES) / 2 * options.pace + 3) * 0.65 / options.deliveries
        for act in self._people.acts():
            self.result.acts[act] += 1
            time.sleep(pause * self._random.uniform(0, 2))

    def _kill(self) -> None:
        chance = random.Random(self.result.options.seed + 2)
        for _ in range(self.result.options.kills):
            if chance.random() < _KILLED_AT_START:
                time.sleep(chance.uniform(*_STARTS))
            else:
                with contextlib.suppress(TimeoutError):
                    self._app.wait()
                time.sleep(chance.uniform(*_LIVES) * self.result.options.pace)
            self._app.kill()
            self._app.start()

    def _redeliver(self) -> None:
        while not self._finished.wait(1.5):
            if self._app.is_ready():
                for delivery in deliveries(self._served.control("deliveries?full=1")):
                    if delivery.done and not delivery.taken:
                        self._served.control("redeliver", {"id": delivery.last})
                        self._redelivered += 1

    def _wait(self) -> Sequence[Workflow]:
        """Until all deliveries are taken and nothing is left to do, twice in a row; or until it took too long."""
        self._app.wait()
        end = time.monotonic() + _END_SECONDS
        calm = 0
        while calm < 2 and time.monotonic() < end:
            time.sleep(1)
            taken = all(one.taken for one in deliveries(self._served.control("deliveries?full=1")))
            waiting = any(job.status in WAITING for job in self._jobs.all())
            calm = calm + 1 if taken and not waiting else 0
        self._served.control("idle?seconds=1&timeout=20")
        return self._jobs.all()

    def _look(self, workflows: Sequence[Workflow]) -> None:
        found = deliveries(self._served.control("deliveries?full=1"))
        state, log = self._served.control("state?mine=1"), self._served.control("log")
        calls = paid(self._script.calls, self._app.kills)
        lost = [*lost_work(found, workflows)]
        store = open_store(self._url)
        try:
            verdict = Verdict(self._people, state, store)
            wrong, comments = [*verdict.problems()], verdict.comments()
        finally:
            store.close()
        broken = [f"githubd broke: {one}" for one in log["broken"]]
        self.result.problems += [*self._odd(len(found)), *lost, *wrong, *again(calls), *broken]
        pulls = self._people.pulls
        self.result.figures |= {
            "kills": len(self._app.kills),
            "deliveries": len(found),
            "acknowledged": sum(one.taken for one in found),
            "finished": sum(one.taken and is_done(one, workflows) for one in found),
            "delivered again": self._redelivered,
            "pull requests": len(pulls),
            "that deserve a comment": sum(pull.claims for pull in pulls),
            "with one comment": comments[1],
            "disputed before it was shown": comments[0],
            "heads": sum(len(pull.heads) for pull in pulls),
            "check runs": len(state["check_runs"]),
            "in progress": sum(run["status"] != "completed" for run in state["check_runs"]),
            **_of_work(workflows),
            "model calls": calls.calls,
            "paid twice": calls.twice,
            "paid twice without a kill": len(calls.unexplained),
            "requests to GitHub": log["total"],
            "statuses of GitHub": log["by_status"],
        }

    def _odd(self, count: int) -> Iterator[str]:
        if count != self.result.options.deliveries:
            yield f"{count} deliveries were made"
        yield from (f"the App ended by itself with status {status}" for status in self._app.ended)


def _of_work(workflows: Sequence[Workflow]) -> dict[str, Any]:
    return {
        "workflows": len(workflows),
        "checks": dict(Counter(job.output.strip('"') for job in workflows if job.name == "check")),
        "begun again": sum(job.starts > 1 for job in workflows),
        "most starts of one": max((job.starts for job in workflows), default=0),
    }


def _environment(folder: Path, url: str, served: Githubd, model: MessagesServer | None, port: int) -> dict[str, str]:
    key = folder / "key.pem"
    key.write_text(rsa_pair()[0], encoding="utf-8")
    given = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    asked = {"ANTHROPIC_API_KEY": "no key", "ANTHROPIC_BASE_URL": model.url} if model else {}
    return {
        **given,
        **asked,
        "PAICHECKER_APP_ID": "1",
        "PAICHECKER_PRIVATE_KEY_FILE": str(key),
        "PAICHECKER_WEBHOOK_SECRET": _SECRET,
        "PAICHECKER_DATA": str(folder),
        "PAICHECKER_HOST": "127.0.0.1",
        "PORT": str(port),
        "DATABASE_URL": url,
        "GITHUB_API_URL": served.url,
    }


@contextlib.contextmanager
def _stage(options: Options) -> Iterator[Run]:
    """All that takes part, stopped at the end."""
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="paichecker-chaos-")))
        path, public = folder / "world.json", folder / "public.pem"
        path.write_text(json.dumps(world(options.pull_requests)), encoding="utf-8")
        public.write_text(rsa_pair()[1], encoding="utf-8")
        port = free_port()
        hook = ["--webhook", f"http://127.0.0.1:{port}/webhook", "--secret", _SECRET, "--app-key", str(public)]
        served = stack.enter_context(githubd(path, *hook))
        script = Script(_MODEL_SECONDS)
        model = None if options.rules else stack.enter_context(MessagesServer(script.answer))
        url = stack.enter_context(database(options.database, folder))
        options.logs.mkdir(parents=True, exist_ok=True)
        app = App(_environment(folder, url, served, model, port), options.logs / f"app-{options.database}.log")
        stack.callback(app.stop)
        yield Run(options, url, served, app, script)


def main() -> None:
    """Entry point."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--database", choices=("sqlite", "postgresql"), default="sqlite")
    for name, default in (("kills", 50), ("deliveries", 200), ("pull-requests", 20), ("seed", 1)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--pace", type=float, default=1, help="by how much longer the App lives, and people wait")
    parser.add_argument("--rules", action="store_true", help="no model")
    parser.add_argument("--logs", type=Path, default=Path(tempfile.gettempdir()), help="folder for the App's log")
    with _stage(Options(**vars(parser.parse_args()))) as run:
        result = run.go()
    for name, value in result.figures.items():
        print(f"{name:30} {value}")
    print(f"{'acts':30} {dict(result.acts)}")
    print("\n".join(f"WRONG: {problem}" for problem in result.problems) or "Nothing was lost, doubled or stale.")
    print(json.dumps({"acts": result.acts, "problems": result.problems, **result.figures}))
    sys.exit(bool(result.problems))


if __name__ == "__main__":
    main()
