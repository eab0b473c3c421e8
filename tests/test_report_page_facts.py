"""`paichecker report`: what it counts, what it says, and what it says about a folder that it cannot read.

`PAICHECKER_RENEW_GOLDEN=1 pytest tests/test_report_page_facts.py` writes the golden file anew; read what has changed.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from audits import examples, row_of, write_audit
from command_line import run
from test_bot_inert import ACTIVE, HOSTILE, Seen, random_texts
from test_render import MARKDOWN, MENTIONS, REFERENCES, agrees, full_report, rendered

from checker.audit_folder import AuditFolder
from checker.audit_report.markdown import as_markdown
from checker.audit_report.page import as_html
from checker.audit_report.pairs import as_data
from checker.audit_report.rates import Share, cost, rates
from checker.audit_report.reading import Audit, AuditResultsError, read_audit
from checker.report import Report, RoleUsage, Verdict
from checker.taxonomy import Artifact, Label, Role


@pytest.fixture
def audit(tmp_path: Path) -> Audit:
    return replace(read_audit(write_audit(tmp_path / "audit", examples())), updated=date(2026, 1, 2))


def report(name: str, verdict: Verdict, **more: Any) -> Report:
    return Report(id=name, backend="model-x", verdict=verdict, **more)


def reports(tmp_path: Path, *rows: Report, failures: Sequence[Report] = ()) -> Audit:
    failed = [row_of(one) for one in failures]
    return read_audit(write_audit(tmp_path / "made", [row_of(one) for one in rows], failed))


# Counts


def test_labels_verdicts_and_actions_are_counted_over_the_judged_pairs(audit: Audit) -> None:
    numbers = rates(audit.judged)
    assert numbers.pairs == 4
    assert numbers.verdicts[Verdict.MISALIGNED] == 3
    assert sum(numbers.verdicts.values()) == sum(numbers.actions.values()) == 4
    found = {rate.label: rate.found.count for rate in numbers.labels}
    assert found == {Label.SC: 1, Label.DP: 0, Label.IS: 1, Label.FP: 0, Label.UL: 1, Label.OTHERS: 1}


def test_a_failed_pair_is_in_no_count_and_is_told(tmp_path: Path) -> None:
    aligned, lost = report("a", Verdict.ALIGNED), report("b", Verdict.UNDETERMINED)
    audit = reports(tmp_path, aligned, failures=[lost, replace(aligned, verdict=Verdict.UNDETERMINED)])
    assert rates(audit.judged).pairs == 1
    assert [row.report.id for row in audit.failed] == ["b"]
    for text in (as_markdown(audit), as_html(audit)):
        assert "1 pair judged by model-x" in text
        assert "1 pair failed" in text.replace("\\", "")


def test_what_was_not_read_stands_beside_every_label_that_lives_from_it(tmp_path: Path) -> None:
    unread = report("a", Verdict.UNDETERMINED, unread=(Artifact.ISSUE_DISCUSSION,), partial=(Artifact.TEST_PATCH,))
    audit = reports(tmp_path, unread, report("b", Verdict.ALIGNED))
    numbers = rates(audit.judged)
    open_pairs = {rate.label: rate.unread for rate in numbers.labels}
    assert open_pairs == {Label.SC: 0, Label.DP: 0, Label.IS: 1, Label.FP: 0, Label.UL: 1, Label.OTHERS: 0}
    assert numbers.unread == {Artifact.ISSUE_DISCUSSION: (1, 0), Artifact.TEST_PATCH: (0, 1)}


@pytest.mark.parametrize(
    ("count", "whole", "low", "high"), [(1, 10, 0.0179, 0.4042), (0, 20, 0.0, 0.1611), (50, 100, 0.4038, 0.5962)]
)
def test_the_interval_is_wilsons(count: int, whole: int, low: float, high: float) -> None:
    assert Share(count, whole).interval == pytest.approx((low, high), abs=1e-4)


def test_of_no_pairs_nothing_is_known(tmp_path: Path) -> None:
    assert Share(0, 0).interval == (0.0, 1.0)
    for text in (as_markdown(reports(tmp_path)), as_html(reports(tmp_path))):
        assert "No pair has a result yet" in text


def test_a_cost_with_an_unknown_price_is_unknown(tmp_path: Path) -> None:
    known, unknown = (
        RoleUsage(Role.COORDINATOR, "m", 2, 10, 0, 5, 0.5),
        RoleUsage(Role.COORDINATOR, "n", 1, 1, 0, 1, None),
    )
    audit = reports(tmp_path, *(report(u.model, Verdict.ALIGNED, usage=(u,)) for u in (known, known, unknown)))
    spent = cost(audit.judged)
    assert [(m.model, m.calls, m.tokens, m.dollars) for m in spent.models] == [("m", 4, 30, 1.0), ("n", 1, 2, None)]
    assert (spent.tokens, spent.dollars, spent.median_seconds) == (32, None, 1.5)
    assert "price unknown" in as_markdown(audit)


def test_attempts_that_no_pair_shows_are_told(tmp_path: Path) -> None:
    folder = write_audit(tmp_path / "audit", examples())
    usage = {"input_tokens": 1000, "output_tokens": 200, "cache_read_tokens": 34}
    (folder / "spending.jsonl").write_text(json.dumps({"model": "m", "usage": usage}) + "\n")
    assert "took 1,234 tokens" in as_markdown(read_audit(folder))


# Words


def test_the_markdown_of_the_examples_is_as_its_golden_file(audit: Audit) -> None:
    agrees("audit-report.md", as_markdown(audit))


def test_undetermined_is_never_said_to_be_aligned(tmp_path: Path) -> None:
    audit = reports(tmp_path, report("a", Verdict.UNDETERMINED), report("b", Verdict.NOTHING_FOUND))
    rows = [line.split(" | ")[:2] for line in as_markdown(audit).splitlines() if line.startswith("| ")]
    assert ["| undetermined", "1"] in rows
    assert ["| nothing found", "1"] in rows
    assert ["| aligned", "0"] in rows


def test_who_judged_is_said_and_of_rules_that_they_see_no_intent(audit: Audit, tmp_path: Path) -> None:
    assert "4 pairs judged by rules" in as_html(audit)
    assert "intent was not judged" in as_html(audit)
    by_model = as_html(reports(tmp_path, report("a", Verdict.ALIGNED)))
    assert "1 pair judged by model-x" in by_model
    assert "intent was not judged" not in by_model


def test_a_sample_and_a_method_are_said(tmp_path: Path) -> None:
    settings = {"sample": 4, "stratify": "repo", "seed": 7, "method": "zero-shot"}
    text = as_html(read_audit(write_audit(tmp_path / "audit", examples(), **settings)))
    assert "A sample of 4 pairs, each repository with its share, drawn with seed 7." in text
    assert "Method: zero-shot." in text


def test_the_folders_of_the_machine_are_not_told(audit: Audit) -> None:
    for text in (as_html(audit), as_markdown(audit)):
        assert "pairs.jsonl" in text
        assert "secret-project" not in text


@pytest.mark.parametrize("stranger", [*MARKDOWN, *MENTIONS])
def test_a_strangers_text_in_the_markdown_is_text(tmp_path: Path, stranger: str) -> None:
    made = {words: as_markdown(_hostile(tmp_path, words)) for words in (stranger, "plain words")}
    seen = {words: rendered(text) for words, text in made.items()}
    assert [tag for tag in seen[stranger].tags if tag != "span"] == [t for t in seen["plain words"].tags if t != "span"]
    assert seen[stranger].addresses == []
    assert REFERENCES.findall(seen[stranger].text) == []


def test_as_github_renders_it_a_strangers_text_only_shows(tmp_path: Path) -> None:
    plain_words = Seen(as_markdown(_hostile(tmp_path, "plain words")))
    for stranger in (text.encode("utf-8", "replace").decode() for text in (*HOSTILE, *random_texts())):
        seen = Seen(as_markdown(_hostile(tmp_path, stranger)))
        seen.elements.pop("span", None)
        assert seen.elements == plain_words.elements
        assert (seen.addresses, seen.comments) == ([], [])
        assert [match[0] for text in seen.texts for match in ACTIVE.finditer(text)] == []


def _hostile(tmp_path: Path, stranger: str) -> Audit:
    line = row_of(full_report(stranger), repository=stranger, reason=stranger)
    return read_audit(write_audit(tmp_path / "hostile", [line], source=stranger, method=stranger))


def test_the_markdown_of_thousands_fits_into_an_issue_and_says_what_it_leaves_out(tmp_path: Path) -> None:
    rows = [row_of(replace(full_report("words " * 50), id=f"a__b-{n}")) for n in range(2000)]
    text = as_markdown(read_audit(write_audit(tmp_path / "audit", rows)))
    assert len(text) < 65_536
    left = re.search(r"([\d,]+) more stand in the page", text)
    assert left is not None
    assert int(left[1].replace(",", "")) + text.count("- **a__b") == 2000


# The page as a file


@pytest.mark.parametrize("stranger", ["</script>", "<!--<script>", "]]>", "\u2028\u2029", "&quot;", "\U0001f600é"])
def test_the_data_end_no_element_and_are_ascii(tmp_path: Path, stranger: str) -> None:
    data = as_data(_hostile(tmp_path, stranger).judged)
    assert data.isascii()
    assert not re.search("[<>&]", data)
    assert json.loads(data)["pairs"][0]["findings"][0]["quotes"][0]["text"] == "\n".join(stranger.splitlines())


def test_the_policy_allows_the_pages_own_script_and_style_and_nothing_else(audit: Audit) -> None:
    page = as_html(audit)
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page)
    assert policy is not None
    script, style = re.findall(r"<script>(.*?)</script>|<style>(.*?)</style>", page, re.DOTALL)
    inline = {"style-src": script[1], "script-src": style[0]}
    rules = dict(rule.split(" ", 1) for rule in policy[1].split("; "))
    for name, text in inline.items():
        assert rules[name] == f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
    assert rules["default-src"] == rules["base-uri"] == rules["form-action"] == "'none'"
    assert " style=" not in page


def test_a_name_of_the_template_in_a_strangers_text_stays_text(tmp_path: Path) -> None:
    assert "<h1>Audit of $data ${title}</h1>" in as_html(_hostile(tmp_path, "$data ${title}"))


# Folders


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("results.jsonl", "no json\n", "results.jsonl line 1: this is no row of an audit; mend it"),
        ("results.jsonl", "[]\n", "results.jsonl line 1"),
        ("results.jsonl", "[" * 100_000 + "\n", "results.jsonl line 1"),
        ("failures.jsonl", '{"id": "a"}\n', r"failures.jsonl line 1: this is no row of an audit \(field "),
        ("audit.json", "[1]", "audit.json: these are no settings"),
        ("spending.jsonl", '{"usage": 3}\n', "spending.jsonl: a line of it"),
    ],
)
def test_what_is_no_audit_is_said_with_its_place(tmp_path: Path, name: str, text: str, said: str) -> None:
    folder = write_audit(tmp_path / "audit", examples())
    (folder / name).write_text(text)
    with pytest.raises(AuditResultsError, match=said):
        read_audit(folder)


@pytest.mark.parametrize(("field", "value"), [("verdict", "fine"), ("action", "burn"), ("seconds", float("nan"))])
def test_a_row_with_a_field_of_another_kind_is_refused(tmp_path: Path, field: str, value: object) -> None:
    folder = write_audit(tmp_path / "audit", [{**examples()[0], field: value}])
    with pytest.raises(AuditResultsError, match=field):
        read_audit(folder)


def test_an_audit_under_way_is_read_up_to_its_last_whole_line_and_said_to_run(tmp_path: Path) -> None:
    folder = write_audit(tmp_path / "audit", examples())
    with AuditFolder(folder):
        with (folder / "results.jsonl").open("a") as file:
            file.write('{"id": "half')
        audit = read_audit(folder)
    assert len(audit.judged) == 4
    assert "still running" in as_markdown(audit)
    assert "still running" not in as_markdown(read_audit(folder))


# The command


def test_both_forms_are_written_into_the_folder_and_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = write_audit(tmp_path / "audit", examples())
    status, out, err = run(capsys, "report", str(folder))
    assert (status, out) == (0, "")
    assert err.splitlines() == [f"paichecker: {folder / name} is written" for name in ("report.html", "report.md")]
    for form, name in (("html", "report.html"), ("markdown", "report.md")):
        assert run(capsys, "report", str(folder), "--format", form) == (0, (folder / name).read_text("utf-8"), "")


def test_a_real_audit_is_reported_on(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = tmp_path / "pairs.jsonl"
    lines = [json.dumps(json.loads((Path(__file__).parent.parent / "examples" / "aligned.json").read_text("utf-8")))]
    source.write_text("\n".join(lines), encoding="utf-8")
    assert run(capsys, "audit", str(source), "-o", str(tmp_path / "out"), "--backend", "rules")[0] == 0
    status, out, _ = run(capsys, "report", str(tmp_path / "out"), "--format", "markdown")
    assert status == 0
    assert "1 pair judged by rules" in out


def test_a_folder_without_results_and_one_that_cannot_be_written_are_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status, out, err = run(capsys, "report", str(tmp_path))
    assert (status, out) == (2, "")
    assert "paichecker audit -o writes them" in err
    folder = write_audit(tmp_path / "audit", examples())
    (folder / "report.html.part").mkdir()
    status, _, err = run(capsys, "report", str(folder))
    assert status == 2
    assert "print it with --format instead" in err
