"""Addresses: how people write a pull request down, which GitHub it is on, and what is no address."""

from __future__ import annotations

import pytest

from checker.github.address import Address, AddressError, Host, looks_like_address, parse_address

SERVER = Host("https://git.example.org", "https://git.example.org/api/v3", "https://git.example.org/api/graphql")


@pytest.mark.parametrize(
    "text",
    [
        "octo-org/some.repo#123",
        "https://github.com/octo-org/some.repo/pull/123",
        "http://github.com/octo-org/some.repo/pull/123",
        "HTTPS://GitHub.com/octo-org/some.repo/pull/123",
        "https://www.github.com/octo-org/some.repo/pull/123",
        "github.com/octo-org/some.repo/pull/123",
        "https://github.com/octo-org/some.repo/pull/123/",
        "https://github.com/octo-org/some.repo/pull/123/files",
        "https://github.com/octo-org/some.repo/pull/123/files#diff-0a1b2c",
        "https://github.com/octo-org/some.repo/pull/123/commits/0123456",
        "https://github.com/octo-org/some.repo/pull/123#issuecomment-99",
        "https://github.com/octo-org/some.repo/pull/123?diff=split&w=1",
        "https://github.com/octo-org/some.repo/pulls/123",
    ],
)
def test_every_spelling_of_a_pull_request_gives_the_same_address(text: str) -> None:
    assert looks_like_address(text)
    assert parse_address(text, Host()) == Address("octo-org/some.repo", 123)


def test_an_address_is_shown_as_people_write_it() -> None:
    assert str(Address("octo-org/some.repo", 123)) == "octo-org/some.repo#123"


@pytest.mark.parametrize(
    "text",
    [
        "octo-org/some.repo#",
        "octo-org/some.repo#0",
        "octo-org/some.repo#x1",
        "octo-org/some.repo#1234567890",
        "octo-org/some.repo#١٢٣",
        "octo-org/some.repo#12 ",
        "octo-org/some.repo#12\n",
        "octo org/some.repo#12",
        "https://github.com/octo-org/some.repo",
        "https://github.com/octo-org/some.repo/issues/123",
        "https://github.com/octo-org/some.repo/pull/",
        "https://github.com/octo-org/some.repo/pull/12x",
        "https://github.com/octo-org/pull/12",
        "https://someone:secret@github.com/octo-org/some.repo/pull/12",
        "",
        "#12",
    ],
)
def test_what_names_no_pull_request_is_refused_with_an_example_of_one(text: str) -> None:
    with pytest.raises(AddressError, match=r"write owner/repo#123 or https://github\.com/owner/repo/pull/123"):
        parse_address(text, Host())


def test_an_address_on_another_github_is_refused_with_the_variable_that_would_read_it() -> None:
    with pytest.raises(AddressError, match=r"is on git\.example\.org, but .* set GITHUB_SERVER_URL"):
        parse_address("https://git.example.org/octo-org/repo/pull/1", Host())


def test_a_page_that_only_begins_like_the_host_is_on_another_one() -> None:
    with pytest.raises(AddressError, match=r"is on github\.com\.example\.org"):
        parse_address("https://github.com.example.org/octo-org/repo/pull/1", Host())


def test_a_message_holds_no_more_than_the_beginning_of_a_long_text() -> None:
    with pytest.raises(AddressError) as refused:
        parse_address("https://" + "a" * 1_000_000, Host())
    assert len(str(refused.value)) < 400


@pytest.mark.parametrize("text", ["https://git.example.org/o/r/pull/7", "git.example.org/o/r/pull/7", "o/r#7"])
def test_an_enterprise_server_reads_its_own_pages(text: str) -> None:
    assert parse_address(text, SERVER) == Address("o/r", 7)


def test_an_enterprise_server_may_have_a_port() -> None:
    host = Host.from_environment({"GITHUB_SERVER_URL": "http://git.example.org:8443"})
    assert parse_address("http://git.example.org:8443/o/r/pull/7", host) == Address("o/r", 7)


@pytest.mark.parametrize("text", ["pairs.jsonl", "-", "a/b.json", "data/pulls/12.json", "./o/r.json", "C:\\pairs.json"])
def test_a_file_does_not_look_like_an_address(text: str) -> None:
    assert not looks_like_address(text)


@pytest.mark.parametrize("text", ["o/r#", "o/r#twelve", "https://", "https://github.com/o/r/issues/1"])
def test_what_was_meant_as_an_address_looks_like_one_though_it_is_wrong(text: str) -> None:
    assert looks_like_address(text)


# Which GitHub is read


def test_without_any_variable_it_is_github_com() -> None:
    host = Host.from_environment({})
    assert host == Host("https://github.com", "https://api.github.com", "https://api.github.com/graphql")


def test_what_github_actions_sets_on_github_com_changes_nothing() -> None:
    names = {
        "SERVER": "https://github.com",
        "API": "https://api.github.com",
        "GRAPHQL": "https://api.github.com/graphql",
    }
    assert Host.from_environment({f"GITHUB_{name}_URL": url for name, url in names.items()}) == Host()


@pytest.mark.parametrize(
    "environment",
    [
        {"GITHUB_SERVER_URL": "https://git.example.org"},
        {"GITHUB_SERVER_URL": "https://git.example.org/"},
        {"GITHUB_API_URL": "https://git.example.org/api/v3"},
        {"GITHUB_API_URL": "https://git.example.org/api/v3/"},
        {"GITHUB_SERVER_URL": "https://git.example.org", "GITHUB_API_URL": "", "GITHUB_GRAPHQL_URL": ""},
    ],
)
def test_of_an_enterprise_server_one_address_is_enough(environment: dict[str, str]) -> None:
    assert Host.from_environment(environment) == SERVER


def test_a_tenant_with_data_residency_has_its_interface_on_a_name_of_its_own() -> None:
    host = Host.from_environment({"GITHUB_SERVER_URL": "https://octo.ghe.com"})
    assert host == Host("https://octo.ghe.com", "https://api.octo.ghe.com", "https://api.octo.ghe.com/graphql")


def test_addresses_that_are_given_are_taken_as_they_are() -> None:
    environment = {
        "GITHUB_SERVER_URL": "https://git.example.org",
        "GITHUB_API_URL": "https://rest.example.org",
        "GITHUB_GRAPHQL_URL": "https://graph.example.org/q",
    }
    given = Host("https://git.example.org", "https://rest.example.org", "https://graph.example.org/q")
    assert Host.from_environment(environment) == given


@pytest.mark.parametrize("name", ["GITHUB_SERVER_URL", "GITHUB_API_URL", "GITHUB_GRAPHQL_URL"])
@pytest.mark.parametrize("value", ["git.example.org", "ftp://git.example.org", "https://", "https://me:hidden@g.org"])
def test_what_is_no_address_of_a_server_is_refused_without_repeating_it(name: str, value: str) -> None:
    with pytest.raises(AddressError, match=f"{name} is no server's address") as refused:
        Host.from_environment({name: value})
    assert "hidden" not in str(refused.value)
