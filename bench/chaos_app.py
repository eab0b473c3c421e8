"""The App as `bench/chaos.py` has it: a process of its own, which is started and killed."""

from __future__ import annotations

import subprocess
import sys
import time
import urllib.request
from pathlib import Path

_ROOT = Path(__file__).parent.parent
_START_SECONDS = 60


class App:
    """The process under test, and when it was killed (monotonic)."""

    def __init__(self, environment: dict[str, str], log: Path) -> None:
        self.kills: list[float] = []
        self.ended: list[int] = []
        self._environment = environment
        self._url = f"http://127.0.0.1:{environment['PORT']}"
        self._log = log
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Does not wait."""
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "bot"], cwd=_ROOT, env=self._environment, stdout=log, stderr=log
            )

    def is_ready(self) -> bool:
        """Whether it takes deliveries now."""
        try:
            with urllib.request.urlopen(f"{self._url}/readyz", timeout=5) as answer:
                return bool(answer.status == 200)
        except OSError:
            return False

    def wait(self) -> None:
        """Until it is ready; raises TimeoutError."""
        end = time.monotonic() + _START_SECONDS
        while not self.is_ready():
            if time.monotonic() > end or (self._process and self._process.poll() is not None):
                raise TimeoutError(f"the App did not start; {self._log} tells why")
            time.sleep(0.05)

    def kill(self) -> None:
        """SIGKILL; one that had ended by itself is noted."""
        if self._process is None:
            return
        status = self._process.poll()
        if status is not None:
            self.ended.append(status)
        self.kills.append(time.monotonic())
        self._process.kill()
        self._process.wait()

    def stop(self) -> None:
        """In order."""
        if self._process is not None:
            self._process.terminate()
            self._process.wait()
