"""An outside agent: real programs that answer well, badly, late, at length, or not at all."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from command_line import ALIGNED, MISALIGNED
from command_line import run as command
from fakes import HERE, load_pair

from checker.evaluation.baselines import AS_GIVEN
from checker.evaluation.outside import Command, OutsideBackend, environment_for
from checker.pair import read_pair
from checker.pipeline import Limits, check
from checker.render import as_text
from checker.replay import replay
from checker.report import Report, Verdict, write_report
from checker.taxonomy import Label
from checker.transcript import file_name

SLOW = Limits(30, 30)


def agent(folder: Path, code: str) -> tuple[str, ...]:
    """A program that runs this code, with `pair` read from standard input."""
    path = folder / "agent.py"
    path.write_text(f"import json, os, subprocess, sys, time\npair = json.load(sys.stdin)\n{code}\n")
    return (sys.executable, str(path))


async def ask(words: tuple[str, ...], pair: str = "aligned", seconds: float = 20, **options: Any) -> Report:
    backend = OutsideBackend("command:agent", Command(words, environment_for(os.environ, ()), seconds))
    return await check(load_pair(pair), backend, plan=AS_GIVEN, shortcuts=False, limits=SLOW, **options)


async def test_the_agent_reads_the_pair_and_its_labels_stand_as_given(tmp_path: Path) -> None:
    kept = tmp_path / "seen.json"
    keep, say = (
        f'open({str(kept)!r}, "w").write(json.dumps(pair))',
        'print(\'{"labels": ["UL", "SC"], "reason": "why"}\')',
    )
    report = await ask(agent(tmp_path, f"{keep}; {say}"))
    assert read_pair(json.loads(kept.read_text())) == load_pair("aligned")
    assert report.labels == (Label.SC, Label.UL)
    assert {finding.reason for finding in report.findings} == {"why"}
    assert "no quote proves it" in as_text(report)
    assert report.backend == "command:agent"
    assert report.dollars is None


@pytest.mark.parametrize("labels", [[], ["No Misalignment"]])
async def test_no_label_on_a_pair_that_was_read_is_aligned(tmp_path: Path, labels: list[str]) -> None:
    report = await ask(agent(tmp_path, f"print(json.dumps({{'labels': {labels!r}}}))"))
    assert report.verdict is Verdict.ALIGNED


async def test_others_is_a_label_too(tmp_path: Path) -> None:
    assert (await ask(agent(tmp_path, 'print(\'{"labels": ["Others"]}\')'))).labels == (Label.OTHERS,)


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("print('I think it is SC.')", "did not answer with one JSON object"),
        ('print(\'{"labels": "SC"}\')', "(labels: Input should be a valid array)"),
        ('print(\'{"labels": ["SC"]} and more\')', "did not answer with one JSON object"),
        ("print('[]')", "did not answer with one JSON object"),
        ("", "did not answer with one JSON object"),
        ("sys.stdout.buffer.write(bytes([255, 254]))", "did not answer with one JSON object"),
        ('print(\'{"labels": ["XX\\u202e"]}\')', "gave a label that there is not: 'XX\\\\u202e'."),
        ('print(\'{"labels": ["SC", "No Misalignment"]}\')', "gave No Misalignment together with other labels"),
        ("print('{\"labels\": []}'); sys.exit('no money\\x1b[31m')", "ended with status 1: no money\\u001b[31m."),
        ("sys.exit(7)", "ended with status 7, and said nothing on standard error."),
        ("os.kill(os.getpid(), 9)", "ended with status -9"),
        ("sys.stdout.write('x' * 5_000_000)", "answered with more than 1,000,000 bytes."),
    ],
)
async def test_anything_else_is_undetermined_with_a_sentence(tmp_path: Path, code: str, said: str) -> None:
    report = await ask(agent(tmp_path, code))
    assert report.verdict is Verdict.UNDETERMINED
    assert said in report.undetermined[0]


@pytest.mark.parametrize("program", ["/no/such/program", "/etc/passwd", "no\0name"])
async def test_a_program_that_cannot_be_started_is_told(program: str) -> None:
    report = await ask((program,))
    assert report.verdict is Verdict.UNDETERMINED
    assert "cannot be started (" in report.undetermined[0]


async def test_what_it_says_on_standard_error_is_kept_to_its_end_and_never_blocks_it(tmp_path: Path) -> None:
    report = await ask(agent(tmp_path, "sys.stderr.write('y' * 5_000_000 + ' the end'); sys.exit(3)"))
    assert report.undetermined[0].endswith("the end.")
    assert len(report.undetermined[0]) < 2_500


async def test_an_agent_that_does_not_read_its_question_may_still_answer(tmp_path: Path) -> None:
    path = tmp_path / "deaf.py"
    path.write_text('print(\'{"labels": ["SC"]}\')')
    assert (await ask((sys.executable, str(path)), pair="full-size")).labels == (Label.SC,)


async def test_out_of_time_it_is_killed_with_all_that_it_started(tmp_path: Path) -> None:
    note = tmp_path / "child"
    code = f"""
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
open({str(note)!r}, "w").write(str(child.pid))
time.sleep(60)"""
    started = time.monotonic()
    report = await ask(agent(tmp_path, code), seconds=1.5)
    assert time.monotonic() - started < 10
    assert "gave no answer within 1.5 s." in report.undetermined[0]
    await asyncio.to_thread(until_gone, number_in(note))


async def test_a_check_that_is_cancelled_leaves_no_process_behind(tmp_path: Path) -> None:
    note = tmp_path / "pid"
    code = f'open({str(note)!r}, "w").write(str(os.getpid())); time.sleep(60)'
    task = asyncio.create_task(ask(agent(tmp_path, code)))
    pid = await asyncio.to_thread(number_in, note)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await asyncio.to_thread(until_gone, pid)


def number_in(path: Path) -> int:
    """The number that a program writes into a file, once it has."""
    while not (path.exists() and path.read_text()):
        time.sleep(0.05)
    return int(path.read_text())


def until_gone(pid: int) -> None:
    """A killed grandchild is reaped by whoever is its parent by then, so a zombie counts as gone."""
    for _ in range(100):
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except (FileNotFoundError, ProcessLookupError):
            return
        if state == "Z":
            return
        time.sleep(0.05)
    raise AssertionError(f"process {pid} is still there")


async def test_nothing_of_the_environment_is_handed_on_but_what_programs_need_and_what_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("ANTHROPIC_API_KEY", "GITHUB_TOKEN", "MY_AGENT_KEY"):
        monkeypatch.setenv(name, "secret")
    held = environment_for(os.environ, ("MY_AGENT_KEY",))
    assert held["PATH"] == os.environ["PATH"]
    assert [name for name, value in held.items() if value == "secret"] == ["MY_AGENT_KEY"]
    words = agent(tmp_path, "print(json.dumps({'labels': ['SC'] * ('GITHUB_TOKEN' in os.environ)}))")
    assert (await ask(words)).verdict is Verdict.ALIGNED


@pytest.mark.parametrize("code", ['print(\'{"labels": ["SC"], "reason": "why"}\')', "sys.exit(2)"])
async def test_a_transcript_replays_without_the_agent(tmp_path: Path, code: str) -> None:
    words = agent(tmp_path, code)
    report = await ask(words, transcripts=tmp_path)
    (tmp_path / "agent.py").unlink()
    transcript = json.loads((tmp_path / f"{file_name(report.id)}.json").read_text())
    assert write_report(await replay(transcript)) == write_report(report)


# Through the command


def test_the_command_line_starts_it_without_a_shell(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    words = agent(tmp_path, "print(json.dumps({'labels': ['IS'], 'reason': ' '.join(sys.argv[1:])}))")
    method = f"command:{words[0]} {words[1]} 'two words' $HOME ; touch {tmp_path}/made"
    status, out, err = command(capsys, "check", str(MISALIGNED), "--method", method, "--format", "json")
    report = json.loads(out)
    assert (status, report["labels"], err) == (1, ["IS"], "")
    assert report["findings"][0]["reason"] == f"two words $HOME ; touch {tmp_path}/made"
    assert not (tmp_path / "made").exists()


def test_the_wrapper_in_the_documentation_works(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    document = (HERE.parent / "docs" / "methods.md").read_text(encoding="utf-8")
    (tmp_path / "wrap.py").write_text(document.split("```python\n")[1].split("```")[0])
    wrapped = tmp_path / "coding_agent.py"
    wrapped.write_text(
        "import json, sys; print('working ...'); held = json.load(open('pair.json')); "
        "json.dump(['IS'] if held['id'] and 'labels.json' in sys.argv[-1] else [], open('labels.json', 'w'))"
    )
    method = f"command:{sys.executable} {tmp_path / 'wrap.py'} {sys.executable} {wrapped}"
    status, out, _ = command(capsys, "check", str(MISALIGNED), "--method", method, "--format", "json")
    assert (status, json.loads(out)["labels"]) == (1, ["IS"])


def test_a_named_variable_is_handed_on(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("MY_AGENT_KEY", "it")
    words = agent(tmp_path, "print(json.dumps({'labels': ['SC'] * ('MY_AGENT_KEY' in os.environ)}))")
    asked = ["check", str(ALIGNED), "--method", f"command:{words[0]} {words[1]}"]
    assert command(capsys, *asked)[0] == 0
    assert command(capsys, *asked, "--agent-env", "MY_AGENT_KEY")[0] == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--method", "command:"], "command: needs a program"),
        (["--method", "command:./agent 'open"], "is no command (No closing quotation)"),
        (["--method", "command:./agent", "--panel", "a,b"], "asks no model of ours"),
        (["--method", "command:./agent", "--model", "a"], "asks no model of ours"),
        (["--method", "command:./agent", "--agent-env", "NO_SUCH_ONE"], "there is no such environment variable"),
        (["--method", "command:./agent", "--budget-dollars", "1"], "--budget-dollars cannot hold for --method command"),
        (["--agent-env", "PATH"], "--agent-env is for --method command:..."),
    ],
)
def test_a_usage_error_is_a_sentence(capsys: pytest.CaptureFixture[str], options: list[str], message: str) -> None:
    status, out, err = command(capsys, "check", str(ALIGNED), *options)
    assert (status, out) == (2, "")
    assert message in err
