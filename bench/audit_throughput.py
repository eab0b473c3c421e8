"""An audit with a slow model: what it makes of its slots, its memory, and whether kills cost a pair or a reply.

python bench/audit_throughput.py --records DIR [--pairs 1350] [--jobs 64] [--seconds 0.5] [--kills 5]

DIR holds records in the paper's format (*.jsonl, *.jsonl.gz). The model is an Anthropic endpoint on loopback
(bench/slow_model.py), the audit the command itself, as a process of its own. A slot is a pair under check: one that
needs an answer of its analyzers, then of the coordinator, then of the validator holds its slot for three answers.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from slow_model import slow_model

from checker.taxonomy import ANALYZERS

_STEP = 0.1


def gather(folder: Path, count: int, target: Path) -> int:
    """The first `count` records of a folder's files, as JSON lines; how many there were."""
    paths = sorted([*folder.glob("*.jsonl"), *folder.glob("*.jsonl.gz")])
    lines: list[bytes] = []
    for path in paths:
        data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        lines += data.splitlines(keepends=True)
    target.write_bytes(b"".join(lines[:count]))
    return min(count, len(lines))


class Run:
    """The command under way, with the memory that it held, in MB, every tenth of a second."""

    def __init__(self, source: Path, folder: Path, server: str, jobs: int) -> None:
        command = [sys.executable, "-m", "checker", "audit", str(source), "-o", str(folder)]
        command += ["--backend", "anthropic", "--jobs", str(jobs)]
        environment = {**os.environ, "ANTHROPIC_API_KEY": "none", "ANTHROPIC_BASE_URL": server}
        self.memory: list[float] = []
        self.began = time.monotonic()
        self._process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)
        self._watch = threading.Thread(target=self._sample)
        self._watch.start()

    def _sample(self) -> None:
        while self._process.poll() is None:
            self.memory.append(_resident(self._process.pid) / 1e6)
            time.sleep(_STEP)

    def finish(self) -> tuple[float, str]:
        """Waits; seconds since it began, and what it printed."""
        out, _ = self._process.communicate()
        self._watch.join()
        if self._process.returncode != 0:
            sys.exit(f"the audit ended with status {self._process.returncode}\n{out}")
        return time.monotonic() - self.began, out

    def kill(self) -> None:
        """SIGKILL, at once."""
        self._process.send_signal(signal.SIGKILL)
        self._process.communicate()
        self._watch.join()


def _resident(process: int) -> int:
    """Bytes that a process and those that it started hold; pages that they share count for each."""
    try:
        pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
        children = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    except (OSError, IndexError):
        return 0
    return pages * resource.getpagesize() + sum(_resident(int(child)) for child in children)


def rows(folder: Path) -> list[dict[str, Any]]:
    """The results so far; a line under way is left out."""
    path = folder / "results.jsonl"
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True) if path.exists() else []
    return [json.loads(line) for line in lines if line.endswith("\n")]


def answers_in_turn(row: Mapping[str, Any]) -> int:
    """For how many answers, one after another, a pair held its slot: its analyzers are asked at once."""
    calls = {used["role"]: used["calls"] for used in row["usage"]}
    return max((calls.get(role, 0) for role in ANALYZERS), default=0) + sum(
        count for role, count in calls.items() if role not in set(ANALYZERS)
    )


def seen(server: str) -> dict[str, Any]:
    """What the server counted."""
    with urllib.request.urlopen(f"{server}/seen") as answer:
        told: dict[str, Any] = json.load(answer)
    return told


def processor_seconds() -> tuple[float, float]:
    """Seconds that the machine's processors were busy, and those that they idled (proc(5), /proc/stat)."""
    ticks = [int(field) for field in Path("/proc/stat").read_text().splitlines()[0].split()[1:9]]
    hertz = os.sysconf("SC_CLK_TCK")
    idle = ticks[3] + ticks[4]
    return (sum(ticks) - idle) / hertz, idle / hertz


def measure(source: Path, folder: Path, options: argparse.Namespace) -> None:
    """One run from beginning to end."""
    with slow_model(options.seconds) as server:
        before, machine = resource.getrusage(resource.RUSAGE_CHILDREN), processor_seconds()
        run = Run(source, folder, server, options.jobs)
        whole, out = run.finish()
        after, machine_then = resource.getrusage(resource.RUSAGE_CHILDREN), processor_seconds()
        told = seen(server)
    found = rows(folder)
    allowed = sum(answers_in_turn(row) for row in found) * options.seconds / options.jobs
    processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    print(out)
    print(f"{len(found)} pairs, {told['requests']} requests, at most {told['most']} at once")
    span = told["seconds"]
    print(
        f"the slots allow {allowed:.1f} s; from the first request to the last answer {span:.1f} s: {allowed / span:.1%}"
    )
    print(f"with start and end {whole:.1f} s: {allowed / whole:.1%}")
    print(f"processor time {processor:.1f} s, {processor / len(found) * 1e3:.1f} ms a pair")
    busy, idle = (then - before for then, before in zip(machine_then, machine, strict=True))
    others = busy - processor
    print(f"all processors: busy {busy:.0f} s, {others:.0f} s of it not for the audit; idle {idle:.0f} s")
    quarter = len(run.memory) // 4
    told_memory = [f"{max(run.memory[n * quarter : (n + 1) * quarter]):.0f}" for n in range(4)]
    print(f"memory, the most in each quarter of the run: {', '.join(told_memory)} MB")


def kill_and_resume(source: Path, folder: Path, count: int, options: argparse.Namespace) -> None:
    """Killed where each part of the pairs is done, and resumed to the end."""
    with slow_model(options.seconds) as server:
        for kill in range(options.kills):
            run = Run(source, folder, server, options.jobs)
            while len(rows(folder)) < count * (kill + 1) // (options.kills + 1):
                time.sleep(_STEP)
            run.kill()
            print(f"killed with {len(rows(folder))} results, after {seen(server)['requests']} requests")
        Run(source, folder, server, options.jobs).finish()
        told = seen(server)
    ids = Counter(row["id"] for row in rows(folder))
    wanted = {json.loads(line)["instance_id"] for line in source.read_text(encoding="utf-8").splitlines()}
    print(f"{count} pairs; lost {len(wanted - ids.keys())}, doubled {sum(n > 1 for n in ids.values())}")
    print(f"{told['requests']} requests; {told['again']} were made again, being in flight at a kill")


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=Path, required=True)
    parser.add_argument("--pairs", type=int, default=1350)
    parser.add_argument("--jobs", type=int, default=64)
    parser.add_argument("--seconds", type=float, default=0.5)
    parser.add_argument("--kills", type=int, default=5)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        source = Path(place) / "records.jsonl"
        count = gather(options.records, options.pairs, source)
        measure(source, Path(place) / "whole", options)
        if options.kills:
            kill_and_resume(source, Path(place) / "killed", count, options)


if __name__ == "__main__":
    main()
