"""Starts githubd, a double of GitHub that was written without sight of this project, in a process of its own.

PAICHECKER_GITHUBD names the folder that holds the package `githubd`, PAICHECKER_GITHUB_SCHEMA GitHub's schema.graphql.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from github_world import SCHEMA_VARIABLE

GITHUBD_VARIABLE = "PAICHECKER_GITHUBD"
needs_githubd = pytest.mark.skipif(
    GITHUBD_VARIABLE not in os.environ or SCHEMA_VARIABLE not in os.environ,
    reason=f"{GITHUBD_VARIABLE} (the folder of the package githubd) and {SCHEMA_VARIABLE} (schema.graphql in "
    "`npm pack @octokit/graphql-schema`) are not both set",
)
_START_SECONDS = 60


class Githubd:
    """A running githubd: its address and its control plane."""

    def __init__(self, url: str) -> None:
        self.url = url

    def control(self, name: str, body: dict[str, Any] | None = None) -> Any:
        """A POST with a body, a GET without."""
        data = None if body is None else json.dumps(body).encode()
        with urllib.request.urlopen(f"{self.url}/_ctl/{name}", data, timeout=30) as answer:
            return json.load(answer)


def make_world(path: Path, *arguments: str) -> str:
    """A world file by `githubd.worlds`; what that printed."""
    make = [sys.executable, "-m", "githubd.worlds", *arguments, "-o", str(path)]
    return subprocess.run(make, env=_environment(), check=True, capture_output=True, text=True).stdout


@contextmanager
def githubd(world: Path, *arguments: str) -> Iterator[Githubd]:
    """Serves a world. It must answer within a minute."""
    port = free_port()
    serve = [sys.executable, "-m", "githubd", "--world", str(world), "--port", str(port), *arguments]
    schema = ["--schema", str(Path(os.environ[SCHEMA_VARIABLE]).resolve())]
    with subprocess.Popen([*serve, *schema], env=_environment(), stdout=subprocess.DEVNULL) as server:
        try:
            started = Githubd(f"http://127.0.0.1:{port}")
            _wait_for(started, server)
            yield started
        finally:
            server.terminate()


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port


def _environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": os.environ[GITHUBD_VARIABLE]}


def _wait_for(started: Githubd, server: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + _START_SECONDS
    while time.monotonic() < end and server.poll() is None:
        try:
            started.control("log")
        except OSError:
            time.sleep(0.2)
        else:
            return
    pytest.fail(f"githubd did not start (status {server.poll()}); see its README for what it needs")
