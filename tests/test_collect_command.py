"""`paichecker collect` and `paichecker check ADDRESS`: a person's words in, pairs and sentences out."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from command_line import ALIGNED, command, environment, ids, run
from conftest import Serve
from github_answers import (
    EARLY_COMMENT,
    LATE_COMMENT,
    LINKED,
    LINKED_ID,
    MERGED_AT,
    REPOSITORY,
    UNLINKED,
    UNLINKED_ID,
    answer,
)
from github_server import TOKEN, Answer, GitHubServer, Received, page, refusal

from checker.datasets.files import read_files
from checker.pair import Pair

PAGE = f"https://github.com/{REPOSITORY}/pull/3"


@pytest.fixture
def github(serve: Serve) -> GitHubServer:
    return serve(answer)


def after(*faults: Answer) -> Callable[[Received], Answer]:
    """First the faults, then the usual answers."""
    left = list(faults)
    return lambda received: left.pop(0) if left else answer(received)


def pairs(path: Path) -> list[Pair]:
    found = [item for item in read_files([str(path)]) if isinstance(item, Pair)]
    assert len(found) == len(path.read_text(encoding="utf-8").splitlines())
    return found


def comments(out: str) -> list[str]:
    return [comment["body"] for comment in json.loads(out)["pull_request"]["comments"]]


# collect


@pytest.mark.parametrize("address", [LINKED, PAGE, f"{PAGE}/files#diff-1", PAGE.removeprefix("https://")])
@pytest.mark.usefixtures("github")
def test_a_pull_request_is_collected_by_any_spelling(address: str, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = run(capsys, "collect", address)
    assert (status, err) == (0, "")
    record = json.loads(out)
    assert record["id"] == LINKED_ID
    assert [issue["number"] for issue in record["issues"]] == [2]


@pytest.mark.usefixtures("github")
def test_pairs_are_written_one_a_line_in_the_order_of_the_addresses(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "pairs.jsonl"
    assert run(capsys, "collect", UNLINKED, LINKED, "-o", str(target)) == (0, "", "")
    assert [pair.id for pair in pairs(target)] == [UNLINKED_ID, LINKED_ID]


def test_a_pull_request_that_is_named_twice_is_read_once(
    github: GitHubServer, capsys: pytest.CaptureFixture[str]
) -> None:
    _, out, _ = run(capsys, "collect", LINKED, PAGE, LINKED)
    assert ids(out) == [LINKED_ID]
    assert len(github.received) == 4


@pytest.mark.usefixtures("github")
def test_the_papers_format_is_read_back_with_the_same_patch(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ours, papers = tmp_path / "ours.jsonl", tmp_path / "papers.jsonl"
    run(capsys, "collect", LINKED, "-o", str(ours))
    run(capsys, "collect", LINKED, "-o", str(papers), "--format", "paper")
    assert json.loads(papers.read_text(encoding="utf-8"))["issue_number"] == ["2"]
    (first,), (second,) = pairs(ours), pairs(papers)
    assert first.pull_request.code_patch == second.pull_request.code_patch != ""
    assert first.request == second.request != ""


@pytest.mark.parametrize("when", ["merge", MERGED_AT, "2024-03-05T13:00:00+01:00"])
@pytest.mark.usefixtures("github")
def test_as_of_a_moment_later_texts_are_left_out(when: str, capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys, "collect", LINKED, "--as-of", when)
    assert comments(out) == [EARLY_COMMENT]


@pytest.mark.usefixtures("github")
def test_as_of_now_all_texts_are_there(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys, "collect", LINKED)
    assert comments(out) == [EARLY_COMMENT, LATE_COMMENT]


@pytest.mark.parametrize("when", ["yesterday", "2024-03-05T12:00:00", "2024-03-05", ""])
def test_a_moment_without_a_zone_or_sense_is_refused(
    when: str, github: GitHubServer, capsys: pytest.CaptureFixture[str]
) -> None:
    status, _, err = run(capsys, "collect", LINKED, "--as-of", when)
    assert status == 2
    assert "is neither now, merge, nor a time such as 2024-05-01T12:00:00Z" in err
    assert not github.received


def test_verbose_tells_how_many_requests_went_over_the_wire(
    github: GitHubServer, capsys: pytest.CaptureFixture[str]
) -> None:
    _, _, err = run(capsys, "collect", LINKED, "--verbose")
    assert err == f"paichecker: {len(github.received)} requests to https://github.com\n"
    assert len(github.received) == 4


@pytest.mark.usefixtures("github")
def test_a_terminal_of_another_encoding_gets_json_all_the_same() -> None:
    result = command("collect", LINKED, env=environment(PYTHONIOENCODING="ascii"))
    assert comments(result.stdout.decode("ascii"))[1] == LATE_COMMENT


# What cannot be read


@pytest.mark.usefixtures("github")
def test_a_wrong_address_is_told_and_the_good_ones_are_collected(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "pairs.jsonl"
    elsewhere = "https://git.example.org/o/r/pull/1"
    status, _, err = run(capsys, "collect", "tidetable", LINKED, elsewhere, f"{REPOSITORY}#9", "-o", str(target))
    assert status == 2
    assert [pair.id for pair in pairs(target)] == [LINKED_ID]
    first, second, third = err.splitlines()
    assert first.startswith("paichecker: address: 'tidetable' is no pull request; write owner/repo#123")
    assert "is on git.example.org, but https://github.com is read" in second
    assert third.startswith(f"paichecker: {REPOSITORY}#9: ")
    assert "there is no such pull request, or the token may not see it" in third


def test_a_pull_request_that_is_not_there_yet_is_waited_for(serve: Serve, capsys: pytest.CaptureFixture[str]) -> None:
    missing = {"repository": None}
    error = {"type": "NOT_FOUND", "message": "Could not resolve to a Repository."}
    serve(after(Answer(json.dumps({"data": missing, "errors": [error]}).encode())))
    status, out, err = run(capsys, "collect", LINKED)
    assert (status, ids(out), err) == (0, [LINKED_ID], "")


def test_what_a_stranger_says_stays_on_its_line(serve: Serve, capsys: pytest.CaptureFixture[str]) -> None:
    serve(lambda _: refusal(403, "No.\npaichecker: all is well\x1b[2J"))
    status, _, err = run(capsys, "collect", LINKED)
    assert status == 2
    assert len(err.splitlines()) == 1
    assert "\x1b" not in err


def test_a_token_that_is_not_taken_is_told_without_it(serve: Serve, capsys: pytest.CaptureFixture[str]) -> None:
    serve(lambda _: refusal(401, "Bad credentials"))
    status, out, err = run(capsys, "collect", LINKED, "--verbose")
    assert (status, out) == (2, "")
    assert "does not take the token (Bad credentials); set GITHUB_TOKEN to one that is valid." in err
    assert TOKEN not in err


@pytest.mark.usefixtures("github")
def test_what_was_collected_before_is_not_lost_where_nothing_can_be_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "pairs.jsonl"
    run(capsys, "collect", LINKED, "-o", str(target))
    status, _, _ = run(capsys, "collect", "tidetable", "-o", str(target))
    assert status == 2
    assert [pair.id for pair in pairs(target)] == [LINKED_ID]


def test_a_target_that_cannot_be_written_is_told_before_anything_is_asked(
    tmp_path: Path, github: GitHubServer, capsys: pytest.CaptureFixture[str]
) -> None:
    status, _, err = run(capsys, "collect", LINKED, "-o", str(tmp_path / "missing" / "pairs.jsonl"))
    assert status == 2
    assert "pairs.jsonl: it cannot be written (No such file or directory)" in err
    assert not github.received


@pytest.mark.parametrize("name", ["GITHUB_SERVER_URL", "GITHUB_API_URL", "GITHUB_GRAPHQL_URL"])
def test_a_server_that_is_no_address_is_told(
    name: str, github: GitHubServer, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(name, "git.example.org")
    status, _, err = run(capsys, "collect", LINKED)
    assert status == 2
    assert f"{name} is no server's address" in err
    assert not github.received


# Waits


def test_a_long_wait_is_told_and_one_that_is_too_long_is_not_begun(
    serve: Serve, capsys: pytest.CaptureFixture[str]
) -> None:
    serve(after(refusal(403, "You have exceeded a secondary rate limit.").also(retry_after="3600")))
    status, _, err = run(capsys, "collect", LINKED)
    assert status == 2
    assert "GitHub limits the requests (403) and asks to wait 3600 s; at most 90 s are waited." in err


def test_a_wait_of_seconds_is_told_before_it_begins(serve: Serve, capsys: pytest.CaptureFixture[str]) -> None:
    serve(after(refusal(429, "Too many requests").also(retry_after="5")))
    status, out, err = run(capsys, "collect", LINKED)
    assert (status, ids(out)) == (0, [LINKED_ID])
    assert err == "paichecker: GitHub limits the requests (429); waiting 5 s\n"


def test_a_short_pause_is_not_told(serve: Serve, capsys: pytest.CaptureFixture[str]) -> None:
    serve(after(page("Unicorn!", 502)))
    assert run(capsys, "check", LINKED)[2] == ""


# The token


def test_the_token_of_a_file_goes_before_that_of_the_environment(
    tmp_path: Path, github: GitHubServer, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "token"
    file.write_text("ghp_ofTheFile\n", encoding="utf-8")
    assert run(capsys, "collect", LINKED, "--token-file", str(file))[0] == 0
    assert {received.headers["authorization"] for received in github.received} == {"token ghp_ofTheFile"}


def test_gh_token_is_taken_where_github_token_is_not_set(
    github: GitHubServer, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("GITHUB_TOKEN", "")
    monkeypatch.setenv("GH_TOKEN", "ghp_ofTheOther")
    run(capsys, "collect", LINKED)
    assert {received.headers["authorization"] for received in github.received} == {"token ghp_ofTheOther"}


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (None, "it cannot be read (No such file or directory)"),
        (b"\xff\xfe", "it cannot be read (it is no text)"),
        (b"", "it holds no token"),
        (b"ghp_one\nghp_two\n", "it holds no token"),
        ("ghp_ön".encode(), "it holds no token"),
    ],
)
def test_a_file_without_a_token_is_told_without_repeating_it(
    content: bytes | None, reason: str, tmp_path: Path, github: GitHubServer, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "token"
    if content is not None:
        file.write_bytes(content)
    status, _, err = run(capsys, "collect", LINKED, "--token-file", str(file))
    assert status == 2
    assert err.startswith(f"paichecker: --token-file {file}: {reason}")
    assert "ghp_" not in err
    assert not github.received


def test_without_a_token_the_way_to_one_is_told(
    github: GitHubServer, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("GITHUB_TOKEN")
    status, _, err = run(capsys, "check", LINKED)
    assert status == 2
    assert "set GITHUB_TOKEN" in err
    assert not github.received


def through(monkeypatch: pytest.MonkeyPatch, proxy: str, name: str = "HTTP_PROXY", no_proxy: str = "") -> None:
    """A GitHub that only a proxy knows."""
    monkeypatch.setenv("GITHUB_API_URL", "http://api.github.test")
    monkeypatch.setenv(name, proxy)
    monkeypatch.setenv("NO_PROXY", no_proxy)


@pytest.mark.parametrize("name", ["HTTP_PROXY", "http_proxy"])
def test_a_proxy_is_asked_where_there_is_one(
    name: str, github: GitHubServer, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    through(monkeypatch, github.url.removeprefix("http://") if name.islower() else f"http://me:secret@{github.url[7:]}")
    status, out, _ = run(capsys, "collect", LINKED)
    assert (status, ids(out)) == (0, [LINKED_ID])
    assert {received.headers["host"] for received in github.received} == {"api.github.test"}
    assert {"proxy-authorization" in received.headers for received in github.received} == {not name.islower()}


def test_no_proxy_excepts_a_server(
    github: GitHubServer, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    through(monkeypatch, "http://127.0.0.1:1", no_proxy="127.0.0.1,.example.org")
    monkeypatch.setenv("GITHUB_API_URL", github.url)
    assert run(capsys, "collect", LINKED)[0] == 0


@pytest.mark.usefixtures("github")
def test_a_proxy_that_is_no_address_is_told_without_its_password(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for proxy in ("socks5://me:secret@proxy:1080", "http://me:secret@", "http://me:secret@proxy:3128/?x"):
        through(monkeypatch, proxy)
        status, _, err = run(capsys, "collect", LINKED)
        assert (status, "HTTP_PROXY is no proxy's address" in err, "secret" in err) == (2, True, False), proxy


# check


@pytest.mark.usefixtures("github")
def test_an_address_is_checked_as_its_collected_pair_is(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "pair.jsonl"
    run(capsys, "collect", LINKED, "--as-of", "merge", "-o", str(target))
    from_address = run(capsys, "check", LINKED, "--as-of", "merge", "--format", "json")
    assert from_address == run(capsys, "check", str(target), "--format", "json")
    assert from_address[0] == 0


@pytest.mark.usefixtures("github")
def test_a_pull_request_without_a_linked_issue_is_a_result(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = run(capsys, "check", UNLINKED)
    assert (status, err) == (0, "")
    assert "The pull request is linked to no issue" in out


@pytest.mark.usefixtures("github")
def test_files_and_addresses_are_checked_in_one_go_files_first(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = run(capsys, "check", LINKED, str(ALIGNED), UNLINKED, "--format", "json")
    assert status == 0
    assert ids(out)[1:] == [LINKED_ID, UNLINKED_ID]
    assert len(ids(out)) == 3


@pytest.mark.usefixtures("github")
def test_wrong_addresses_and_files_are_told_and_the_rest_is_checked(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = run(capsys, "check", f"{REPOSITORY}#", "missing.json", LINKED, "--format", "json")
    assert status == 2
    assert ids(out) == [LINKED_ID]
    assert "missing.json: there is no such file" in err
    assert f"'{REPOSITORY}#' is no pull request; write owner/repo#123" in err


def test_a_file_whose_name_looks_like_an_address_is_a_file(
    tmp_path: Path, github: GitHubServer, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "pairs#1").write_bytes(ALIGNED.read_bytes())
    status, out, _ = run(capsys, "check", "data/pairs#1", "--format", "json")
    assert (status, len(ids(out))) == (0, 1)
    assert not github.received


def test_a_check_of_files_asks_github_nothing(
    github: GitHubServer, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("GITHUB_TOKEN")
    assert run(capsys, "check", str(ALIGNED))[0] == 0
    assert not github.received


@pytest.mark.usefixtures("github")
def test_the_token_is_in_no_transcript(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(capsys, "check", LINKED, "--transcripts", str(tmp_path))
    written = list(tmp_path.rglob("*.json"))
    assert written
    assert not [path for path in written if TOKEN in path.read_text(encoding="utf-8")]
