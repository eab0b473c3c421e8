"""A small Hugging Face Hub on loopback: of its interface what `datasets` asks for when it loads a data set by name."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any
from urllib.parse import unquote, urlsplit

COMMIT = "c" * 40


@dataclass
class Repository:
    """A data set: its files by path.

    A gated one answers as the Hub does to someone who may not read it; to one that is gone nobody answers any more.
    """

    files: Mapping[str, bytes]
    is_gated: bool = False
    is_gone: bool = False


@dataclass
class Hub:
    """The data sets by name, the address, and every request that came: method and path, and its token."""

    repositories: Mapping[str, Repository]
    address: str = ""
    asked: list[tuple[str, str]] = field(default_factory=list)
    tokens: set[str] = field(default_factory=set)


@contextmanager
def serve_hub(repositories: Mapping[str, Repository]) -> Iterator[Hub]:
    """Serves the data sets until the end of the block."""
    hub = Hub(repositories)
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"hub": hub}))
    hub.address = f"http://127.0.0.1:{server.server_address[1]}"
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield hub
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    hub: Hub

    def _answer(self) -> None:
        path = unquote(urlsplit(self.path).path)
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.hub.asked.append((self.command, path))
        self.hub.tokens.add((self.headers.get("Authorization") or "").removeprefix("Bearer "))
        parts = path.strip("/").split("/")
        parts = parts[1:] if parts[0] == "api" else parts
        name, rest = "/".join(parts[1:3]), parts[3:]
        repository = self.hub.repositories.get(name) if parts[0] == "datasets" else None
        if repository and repository.is_gone:
            self.close_connection = True
        elif repository is None:
            self._refuse(404 if parts[0] != "datasets" else 401, "RepoNotFound", "Repository not found")
        elif repository.is_gated and rest[:1] == ["resolve"]:
            self._refuse(403, "GatedRepo", f"Access to dataset {name} is restricted and you are not in the list.")
        elif rest[:1] == ["resolve"]:
            self._file(repository, "/".join(rest[2:]))
        elif rest[:1] == ["tree"]:
            self._json(_entries(repository, "/".join(rest[2:])))
        elif rest[:1] == ["paths-info"]:
            self._json(_paths(repository, json.loads(body)["paths"]))
        elif rest[:1] in ([], ["revision"]):
            self._json(_about(name, repository))
        else:
            self._refuse(404, "EntryNotFound", f"no {path} here")

    do_GET = do_HEAD = do_POST = _answer  # noqa: N815 - the library's names

    def log_message(self, *_: Any) -> None:
        """Says nothing."""

    def _file(self, repository: Repository, path: str) -> None:
        data = repository.files.get(path)
        if data is None:
            self._refuse(404, "EntryNotFound", "Entry not found")
            return
        total, status = len(data), 200
        headers = {"ETag": f'"{_oid(data)}"', "X-Repo-Commit": COMMIT, "Accept-Ranges": "bytes"}
        begin, _, end = (self.headers.get("Range") or "").removeprefix("bytes=").partition("-")
        if begin:
            data, status = data[int(begin) : int(end) + 1 if end else None], 206
            headers["Content-Range"] = f"bytes {begin}-{int(begin) + len(data) - 1}/{total}"
        self._send(status, data, headers)

    def _json(self, value: Any) -> None:
        self._send(200, json.dumps(value).encode(), {"Content-Type": "application/json", "X-Repo-Commit": COMMIT})

    def _refuse(self, status: int, code: str, message: str) -> None:
        self._send(status, b"", {"X-Error-Code": code, "X-Error-Message": message})

    def _send(self, status: int, data: bytes, headers: Mapping[str, str]) -> None:
        self.send_response(status)
        for key, value in {**headers, "Content-Length": str(len(data))}.items():
            self.send_header(key, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)


def _oid(data: bytes) -> str:
    return hashlib.sha1(data, usedforsecurity=False).hexdigest()


def _about(name: str, repository: Repository) -> dict[str, Any]:
    files = [{"rfilename": path} for path in repository.files]
    return {
        "id": name,
        "sha": COMMIT,
        "private": False,
        "gated": "manual" if repository.is_gated else False,
        "siblings": files,
        "tags": [],
        "downloads": 0,
        "likes": 0,
    }


def _entries(repository: Repository, folder: str) -> list[dict[str, Any]]:
    below = f"{folder}/" if folder else ""
    files = {path: data for path, data in repository.files.items() if path.startswith(below)}
    folders = {below + path.removeprefix(below).split("/")[0] for path in files if "/" in path.removeprefix(below)}
    held = [_entry(path, data) for path, data in files.items() if "/" not in path.removeprefix(below)]
    return [*({"type": "directory", "oid": _oid(one.encode()), "size": 0, "path": one} for one in folders), *held]


def _paths(repository: Repository, paths: list[str]) -> list[dict[str, Any]]:
    return [_entry(path, repository.files[path]) for path in paths if path in repository.files]


def _entry(path: str, data: bytes) -> dict[str, Any]:
    return {"type": "file", "oid": _oid(data), "size": len(data), "path": path}
