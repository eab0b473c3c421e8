"""`paichecker audit`: a data set judged within limits, resumably, into rows that say what to do."""

from __future__ import annotations

import json
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow.parquet
import pytest
from anthropic_server import Answer, MessagesServer, Received, error, message
from command_line import run
from fakes import connection, decide, issue, load_pair, no, validated, yes

from checker import prompting
from checker.audit_folder import FAILURES, RESULTS, SPENDING, UNREADABLE, AuditFolder
from checker.audit_summary import Tally, Unfinished, summary
from checker.datasets.problem import InputProblem
from checker.pair import write_pair
from checker.render import as_text
from checker.report import read_report
from checker.taxonomy import Artifact, Role

PAIRS = ("accidental-link", "aligned", "follow-up", "four-duplicates", "incomplete-specification", "typo-number")
IDS = {load_pair(name).id for name in PAIRS}


class Model:
    """A server's answers: nothing is found, but scope creep in pull requests whose title has one of the words.

    `broken`: words of titles for which the PR Scope Analyzer is refused. `most` counts how many it answered at once.
    """

    def __init__(self, *, seconds: float = 0.0) -> None:
        self.broken: set[str] = set()
        self.creeping: dict[str, str] = {}
        self.most = self._now = 0
        self._seconds = seconds
        self._lock = threading.Lock()

    def __call__(self, received: Received) -> Answer:
        with self._lock:
            self._now += 1
            self.most = max(self.most, self._now)
        time.sleep(self._seconds)
        try:
            return self._answer(received)
        finally:
            with self._lock:
                self._now -= 1

    def _answer(self, received: Received) -> Answer:
        role = role_of(received)
        shown = received.body["messages"][0]["content"][0]["text"]
        if role is Role.SCOPE_ANALYZER:
            if any(word in shown for word in self.broken):
                return error(400, "invalid_request_error", "no")
            return message(json.dumps(self._scope(shown, received)))
        found = {Role.ISSUE_ANALYZER: issue(), Role.CONNECTION_ANALYZER: connection()}
        kept = {Role.COORDINATOR: decide(SC=True), Role.CODE_VALIDATOR: validated(SC=True)}
        return message(json.dumps({**found, **kept}[role]))

    def _scope(self, shown: str, received: Received) -> dict[str, Any]:
        names = received.body["output_config"]["format"]["schema"]["properties"].keys() - {"signals", "clues"}
        answer: dict[str, Any] = {name: no() for name in names}
        for word, quote in self.creeping.items():
            if word in shown:
                answer["scope_creep"] = yes("SC-2", "pr/title", quote)
        return {"signals": [], "clues": [], **answer}


def role_of(received: Received) -> Role:
    firsts = {prompting.load(role).system.splitlines()[0]: role for role in Role}
    return firsts[received.system.splitlines()[0]]


@pytest.fixture
def model() -> Model:
    return Model()


@pytest.fixture
def server(model: Model, monkeypatch: pytest.MonkeyPatch) -> Iterator[MessagesServer]:
    with MessagesServer(model) as running:
        monkeypatch.setenv("ANTHROPIC_API_KEY", "test")
        monkeypatch.setenv("ANTHROPIC_BASE_URL", running.url)
        yield running


@pytest.fixture
def source(tmp_path: Path) -> str:
    path = tmp_path / "pairs.jsonl"
    path.write_text("".join(json.dumps(write_pair(load_pair(name))) + "\n" for name in PAIRS), encoding="utf-8")
    return str(path)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "audit"


Command = Any


@pytest.fixture
def audit(source: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> Command:
    """The command on the pairs; status, standard output, standard error."""
    return lambda *more: run(capsys, "audit", source, "-o", str(folder), *more)


def rows(folder: Path, name: str = RESULTS) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / name).read_text(encoding="utf-8").splitlines()]


def title_of(name: str) -> str:
    title = load_pair(name).pull_request.title
    assert title
    return title


def test_every_pair_has_one_row_that_says_what_to_do(audit: Command, folder: Path) -> None:
    status, out, err = audit("--backend", "rules")
    assert (status, err) == (0, "")
    found = {row["id"]: row for row in rows(folder)}
    assert (found.keys(), len(rows(folder))) == (IDS, len(PAIRS))
    mended = found[load_pair("incomplete-specification").id]
    assert (mended["verdict"], mended["labels"], mended["action"]) == ("misaligned", ["IS"], "repair")
    assert mended["statement"].startswith(load_pair("incomplete-specification").request.rstrip())
    assert mended["repository"] == load_pair("incomplete-specification").repository
    assert found[load_pair("accidental-link").id]["action"] == "drop"
    assert {row["backend"] for row in found.values()} == {"rules"}
    assert all(read_report({k: v for k, v in row.items() if k not in _OURS}) for row in found.values())
    assert "6 pairs judged by rules" in out
    assert "0 tokens, $0.00 in all runs" in out


_OURS = ("repository", "action", "reason", "statement", "tokens", "dollars", "seconds")


def test_the_rows_are_also_a_table(audit: Command, folder: Path) -> None:
    audit("--backend", "rules")
    table = pyarrow.parquet.read_table(folder / "results.parquet").to_pylist()
    lines = rows(folder)
    assert [row["id"] for row in table] == [row["id"] for row in lines]
    for row, line in zip(table, lines, strict=True):
        assert {name: row[name] for name in ("labels", "action", "statement", "unread", "seconds")} == {
            name: line[name] for name in ("labels", "action", "statement", "unread", "seconds")
        }
        assert row["scenarios"] == [finding["scenario"] for finding in line["findings"]]
        quotes = [evidence["quote"] for finding in line["findings"] for evidence in finding["evidence"]]
        assert [evidence["quote"] for evidence in row["evidence"]] == quotes


def test_without_pyarrow_the_lines_are_there_and_the_table_is_told_of(
    audit: Command, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    status, _, err = audit("--backend", "rules")
    assert (status, len(rows(folder))) == (0, len(PAIRS))
    assert err == (
        "paichecker: results.parquet wants pyarrow: install PAIChecker with its extra parquet: "
        "pip install -c constraints.txt '.[parquet]' in a checkout\n"
    )


def test_a_second_run_judges_nothing_again(audit: Command, folder: Path, server: MessagesServer) -> None:
    assert audit()[0] == 0
    lines, asked = (folder / RESULTS).read_bytes(), len(server.received)
    status, out, _ = audit()
    assert (status, (folder / RESULTS).read_bytes(), len(server.received)) == (0, lines, asked)
    assert "6 pairs judged by claude-sonnet-5-5" in out


def test_costs_are_those_of_all_runs_and_stand_in_the_rows(
    audit: Command, folder: Path, server: MessagesServer
) -> None:
    _, out, _ = audit()
    spent = sum(row["tokens"] for row in rows(folder))
    assert spent == 15 * len(server.received)
    assert f"{spent:,} tokens, " in out
    assert f"{spent:,} tokens, " in audit()[1]
    assert sum(row["dollars"] for row in rows(folder)) == pytest.approx(len(server.received) * (10 * 2 + 5 * 10) / 1e6)
    assert len(rows(folder, SPENDING)) == len(server.received)


def test_a_failed_check_is_kept_with_its_reason_and_judged_again_only_on_request(
    audit: Command, folder: Path, server: MessagesServer, model: Model
) -> None:
    broken = load_pair("aligned").id
    model.broken = {title_of("aligned")}
    status, out, _ = audit()
    assert status == 4
    assert "1 without a result, 1 of them failed (failures.jsonl)" in out
    assert {row["id"] for row in rows(folder)} == IDS - {broken}
    (failure,) = rows(folder, FAILURES)
    assert (failure["id"], failure["verdict"], failure["action"]) == (broken, "undetermined", "look")
    assert "The PR Scope Analyzer failed" in failure["reason"]

    model.broken, asked = set(), len(server.received)
    assert audit()[0] == 4
    assert len(server.received) == asked
    assert audit("--retry-failed")[0] == 0
    assert {row["id"] for row in rows(folder)} == IDS
    assert rows(folder, FAILURES) == []
    again = server.received[asked:]
    assert {role_of(received) for received in again} == {Role.SCOPE_ANALYZER}, "the other answers were kept"


def test_what_the_server_refuses_is_not_spent(
    audit: Command, folder: Path, server: MessagesServer, model: Model
) -> None:
    model.broken = {title_of(name) for name in PAIRS}
    status, out, _ = audit()
    failed = rows(folder, FAILURES)
    assert (status, {row["id"] for row in failed}) == (4, IDS)
    assert f"{sum(row['tokens'] for row in failed):,} tokens, " in out
    refused = sum(role_of(received) is Role.SCOPE_ANALYZER for received in server.received)
    assert len(rows(folder, SPENDING)) == len(server.received) - refused


def test_a_failure_is_kept_once_however_often_it_is_tried(
    audit: Command, folder: Path, server: MessagesServer, model: Model
) -> None:
    model.broken = {title_of("aligned")}
    for _ in range(3):
        assert audit("--retry-failed")[0] == 4
    assert [row["id"] for row in rows(folder, FAILURES)] == [load_pair("aligned").id]


@pytest.mark.parametrize("budget", [("--budget-tokens", "60000"), ("--budget", "0.15")])
def test_a_budget_ends_the_audit_and_a_higher_one_goes_on(
    budget: tuple[str, str], audit: Command, folder: Path, server: MessagesServer
) -> None:
    status, out, err = audit("--jobs", "1", "--budget-tokens", "6500")
    assert (status, err) == (4, "paichecker: the budget is spent; a higher one goes on where this run stopped\n")
    done, asked = rows(folder), len(server.received)
    assert len(done) < len(PAIRS)
    assert rows(folder, FAILURES) == [], "what was not paid for has not failed"
    assert f"{len(PAIRS) - len(done)} without a result" in out
    assert audit("--jobs", "1", *budget)[0] == 0
    assert {row["id"] for row in rows(folder)} == IDS
    bodies = [json.dumps(received.body, sort_keys=True) for received in server.received]
    assert asked > 0
    assert len(set(bodies)) == len(bodies), "no reply was paid for twice"


def test_a_budget_of_dollars_needs_prices(audit: Command, server: MessagesServer, folder: Path) -> None:
    status, _, err = audit("--budget", "1", "--model", "mine")
    assert (status, err) == (2, "paichecker: --budget needs the price of mine: give it with --prices FILE\n")


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("--model", "claude-haiku-5-5"), "begun with claude-sonnet-5-5 as the judge, not with claude-haiku-5-5"),
        (("--backend", "rules"), "begun with claude-sonnet-5-5 as the judge, not with rules as the judge; go on"),
        (("--no-shortcuts",), "it was begun without --no-shortcuts, not with --no-shortcuts"),
        (("--sample", "2"), "it was begun without --sample, not with --sample 2"),
        (("--without", "validator"), "it was begun with the whole method, not with --without validator"),
    ],
)
def test_a_folder_does_not_mix_audits(
    more: tuple[str, ...], said: str, audit: Command, server: MessagesServer, folder: Path
) -> None:
    audit()
    before, asked = (folder / RESULTS).read_bytes(), len(server.received)
    status, out, err = audit(*more)
    assert (status, out) == (2, "")
    assert said in err
    assert ((folder / RESULTS).read_bytes(), len(server.received)) == (before, asked)


def test_a_last_line_that_a_stop_cut_short_is_taken_away(audit: Command, folder: Path) -> None:
    audit("--backend", "rules")
    whole = (folder / RESULTS).read_bytes()
    for name in (RESULTS, FAILURES, SPENDING):
        with (folder / name).open("ab") as file:
            file.write(b'{"id": "cut' + b"x" * 100_000)
    assert audit("--backend", "rules")[0] == 0
    assert (folder / RESULTS).read_bytes() == whole
    (folder / RESULTS).write_bytes(whole[:-3])
    assert audit("--backend", "rules")[0] == 0
    assert len(rows(folder)) == len({row["id"] for row in rows(folder)}) == len(PAIRS)


@pytest.mark.parametrize(
    ("name", "line", "said"),
    [
        (RESULTS, b"{}", "line 7: this is no row of an audit (field id); mend it"),
        (RESULTS, b'{"id": "a__b-1"}', "line 7: this is no row of an audit (field verdict); mend it"),
        (RESULTS, b"\xff", "line 7: this is no row of an audit; mend it"),
        (FAILURES, b'{"id": 3}', "line 1: this is no row of an audit (field id); mend it"),
        (SPENDING, b"{}", "line 1: this is no row of an audit (field model); mend it"),
        (SPENDING, b'{"model": "m", "usage": {"token": 1}}', "a line of it is no spending of an audit; mend it"),
        (
            SPENDING,
            b'{"model": "m", "usage": {"input_tokens": "1"}}',
            "a line of it is no spending of an audit; mend it",
        ),
    ],
)
def test_a_file_that_somebody_edited_is_told_with_its_place(
    audit: Command, folder: Path, name: str, line: bytes, said: str
) -> None:
    audit("--backend", "rules")
    with (folder / name).open("ab") as file:
        file.write(line + b"\n")
    status, _, err = audit("--backend", "rules")
    assert status == 2
    assert err.startswith(f"paichecker: {folder / name}")
    assert err.endswith(f"{said}\n")


def test_a_sample_is_drawn_by_its_seed(audit: Command, folder: Path) -> None:
    audit("--backend", "rules", "--sample", "3", "--stratify", "repo", "--seed", "7")
    drawn = {row["id"] for row in rows(folder)}
    assert len(drawn) == 3
    assert drawn < IDS


def test_a_bad_record_is_told_and_the_others_are_judged(audit: Command, source: str, folder: Path) -> None:
    with Path(source).open("a", encoding="utf-8") as file:
        file.write('{"odd": 1}\n')
    status, _, err = audit("--backend", "rules")
    assert (status, {row["id"] for row in rows(folder)}) == (2, IDS)
    assert f"{source} line 7: no format has its columns, odd" in err


def test_records_that_cannot_be_read_are_counted_and_kept_until_they_are_mended(
    audit: Command, source: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sound = Path(source).read_text(encoding="utf-8")
    Path(source).write_text(f'{{"odd": 1}}\n{sound}no JSON\n', encoding="utf-8")
    _, out, _ = audit("--backend", "rules")
    assert "records that could not be read: 2 (unreadable.jsonl)" in out
    kept = rows(folder, UNREADABLE)
    assert [row["where"] for row in kept] == [f"{source} line 1", f"{source} line 8"]
    assert kept[0]["what"].startswith("no format has its columns, odd")
    report = run(capsys, "report", str(folder), "--format", "markdown")[1].replace("\\", "")
    assert "Records that could not be read: 2. They are in no count" in report
    Path(source).write_text(sound, encoding="utf-8")
    assert "could not be read" not in audit("--backend", "rules")[1]
    assert rows(folder, UNREADABLE) == []


def test_a_budget_that_ends_a_run_before_the_source_forgets_no_unreadable_record(tmp_path: Path) -> None:
    with AuditFolder(tmp_path) as folder:
        first, second = InputProblem("a line 1", "odd"), InputProblem("a line 2", "odd")
        assert folder.keep_unreadable([first, second], whole=True) == 2
        assert folder.keep_unreadable([first], whole=False) == 2
        assert folder.keep_unreadable([second], whole=True) == 1


def test_pairs_are_checked_at_once_and_keep_to_the_rate(
    audit: Command, folder: Path, model: Model, server: MessagesServer
) -> None:
    model._seconds = 0.2
    assert audit("--jobs", "6")[0] == 0
    assert model.most > 4
    begun, asked = time.monotonic(), len(server.received)
    for path in (folder / RESULTS, folder / "replies" / "replies.sqlite"):
        path.unlink()
    model.most = 0
    (folder / RESULTS).touch()
    assert audit("--jobs", "6", "--rate", "600")[0] == 0
    again = len(server.received) - asked
    assert again == asked
    assert time.monotonic() - begun > (again - 1) * 0.1 * 0.9


def test_labels_found_by_a_model_are_counted_in_the_summary(
    audit: Command, folder: Path, model: Model, server: MessagesServer
) -> None:
    title = title_of("aligned")
    model.creeping = {title: title}
    _, out, _ = audit()
    lines = [line.split() for line in out.splitlines()]
    assert ["SC", "1", "16.7%"] in lines
    assert ["drop", "1", "16.7%"] in lines
    assert ["misaligned", "1", "16.7%"] in lines


def test_a_panel_audits_as_one_checker(audit: Command, folder: Path, server: MessagesServer) -> None:
    assert audit("--panel", "claude-haiku-5-5,claude-sonnet-5-5,claude-opus-5-5")[0] == 0
    assert {len(row["votes"]) for row in rows(folder)} == {3}
    assert sum(row["tokens"] for row in rows(folder)) == 15 * len(server.received)


def test_a_backbones_address_is_kept_without_secrets_and_another_is_refused(
    audit: Command, folder: Path, server: MessagesServer, tmp_path: Path
) -> None:
    file, panel = tmp_path / "backbones.toml", ("--panel", "a,b,claude-haiku-5-5", "--sample", "1")

    def again(address: str, model: str = "m") -> tuple[int, str]:
        file.write_text(f'[a]\nmodel = "{model}"\nbase_url = "{address}"\n[b]\nmodel = "n"\nbase_url = "{server.url}"')
        status, _, err = audit(*panel, "--backbones", str(file))
        return status, err

    address = server.url.replace("//", "//ann:secret@")
    assert again(f"{address}/?token=secret") == (0, "")
    settings = (folder / "audit.json").read_text()
    assert "secret" not in settings
    assert json.loads(settings)["backbones"] == {
        "a": {"model": "m", "address": server.url, "models": {}},
        "b": {"model": "n", "address": server.url, "models": {}},
    }
    asked = len(server.received)
    status, err = again("http://ann:secret@elsewhere.example")
    assert status == 2
    assert "secret" not in err
    assert (
        f"it was begun with a (m at {server.url}); b (n at {server.url}), "
        f"not with a (m at http://elsewhere.example); b (n at {server.url}); go on with the former"
    ) in err
    assert "not with a (other at" in again(server.url, "other")[1]
    assert again(server.url) == (0, "")
    assert len(server.received) == asked


def test_the_usual_address_may_change_and_what_is_finished_stays(
    audit: Command, server: MessagesServer, model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    audit()
    with MessagesServer(model) as elsewhere:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", elsewhere.url)
        assert audit()[0] == 0
        assert elsewhere.received == []


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("-", "-o", "x"), "name a file instead of -"),
        (("gone.jsonl", "-o", "x"), "gone.jsonl: there is no such file"),
        (("pairs.jsonl", "-o", "x", "--stratify", "repo"), "give --sample N too"),
        (("pairs.jsonl", "-o", "pairs.jsonl"), "it cannot be written to (File exists)"),
        (("pairs.jsonl", "-o", "x", "--budget", "nan"), "'nan' is no amount above 0"),
    ],
)
@pytest.mark.usefixtures("source")
def test_a_wrong_call_is_a_sentence(
    arguments: tuple[str, ...],
    said: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    status, out, err = run(capsys, "audit", *arguments)
    assert (status, out) == (2, "")
    assert said in err
    assert not Path("x").exists() or arguments[2] == "x"


def test_a_folder_that_holds_something_else_is_refused_and_left_as_it_is(audit: Command, folder: Path) -> None:
    folder.mkdir()
    (folder / "thesis.tex").touch()
    status, _, err = audit("--backend", "rules")
    assert status == 2
    assert err == f"paichecker: -o {folder}: it is not empty and holds no audit; name another folder\n"
    assert [entry.name for entry in folder.iterdir()] == ["thesis.tex"]


def test_what_a_stop_before_the_settings_leaves_is_a_folder_to_begin_in(audit: Command, folder: Path) -> None:
    (folder / "replies").mkdir(parents=True)
    for name in (RESULTS, FAILURES, SPENDING):
        (folder / name).touch()
    assert audit("--backend", "rules")[0] == 0


def test_where_nothing_was_judged_the_causes_stand_and_no_tables(audit: Command) -> None:
    status, out, _ = audit("--method", "command:false")
    assert status == 4
    assert out.startswith(
        "No pair was judged\n6 without a result, 6 of them failed (failures.jsonl)\n"
        "       6  false ended with status 1, and said nothing on standard error.\n\ntokens and price unknown "
    )


def test_what_an_agent_of_others_costs_is_unknown_wherever_it_is_told(
    audit: Command, folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    agent = tmp_path / "agent.py"
    agent.write_text('import sys; sys.stdin.read(); print(\'{"labels": ["SC"]}\')')
    status, out, _ = audit("--method", f"command:{sys.executable} {agent}")
    assert status == 0
    assert "tokens and price unknown in all runs" in out
    assert {(row["tokens"], row["dollars"]) for row in rows(folder)} == {(None, None)}
    assert pyarrow.parquet.read_table(folder / "results.parquet")["dollars"].to_pylist() == [None] * len(PAIRS)
    assert "1 call, tokens and price unknown" in as_text(read_report(rows(folder)[0]))
    report = run(capsys, "report", str(folder), "--format", "markdown")[1].replace("\\", "")
    assert "What the pairs listed cost is unknown: command:" in report
    assert "6 calls, tokens and price unknown." in report
    labels = tmp_path / "labels.csv"
    labels.write_text("instance_id,labels\n" + "".join(f"{name},SC\n" for name in IDS))
    scores = run(capsys, "evaluate", "--labels", str(labels), "--predictions", str(folder), "--format", "json")[1]
    assert {"tokens", "dollars", "seconds"} & json.loads(scores)["methods"][0].keys() == {"seconds"}
    assert "0 tokens" not in out + report
    assert "$0" not in out + report


@pytest.mark.parametrize("budget", [("--budget", "1"), ("--budget-tokens", "1000")])
def test_no_budget_is_promised_for_an_agent_of_others(audit: Command, folder: Path, budget: tuple[str, str]) -> None:
    status, out, err = audit("--method", "command:false", *budget)
    assert (status, out) == (2, "")
    assert "cannot hold for --method command:..., which tells us neither tokens nor dollars: leave them out" in err
    assert not (folder / "audit.json").exists()


def test_the_commonest_causes_of_failures_come_first() -> None:
    said = ["c", "a", "b", "a", "d", "e", "a", "b"]
    failures = [[f"The Issue Analyzer failed, so IS stay open: {cause}: no."] for cause in said]
    out = summary(Tally(), "0 tokens", Unfinished(8, failures), 1.0, "pairs.jsonl")
    assert "       3  a: no.\n       2  b: no.\n       1  c: no.\n          and 2 other causes\n" in out


def test_a_program_that_cannot_be_started_is_told_before_the_first_pair(audit: Command, folder: Path) -> None:
    status, out, err = audit("--method", "command:/no/such/program --fast")
    assert (status, out) == (2, "")
    assert "/no/such/program cannot be started" in err
    assert not (folder / FAILURES).exists() or rows(folder, FAILURES) == []


def test_where_rules_could_decide_nothing_the_way_to_the_rest_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = tmp_path / "my pairs.jsonl"
    unread = replace(load_pair("aligned"), unread=(Artifact.ISSUE_DISCUSSION, Artifact.PR_TIMELINE))
    pairs = (unread, load_pair("incomplete-specification"))
    source.write_text("".join(json.dumps(write_pair(pair)) + "\n" for pair in pairs), encoding="utf-8")
    out = run(capsys, "audit", str(source), "-o", str(tmp_path / "audit"), "--backend", "rules")[1]
    assert "1 of 2 pairs are undetermined and were not read whole; " in out
    assert f"paichecker collect --complete '{source}' -o whole.jsonl reads the rest from GitHub" in out


def test_where_rules_read_enough_nothing_is_advised(audit: Command) -> None:
    assert "collect --complete" not in audit("--backend", "rules")[1]


def test_a_folder_with_results_of_something_else_is_refused(audit: Command, folder: Path) -> None:
    folder.mkdir()
    (folder / RESULTS).write_text('{"id": "a"}\n', encoding="utf-8")
    status, _, err = audit("--backend", "rules")
    assert (status, (folder / RESULTS).read_text(encoding="utf-8")) == (2, '{"id": "a"}\n')
    assert "it holds results without audit.json" in err
