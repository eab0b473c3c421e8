"""A run that was killed goes on where it stopped: the next one asks only for what is missing."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from anthropic_server import Answer, MessagesServer, Received, begin, end, message, stream
from fakes import connection, decide, issue, load_pair, no, validated

from checker import prompting
from checker.pair import write_pair
from checker.taxonomy import Role

PROJECT = Path(__file__).parent.parent
PAIRS = ("accidental-link", "aligned", "follow-up", "four-duplicates", "incomplete-specification", "typo-number")
SECONDS_PER_ANSWER = 0.3
PATIENCE = 60
_NOTHING_FOUND = {
    Role.ISSUE_ANALYZER: issue(),
    Role.CONNECTION_ANALYZER: connection(),
    Role.COORDINATOR: decide(),
    Role.CODE_VALIDATOR: validated(),
}
_ids = count()


def role_of(received: Received) -> Role:
    first_lines = {prompting.load(role).system.splitlines()[0]: role for role in Role}
    return first_lines[received.system.splitlines()[0]]


def nothing_found(received: Received) -> Answer:
    """The answer of a model that finds nothing; the PR Connection Analyzer first calls a tool."""
    time.sleep(SECONDS_PER_ANSWER)
    role = role_of(received)
    if role is Role.CONNECTION_ANALYZER and len(received.body["messages"]) == 1:
        return _tool_call("get_issue", {"number": 1})
    if role is Role.SCOPE_ANALYZER:
        patterns = received.body["output_config"]["format"]["schema"]["properties"].keys() - {"signals", "clues"}
        return message(json.dumps({"signals": [], "clues": [], **{pattern: no() for pattern in patterns}}))
    return message(json.dumps(_NOTHING_FOUND[role]))


def _tool_call(name: str, given: dict[str, Any]) -> Answer:
    """Its id is new each time, so that a turn which is asked for again makes the next one another request."""
    block = {"type": "tool_use", "id": f"toolu_{next(_ids)}", "name": name, "input": {}}
    delta = {"type": "input_json_delta", "partial_json": json.dumps(given)}
    called = [
        {"type": "content_block_start", "index": 0, "content_block": block},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "content_block_stop", "index": 0},
    ]
    return Answer(stream(begin(), *called, *end("tool_use")))


@pytest.fixture
def server() -> Iterator[MessagesServer]:
    with MessagesServer(nothing_found) as running:
        yield running


@pytest.fixture
def start(server: MessagesServer, tmp_path: Path) -> Iterator[Callable[[], subprocess.Popen[str]]]:
    """Starts the command on the pairs, with a store of replies that all its runs share."""
    pairs = tmp_path / "pairs.jsonl"
    lines = [json.dumps(write_pair(load_pair(name))) for name in PAIRS]
    pairs.write_text("\n".join(lines), encoding="utf-8")
    command = ["check", str(pairs), "--jobs", "4", "--backend", "anthropic", "--format", "json"]
    environment = {**os.environ, "ANTHROPIC_API_KEY": "test", "ANTHROPIC_BASE_URL": server.url}
    runs: list[subprocess.Popen[str]] = []

    def run() -> subprocess.Popen[str]:
        runs.append(
            subprocess.Popen(
                [sys.executable, "-m", "checker", *command, "--replies", str(tmp_path / "replies")],
                cwd=PROJECT,
                env=environment,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                encoding="utf-8",
            )
        )
        return runs[-1]

    yield run
    for process in runs:
        process.kill()
        process.communicate()


@pytest.fixture
def _interruptible() -> Iterator[None]:
    """A process that is started while SIGINT is ignored, as in the background of a shell, would ignore it too."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def wait_until(true: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not true():
        assert time.monotonic() < deadline, "it never came true"
        time.sleep(0.01)


def replies_kept(folder: Path) -> int:
    """How many replies the store holds: what the server sent may have been lost on its way into it."""
    path = folder / "replies.sqlite"
    if not path.exists():
        return 0
    opened = sqlite3.connect(path, timeout=PATIENCE)
    try:
        (rows,) = opened.execute("select count(*) from replies").fetchone()
    except sqlite3.OperationalError:  # the table is not there yet
        return 0
    finally:
        opened.close()
    return int(rows)


def drain(server: MessagesServer) -> list[str]:
    """The bodies of all requests since the last call, once the server is at rest."""
    bodies = [json.dumps(received.body, sort_keys=True) for received in server.received]
    server.received.clear()
    return bodies


def test_a_killed_run_goes_on_where_it_stopped_and_a_finished_one_asks_nothing(
    server: MessagesServer, start: Callable[[], subprocess.Popen[str]], tmp_path: Path
) -> None:
    killed = start()
    wait_until(lambda: replies_kept(tmp_path / "replies") >= 10)
    killed.kill()
    killed.communicate()
    kept, first = replies_kept(tmp_path / "replies"), drain(server)

    out, err = start().communicate(timeout=PATIENCE)
    second = drain(server)
    assert err == ""
    assert [json.loads(line)["id"] for line in out.splitlines()] == [load_pair(name).id for name in PAIRS]
    assert len(second) > 0
    assert len(set(first)) == len(first)
    assert len(set(second)) == len(second)
    assert len(set(first) & set(second)) == len(first) - kept, "asked again: what was in flight at the kill, no more"

    again, _ = start().communicate(timeout=PATIENCE)
    assert drain(server) == []
    assert again == out


@pytest.mark.usefixtures("_interruptible")
def test_control_c_ends_with_one_sentence_and_what_was_answered_is_kept(
    server: MessagesServer, start: Callable[[], subprocess.Popen[str]], tmp_path: Path
) -> None:
    stopped = start()
    wait_until(lambda: replies_kept(tmp_path / "replies") >= 3)
    stopped.send_signal(signal.SIGINT)
    _, err = stopped.communicate(timeout=PATIENCE)
    assert err == "paichecker: stopped; finished replies of a model are kept for the next run\n"
    assert stopped.returncode == 130
    assert replies_kept(tmp_path / "replies") >= 3
