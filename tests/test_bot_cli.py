"""The command `paichecker-bot`: the demo tells the whole loop, the server starts, stops, and says what it lacks."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.error import HTTPError

from app_keys import rsa_pair
from githubd_server import free_port

HERE = Path(__file__).parent.parent
SECRET = "of-the-tests-0123456789"
_SECONDS = 60


def environment(folder: Path, **more: str) -> dict[str, str]:
    """That of a person who has set nothing else."""
    kept = {name: value for name, value in os.environ.items() if name in ("PATH", "HOME", "LANG", "PYTHONPATH")}
    return {**kept, "PAICHECKER_DATA": str(folder), "PAICHECKER_HOST": "127.0.0.1", "PYTHONUNBUFFERED": "1", **more}


def configured(folder: Path, **more: str) -> dict[str, str]:
    credentials = {
        "PAICHECKER_APP_ID": "1",
        "PAICHECKER_APP_SLUG": "paichecker-test",
        "PAICHECKER_PRIVATE_KEY": rsa_pair()[0],
        "PAICHECKER_WEBHOOK_SECRET": SECRET,
        # Nobody answers there: the App starts all the same, and asks later.
        "GITHUB_SERVER_URL": "http://127.0.0.1:1",
    }
    return environment(folder, **{**credentials, **more})


@contextmanager
def running(*arguments: str, env: dict[str, str]) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-m", "bot", *arguments]
    with subprocess.Popen(
        command, env=env, cwd=HERE, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def line_with(words: str, process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    for line in process.stdout:
        if words in line:
            return line
    raise AssertionError(f"{words!r} was not said; {process.stderr.read() if process.stderr else ''}")


def once(*arguments: str, env: dict[str, str]) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "bot", *arguments]
    return subprocess.run(command, env=env, cwd=HERE, text=True, capture_output=True, timeout=_SECONDS, check=False)


def get(address: str, posted: bytes | None = None) -> tuple[int, str]:
    try:
        with urllib.request.urlopen(address, posted, timeout=_SECONDS) as answer:
            return answer.status, answer.read().decode()
    except HTTPError as error:
        with error:
            return error.code, error.read().decode()


def test_the_demo_tells_the_loop_from_the_comment_to_what_a_recheck_changed(tmp_path: Path) -> None:
    done = once("demo", env=environment(tmp_path))
    assert (done.returncode, done.stderr) == (0, "")
    steps = ["1. bo-assam opens", "**SC**", "**UL**", "2. wanda-ferns answers", "in one point", "3. bo-assam takes"]
    found = [done.stdout.find(step) for step in steps]
    assert -1 not in found
    assert found == sorted(found)
    assert "resolved ~~**SC**~~; kept **UL**" in done.stdout
    assert not list(tmp_path.iterdir())


def test_the_demo_that_stays_open_serves_its_pages_until_it_is_stopped(tmp_path: Path) -> None:
    with running("demo", "--open", env=environment(tmp_path)) as process:
        said = line_with("click through", process)
        address = re.search(r"http://\S+", said)
        assert address is not None
        status, page = get(address[0])
        assert (status, "paichecker-demo" in page) == (200, True)
        process.send_signal(signal.SIGTERM)
        assert process.wait(_SECONDS) == 0


def test_the_server_is_ready_once_it_says_so_and_ends_at_sigterm(tmp_path: Path) -> None:
    port = str(free_port())
    with running(env=configured(tmp_path, PORT=port)) as process:
        assert "paichecker-test takes deliveries" in line_with("takes deliveries", process)
        assert get(f"http://127.0.0.1:{port}/healthz")[0] == 200
        assert get(f"http://127.0.0.1:{port}/readyz") == (200, '{"status": "ready"}')
        process.send_signal(signal.SIGTERM)
        assert process.wait(_SECONDS) == 0
        assert process.stderr is not None
        assert "Traceback" not in process.stderr.read()


def test_without_credentials_it_prints_where_to_set_it_up_and_takes_no_delivery(tmp_path: Path) -> None:
    port = str(free_port())
    with running(env=environment(tmp_path, PORT=port)) as process:
        address = line_with("/setup?token=", process).strip()
        assert get(address)[0] == 200
        assert get(f"http://127.0.0.1:{port}/setup?token=wrong")[0] == 403
        assert get(f"http://127.0.0.1:{port}/readyz")[0] == 503
        assert get(f"http://127.0.0.1:{port}/webhook", b"{}")[0] == 503
        process.send_signal(signal.SIGTERM)
        assert process.wait(_SECONDS) == 0


def test_what_cannot_work_is_a_sentence(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        in_use = once(env=configured(tmp_path, PORT=port))
    no_database = once(
        env=configured(tmp_path, PORT=str(free_port()), DATABASE_URL="postgresql://me:hush@127.0.0.1:1/app")
    )
    nameless = {**configured(tmp_path, PORT=str(free_port()))}
    del nameless["PAICHECKER_APP_SLUG"]
    for done, said in (
        (in_use, f"port {port} of 127.0.0.1 cannot be listened on"),
        (no_database, "the database does not answer"),
        (once(env=nameless), "GitHub does not tell the App's name"),
        (once(env=configured(tmp_path, PAICHECKER_WEBHOOK_SECRET="")), "PAICHECKER_WEBHOOK_SECRET"),
    ):
        assert done.returncode == 2, done.stderr
        assert said in done.stderr
        assert "Traceback" not in done.stderr
        assert "hush" not in done.stderr
