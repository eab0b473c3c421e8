"""A real Chromium, driven over a pipe in its DevTools protocol: no port, no network, no further package.

https://chromedevtools.github.io/devtools-protocol/ describes the methods; `--remote-debugging-pipe` ends each message
with a zero byte, commands on file descriptor 3, answers and events on 4.
"""

from __future__ import annotations

import base64
import fcntl
import json
import os
import select
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
_PATIENCE = 60.0
# Moves our ends of the pipes to where the protocol has them; both are 10 or more, so neither is overwritten.
_START = """\
import os, sys
read, write, *command = sys.argv[1:]
os.dup2(int(read), 3)
os.dup2(int(write), 4)
os.execv(command[0], command)
"""
_FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--no-first-run",
    "--hide-scrollbars",
)


def executable() -> str | None:
    """Where a Chromium is installed, or None."""
    return next((found for found in map(shutil.which, NAMES) if found), None)


class Chromium:
    """One browser with one page; a context manager. `requests` are the addresses that the page asked for."""

    def __init__(self, profile: Path) -> None:
        found = executable()
        if found is None:
            pytest.skip(f"needs a Chromium: none of {', '.join(NAMES)} is installed")
        read, self._write = os.pipe()
        self._read, write = os.pipe()
        ends = [fcntl.fcntl(end, fcntl.F_DUPFD, 10) for end in (read, write)]
        flags = [*_FLAGS, f"--user-data-dir={profile}", "--remote-debugging-pipe", "about:blank"]
        self._process = subprocess.Popen(
            [sys.executable, "-c", _START, *map(str, ends), found, *flags],
            pass_fds=ends,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for end in (read, write, *ends):
            os.close(end)
        self._number, self._buffer, self._session = 0, b"", ""
        self.events: list[dict[str, Any]] = []

    def __enter__(self) -> Chromium:
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")
        return self

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        self._process.wait(timeout=_PATIENCE)
        os.close(self._write)
        os.close(self._read)

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """One command's result. Raises RuntimeError with the browser's words."""
        self._number += 1
        command = {"id": self._number, "method": method, "params": parameters}
        session = {"sessionId": self._session} if self._session else {}
        os.write(self._write, json.dumps({**command, **session}).encode() + b"\0")
        while True:
            message = self._message()
            if message.get("id") != self._number:
                self.events.append(message)
            elif "error" in message:
                raise RuntimeError(f"{method}: {message['error']['message']}")
            else:
                result: dict[str, Any] = message["result"]
                return result

    def _message(self) -> dict[str, Any]:
        until = time.monotonic() + _PATIENCE
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self._read], [], [], max(0.0, until - time.monotonic()))
            part = os.read(self._read, 1 << 20) if ready else b""
            if not part:
                raise RuntimeError("Chromium does not answer")
            self._buffer += part
        text, _, self._buffer = self._buffer.partition(b"\0")
        message: dict[str, Any] = json.loads(text)
        return message

    def open(self, path: Path) -> float:
        """Opens a file and waits for its load event; the seconds it took."""
        self.events.clear()
        begun = time.monotonic()
        self.call("Page.navigate", url=path.as_uri())
        while not any(event.get("method") == "Page.loadEventFired" for event in self.events):
            self.events.append(self._message())
        return time.monotonic() - begun

    def run(self, script: str) -> Any:
        """The value of a JavaScript expression, a promise's too. Raises RuntimeError where it throws."""
        answer = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(str(answer["exceptionDetails"]["exception"].get("description")))
        return answer["result"].get("value")

    def press(self, key: str, code: int, text: str = "") -> None:
        """A key, as a keyboard sends it; `code` is its Windows virtual-key code."""
        pressed = {"key": key, "code": key, "windowsVirtualKeyCode": code, "nativeVirtualKeyCode": code}
        self.call("Input.dispatchKeyEvent", type="keyDown", text=text, **pressed)
        self.call("Input.dispatchKeyEvent", type="keyUp", **pressed)

    def screen(self, width: int, height: int, *, dark: bool = False, media: str = "") -> None:
        """The size of the window, the scheme of colours, and `print` for paper."""
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
        self.call("Emulation.setDeviceMetricsOverride", **size)
        scheme = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        self.call("Emulation.setEmulatedMedia", media=media, features=scheme)

    def picture(self) -> bytes:
        """The window as PNG."""
        return base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"])

    def paper(self) -> bytes:
        """The page as PDF, A4."""
        a4 = {"paperWidth": 8.27, "paperHeight": 11.69, "preferCSSPageSize": False, "printBackground": True}
        return base64.b64decode(self.call("Page.printToPDF", **a4)["data"])

    @property
    def requests(self) -> list[str]:
        """Every address that was asked for since `open`."""
        sent = [event for event in self.events if event.get("method") == "Network.requestWillBeSent"]
        return [event["params"]["request"]["url"] for event in sent]

    @property
    def complaints(self) -> list[str]:
        """What went wrong on the page since `open`: uncaught errors, and what the policy refused."""
        told = []
        for event in self.events:
            if event.get("method") == "Runtime.exceptionThrown":
                told.append(str(event["params"]["exceptionDetails"]["exception"].get("description")))
            elif event.get("method") == "Log.entryAdded":
                told.append(str(event["params"]["entry"]["text"]))
        return told
