"""An audit that is killed, in one process or in several, goes on without a lost or a doubled pair."""

from __future__ import annotations

import json
import os
import re
import resource
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from anthropic_server import MessagesServer
from fakes import load_pair
from test_audit import FAILURES, RESULTS, SPENDING, Model, rows
from test_resume import PATIENCE, PROJECT, wait_until

from checker import audit_command, audit_workers
from checker.cli import main
from checker.pair import write_pair

PAIRS, KILLS = 60, 5
Start = Callable[..., subprocess.Popen[str]]


@pytest.fixture
def server() -> Iterator[MessagesServer]:
    with MessagesServer(Model(seconds=0.15)) as running:
        yield running


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "audit"


@pytest.fixture
def start(server: MessagesServer, folder: Path, tmp_path: Path) -> Iterator[Start]:
    """Starts the command on sixty pairs of one kind, each with texts of its own."""
    source = tmp_path / "pairs.jsonl"
    whole = load_pair("aligned")
    pairs = [
        replace(whole, id=f"a__b-{n}", pull_request=replace(whole.pull_request, title=f"Change {n}"))
        for n in range(PAIRS)
    ]
    source.write_text("".join(json.dumps(write_pair(pair)) + "\n" for pair in pairs), encoding="utf-8")
    environment = {**os.environ, "ANTHROPIC_API_KEY": "test", "ANTHROPIC_BASE_URL": server.url}
    runs: list[subprocess.Popen[str]] = []

    def run(jobs: int, *more: str) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "checker", "audit", str(source), "-o", str(folder), "--jobs", str(jobs), *more]
        pipe = subprocess.PIPE
        runs.append(subprocess.Popen(command, cwd=PROJECT, env=environment, stdout=pipe, stderr=pipe, encoding="utf-8"))
        return runs[-1]

    yield run
    for process in runs:
        process.kill()
        process.communicate()


def results(folder: Path) -> int:
    path = folder / RESULTS
    return path.read_bytes().count(b"\n") if path.exists() else 0


@pytest.mark.parametrize("jobs", [8, 64])
def test_five_kills_lose_and_double_nothing(jobs: int, start: Start, server: MessagesServer, folder: Path) -> None:
    for kill in range(KILLS):
        killed = start(jobs)
        wanted = PAIRS * (kill + 1) // (KILLS + 1)
        wait_until(lambda wanted=wanted: results(folder) >= wanted)  # type: ignore[misc]
        killed.send_signal(signal.SIGKILL)
        killed.communicate()
        assert results(folder) < PAIRS
    out, err = start(jobs).communicate(timeout=PATIENCE)
    assert err == ""
    assert f"{PAIRS} pairs judged by" in out
    assert Counter(row["id"] for row in rows(folder)) == Counter(f"a__b-{n}" for n in range(PAIRS))
    asked = Counter(json.dumps(received.body, sort_keys=True) for received in server.received)
    most_in_flight = 3 * jobs * KILLS
    assert sum(asked.values()) - len(asked) <= most_in_flight
    assert len(asked) == sum(used["calls"] for row in rows(folder) for used in row["usage"])
    assert len(asked) <= len(rows(folder, SPENDING)) <= sum(asked.values())


def test_an_audit_under_way_keeps_another_one_out(start: Start, folder: Path) -> None:
    first = start(8)
    wait_until(lambda: results(folder) >= 5)
    _, err = start(8).communicate(timeout=PATIENCE)
    assert err == f"paichecker: -o {folder}: another audit is writing there; wait for it, or stop it\n"
    first.communicate(timeout=PATIENCE)
    assert len(rows(folder)) == PAIRS


@pytest.fixture
def _interruptible() -> Iterator[None]:
    """A process that is started while SIGINT is ignored, as in the background of a shell, would ignore it too."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("_interruptible")
def test_control_c_ends_with_a_sentence_and_what_is_done_is_done(start: Start, folder: Path) -> None:
    for jobs in (8, 64):
        stopped = start(jobs)
        before = results(folder)
        wait_until(lambda before=before: results(folder) > before)  # type: ignore[misc]
        stopped.send_signal(signal.SIGINT)
        _, err = stopped.communicate(timeout=PATIENCE)
        said = re.fullmatch(r"paichecker: stopped: (\d+) of 60 pairs have a result; the same command goes on\n", err)
        assert said
        assert int(said[1]) == results(folder)
    assert start(64).communicate(timeout=PATIENCE)[1] == ""
    assert len(rows(folder)) == len({row["id"] for row in rows(folder)}) == PAIRS


@pytest.mark.skipif((os.cpu_count() or 1) < 2, reason="one processor makes one process")
def test_processes_end_with_the_one_that_started_them(start: Start, folder: Path) -> None:
    killed = start(64)
    wait_until(lambda: results(folder) >= 5)
    children = Path(f"/proc/{killed.pid}/task/{killed.pid}/children").read_text(encoding="ascii").split()
    assert len(children) == audit_workers.processes_for(64)
    killed.send_signal(signal.SIGKILL)
    killed.communicate()
    wait_until(lambda: not any(is_alive(child) for child in children))


def is_alive(process: str) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text(encoding="ascii").split()[2] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def test_a_slot_hardly_waits(start: Start, folder: Path) -> None:
    """Eight at once on sixty pairs of 0.15 s an answer: far below one after another, not a timed figure."""
    begun = time.monotonic()
    start(8).communicate(timeout=PATIENCE)
    one_after_another = 0.15 * sum(used["calls"] for row in rows(folder) for used in row["usage"])
    assert len(rows(folder)) == PAIRS
    assert time.monotonic() - begun < one_after_another


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_an_error_of_ours_while_the_source_is_read_does_not_leave_the_processes_waiting(
    folder: Path, server: MessagesServer, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def pairs(_: object) -> Iterator[object]:
        yield load_pair("aligned")
        yield replace(load_pair("aligned"), id="a__b-2", extra={"unpicklable": lambda: None})

    monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
    monkeypatch.setenv("ANTHROPIC_API_KEY", "test")
    monkeypatch.setattr(audit_command, "read_files", pairs)
    monkeypatch.setattr(audit_command, "read_ids", lambda _: [(load_pair("aligned").id, None), ("a__b-2", None)])
    with pytest.raises(SystemExit, match="2"):
        main(["audit", "somewhere.jsonl", "-o", str(folder), "--jobs", "64"])
    assert "ended the reading of the source" in capsys.readouterr().err
    assert [row["id"] for row in rows(folder)] == [load_pair("aligned").id]


@pytest.fixture
def no_room() -> Iterator[Callable[[int], None]]:
    """Lets no file that this process and those it starts write grow beyond so many bytes, as a full disk does."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    yield lambda size: resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize("jobs", [8, 64])
def test_a_full_disk_ends_the_audit_with_a_sentence_and_it_goes_on(
    jobs: int, start: Start, folder: Path, no_room: Callable[[int], None]
) -> None:
    no_room(20_000)
    out, err = start(jobs, "--backend", "rules").communicate(timeout=PATIENCE)
    said = "it cannot be written (File too large); mend this, and the same command goes on"
    assert (out, err) == ("", f"paichecker: {folder}/{RESULTS}: {said}\n")
    assert 0 < results(folder) < PAIRS
    no_room(resource.getrlimit(resource.RLIMIT_FSIZE)[1])
    assert start(jobs, "--backend", "rules").communicate(timeout=PATIENCE)[1] == ""
    assert Counter(row["id"] for row in rows(folder)) == Counter(f"a__b-{n}" for n in range(PAIRS))


@pytest.mark.parametrize("jobs", [8, 64])
def test_where_replies_cannot_be_kept_no_more_are_paid_for_and_no_pair_counts_as_failed(
    jobs: int, start: Start, server: MessagesServer, folder: Path
) -> None:
    (folder / "replies").mkdir(parents=True)
    with sqlite3.connect(folder / "replies" / "replies.sqlite") as connection:
        connection.execute("create table replies (pair text, request text, sample integer)")
    _, err = start(jobs).communicate(timeout=PATIENCE)
    assert re.fullmatch(
        r"paichecker: .*replies.sqlite: a model's replies cannot be kept there \(.*\); mend this.*\n", err
    )
    assert (results(folder), rows(folder, FAILURES)) == (0, [])
    assert len(server.received) < PAIRS
