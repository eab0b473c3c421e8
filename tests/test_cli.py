"""The command line: what it prints, how it ends, and what it says about options that make no sense."""

from __future__ import annotations

import gzip
import io
import json
import os
import pty
import select
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from command_line import (
    ALIGNED,
    MISALIGNED,
    UNDETERMINED,
    Writer,
    command,
    environment,
    ids,
    nested,
    record,
    run,
    writer,
)
from fakes import HERE, load_pair

from checker.report import read_report
from checker.taxonomy import PIPELINE, Role


@pytest.fixture
def written(tmp_path: Path) -> Writer:
    return writer(tmp_path)


# What it prints, and the exit status


@pytest.mark.parametrize(
    ("paths", "status"),
    [
        ([ALIGNED], 0),
        ([MISALIGNED], 1),
        ([UNDETERMINED], 3),
        ([ALIGNED, UNDETERMINED], 3),
        ([ALIGNED, UNDETERMINED, MISALIGNED], 1),
    ],
)
def test_the_exit_status_tells_the_worst_verdict(
    capsys: pytest.CaptureFixture[str], paths: list[Path], status: int
) -> None:
    assert run(capsys, "check", *map(str, paths))[0] == status


def test_json_is_one_report_a_line_that_reads_back(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, err = run(capsys, "check", str(MISALIGNED), str(ALIGNED), "--format", "json")
    first, second = (json.loads(line) for line in out.splitlines())
    assert (first["verdict"], second["verdict"]) == ("misaligned", "nothing_found")
    assert first["id"] == load_pair("scope-creep-and-literal").id
    assert "UL" in first["labels"]
    assert "unspecified-literal" in {signal["kind"] for signal in first["signals"]}
    assert read_report(first).id == first["id"]
    assert err == ""


@pytest.mark.parametrize(("form", "begins"), [("text", "{id}: MISALIGNED"), ("markdown", "## ")])
def test_text_and_markdown_begin_with_the_pair(capsys: pytest.CaptureFixture[str], form: str, begins: str) -> None:
    out = run(capsys, "check", str(MISALIGNED), "--format", form)[1]
    assert out.startswith(begins.format(id=load_pair("scope-creep-and-literal").id))


def test_the_bundled_examples_are_checked_without_a_file(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = run(capsys, "check", "--examples", "--format", "json")
    assert (status, len(out.splitlines())) == (1, 4)


@pytest.mark.parametrize("shape", ["json", "indented", "list", "jsonl", "gzip", "bom", "blank lines", "crlf"])
def test_every_shape_of_a_file_is_read(capsys: pytest.CaptureFixture[str], tmp_path: Path, shape: str) -> None:
    data = record()
    line = json.dumps(data)
    texts = {
        "json": line,
        "indented": json.dumps(data, indent=2),
        "list": json.dumps([data]),
        "jsonl": f"{line}\n",
        "bom": f"\ufeff{line}",
        "blank lines": f"\n\n{line}\n\n   \n",
        "crlf": f"{line}\r\n",
    }
    path = tmp_path / "pairs"
    path.write_bytes(gzip.compress(line.encode()) if shape == "gzip" else texts[shape].encode())
    status, out, err = run(capsys, "check", str(path), "--format", "json")
    assert (status, ids(out), err) == (0, [data["id"]], "")


def test_a_dash_is_standard_input() -> None:
    done = command("check", "-", "--format", "json", input=gzip.compress(ALIGNED.read_bytes()))
    assert (done.returncode, ids(done.stdout.decode())) == (0, [load_pair("aligned").id])


def test_id_selects_in_the_order_of_the_input(capsys: pytest.CaptureFixture[str], written: Writer) -> None:
    path = written(record(id="a"), record(id="b"), record(id="c"))
    status, out, _ = run(capsys, "check", path, "--id", "c", "--id", "a", "--format", "json")
    assert (status, ids(out)) == (0, ["a", "c"])


def test_an_id_that_no_input_holds_is_told_and_the_others_are_checked(
    capsys: pytest.CaptureFixture[str], written: Writer
) -> None:
    status, out, err = run(capsys, "check", written(record(id="a")), "--id", "a", "--id", "z", "--format", "json")
    assert (status, ids(out)) == (2, ["a"])
    assert err == "paichecker: --id: no input holds 'z'\n"


def test_several_jobs_keep_the_order_of_the_input(capsys: pytest.CaptureFixture[str], written: Writer) -> None:
    names = [f"p{number}" for number in range(20)]
    path = written(*(record(id=name) for name in names))
    assert ids(run(capsys, "check", path, "--jobs", "8", "--format", "json")[1]) == names


def test_transcripts_are_written_into_a_folder_that_is_made(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    run(capsys, "check", str(ALIGNED), "--transcripts", str(tmp_path / "new" / "folder"))
    (path,) = (tmp_path / "new" / "folder").iterdir()
    assert json.loads(path.read_text(encoding="utf-8"))["report"]["verdict"] == "nothing_found"


def test_transcripts_that_cannot_be_written_are_a_usage_error(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    status, out, err = run(capsys, "check", str(ALIGNED), "--transcripts", str(tmp_path / "file"))
    assert (status, out) == (2, "")
    assert "--transcripts" in err


# Options


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "required: COMMAND"),
        (["check"], "name a FILE or ADDRESS"),
        (["check", "--examples", "x.json"], "leave out FILE and ADDRESS, or --examples"),
        (["check", "x", "--backend", "openai"], "invalid choice"),
        (["check", "x", "--format", "xml"], "invalid choice"),
        (["check", "x", "--jobs", "0"], "no whole number from 1 on"),
        (["check", "x", "--jobs", "many"], "no whole number from 1 on"),
        (["check", "x", "--budget-dollars", "nan"], "no amount above 0"),
        (["check", "x", "--backend", "anthropic"], "needs a key: set ANTHROPIC_API_KEY"),
        (["check", "x", "--model", "m"], "needs a model's key: set ANTHROPIC_API_KEY"),
        (["check", "x", "--model", "judge=m"], "there is no role 'judge'; the roles are issue_analyzer,"),
        (["check", "x", "--model", "coordinator="], "a model's name is missing"),
        (["check", "x", "--model", ""], "a model's name is missing"),
        (["check", "x", "--backend", "rules", "--model", "m"], "--backend rules asks no model"),
        (["check", "x", "--prices", "no-such-file"], "--prices no-such-file: it cannot be read (No such file"),
    ],
)
def test_a_usage_error_is_a_sentence_and_ends_with_two(
    capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    status, out, err = run(capsys, *arguments)
    assert (status, out) == (2, "")
    assert message in err


@pytest.mark.parametrize(
    ("prices", "message"),
    [
        ("{", "it is no JSON"),
        ("[]", "valid dictionary"),
        ('{"m": 1}', "m: "),
        ('{"m": {"input": 1}}', "m.output: Field required"),
        ('{"m": {"input": "x", "output": 1, "cache_read": 1, "cache_write": 1}}', "m.input: "),
        (nested(100_000), "it is no JSON"),
    ],
)
def test_a_bad_file_of_prices_is_told_with_the_field(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, prices: str, message: str
) -> None:
    path = tmp_path / "prices.json"
    path.write_text(prices)
    status, _, err = run(capsys, "check", str(ALIGNED), "--prices", str(path))
    assert status == 2
    assert err.startswith(f"paichecker: --prices {path}: ")
    assert message in err


@pytest.mark.parametrize("role", sorted(PIPELINE))
def test_every_role_may_have_its_own_model(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, role: Role
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "not a key")
    wanted = ["--model", f"{role}=claude-unheard-of", "--budget-dollars", "1", "--replies", str(tmp_path)]
    status, _, err = run(capsys, "check", str(ALIGNED), *wanted)
    assert status == 2
    assert "--budget-dollars needs the price of claude-unheard-of" in err


def test_a_transcript_that_lacks_its_parts_is_told(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "transcript.json"
    path.write_text('{"schema": "paichecker.transcript/1", "turns": []}')
    status, _, err = run(capsys, "replay", str(path))
    assert status == 2
    assert str(path) in err


# Pipes and terminals


def test_a_reader_that_goes_away_ends_it_quietly(written: Writer) -> None:
    path = written(*(record(id=f"p{number}") for number in range(300)))
    arguments = [sys.executable, "-m", "checker", "check", path, "--format", "json"]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=HERE.parent) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(60) == 141


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has a disk that is always full")
def test_a_full_disk_is_told_in_words() -> None:
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "checker", "check", str(ALIGNED)],
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
            cwd=HERE.parent,
        )
    assert done.returncode == 2
    assert done.stderr.startswith(b"paichecker: the report cannot be written (")
    assert done.stderr.count(b"\n") == 1


def test_an_encoding_that_lacks_a_character_costs_only_that_character(written: Writer) -> None:
    path = written(record(id="naïve-日本"))
    env = environment(PYTHONIOENCODING="ascii")
    assert command("check", path, env=env).stdout.startswith(rb"na\xefve-\u65e5\u672c: NOTHING FOUND")
    assert ids(command("check", path, "--format", "json", env=env).stdout.decode("ascii")) == ["naïve-日本"]


def test_in_a_pipe_there_is_no_progress_bar(written: Writer) -> None:
    done = command("check", written(record(id="a"), record(id="b")), "--format", "json")
    assert (ids(done.stdout.decode()), done.stderr) == (["a", "b"], b"")


def on_terminal(*arguments: str, out: bool) -> tuple[bytes, bytes]:
    """What the command writes to a terminal (standard error, and with `out` also standard output), and to a pipe."""
    parent, child = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "checker", *arguments],
        stdout=child if out else subprocess.PIPE,
        stderr=child,
        cwd=HERE.parent,
        env=environment(TERM="xterm", COLUMNS="100"),
    )
    os.close(child)
    shown, piped = io.BytesIO(), io.BytesIO()
    sources = [parent] if process.stdout is None else [parent, process.stdout.fileno()]
    while sources:
        for source in select.select(sources, [], [], 60)[0]:
            data = b""
            with suppress(OSError):  # Linux ends a terminal that nobody holds any more with EIO
                data = os.read(source, 65_536)
            if not data:
                sources.remove(source)
            (shown if source == parent else piped).write(data)
    os.close(parent)
    if process.stdout is not None:
        process.stdout.close()
    process.wait(60)
    return shown.getvalue(), piped.getvalue()


def test_on_a_terminal_a_bar_shows_how_far_several_pairs_are(written: Writer) -> None:
    path = written(record(id="a"), record(id="b"))
    shown, piped = on_terminal("check", path, "--format", "json", out=False)
    assert b"checking" in shown
    assert b"2/2" in shown
    assert ids(piped.decode()) == ["a", "b"]


def test_on_a_terminal_the_reports_stand_apart_from_the_bar(written: Writer) -> None:
    path = written(record(id="a"), record(id="b"))
    shown, _ = on_terminal("check", path, "--format", "json", out=True)
    lines = [line for line in shown.decode().split("\r\n") if '"verdict"' in line]
    assert [json.loads(line[line.index("{") :])["id"] for line in lines] == ["a", "b"]


def test_one_pair_needs_no_bar() -> None:
    shown, piped = on_terminal("check", str(ALIGNED), out=False)
    assert shown == b""
    assert piped.startswith(load_pair("aligned").id.encode())
