"""No test reaches a real model or any other host: keys are taken away, and sockets lead to loopback only."""

from __future__ import annotations

import ipaddress
import socket
import sqlite3
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from github_server import TOKEN, Answer, GitHubServer, Received

from bot.settings import takes_files

_PROXIES = ("http_proxy", "https_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY")
GITHUB_VARIABLES = ("GITHUB_TOKEN", "GH_TOKEN", "GITHUB_SERVER_URL", "GITHUB_API_URL", "GITHUB_GRAPHQL_URL", *_PROXIES)

# Serves instead of the usual answers, for the rest of the test.
Serve = Callable[[Callable[[Received], Answer]], GitHubServer]
# The App refuses such a SQLite (docs/settings.md), so nothing of it can be tested on a file.
collect_ignore_glob = [] if takes_files() else ["test_bot_*", "test_demo_*"]
_MODEL_VARIABLES = ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL")


def pytest_report_header() -> str | None:
    """What is left out is said."""
    sqlite = sqlite3.sqlite_version
    left_out = f"the App's tests are left out: SQLite {sqlite} is older than 3.42, which Python 3.12 and later need"
    return None if takes_files() else left_out


@pytest.fixture(autouse=True)
def _no_model_key(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in _MODEL_VARIABLES:
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(autouse=True)
def _loopback_only(monkeypatch: pytest.MonkeyPatch) -> None:
    connect = socket.socket.connect

    def guarded(self: socket.socket, address: Any) -> None:
        if self.family in (socket.AF_INET, socket.AF_INET6) and not _is_loopback(address[0]):
            raise PermissionError(f"a test tried to reach {address[0]}; tests stay on this machine")
        connect(self, address)

    monkeypatch.setattr(socket.socket, "connect", guarded)


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


@pytest.fixture
def serve(monkeypatch: pytest.MonkeyPatch) -> Iterator[Serve]:
    """Servers that the command reads in place of GitHub, with a token for them."""
    servers: list[GitHubServer] = []

    def start(respond: Callable[[Received], Answer]) -> GitHubServer:
        server = GitHubServer(respond).__enter__()
        servers.append(server)
        monkeypatch.setenv("GITHUB_API_URL", server.url)
        return server

    for name in GITHUB_VARIABLES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("GITHUB_TOKEN", TOKEN)
    yield start
    for server in servers:
        server.__exit__()
