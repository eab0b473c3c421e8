"""The client over real HTTP: what it asks again and how long it waits, and what it says where a door is closed."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from github_server import CUT, SILENT, TOKEN, Answer, GitHubServer, diff, given, graphql, page, refusal

from checker.github.address import Host
from checker.github.client import Client, GitHubError, LimitError, NotFoundError, connect
from checker.github.reading import Access

DIFF = "application/vnd.github.diff"
HALF = Answer(b'{"name": "re', fate="half")
TRUNCATED = Answer(b'{"name": "re')
SECONDARY = "You have exceeded a secondary rate limit. Please wait a few minutes before you try again."
GAVE_UP = {"message": "Something went wrong while executing your query. This may be the result of a timeout."}
LIMITED = {"type": "RATE_LIMITED", "message": "API rate limit exceeded for installation ID 1."}
NOT_FOUND = {"type": "NOT_FOUND", "message": "Could not resolve to a Repository with the name 'o/r'."}


class Waits(list[tuple[float, str]]):
    """Waits that take no time: how many seconds were asked for, and why."""

    async def __call__(self, seconds: float, why: str) -> None:
        self.append((seconds, why))

    @property
    def seconds(self) -> list[float]:
        return [seconds for seconds, _ in self]

    @property
    def reasons(self) -> list[str]:
        return [why for _, why in self]


@pytest.fixture
def waits() -> Waits:
    return Waits()


@asynccontextmanager
async def asking(*answers: Answer, waits: Waits, **options: Any) -> AsyncIterator[tuple[Client, GitHubServer]]:
    """A client before a server that gives the answers one after another."""
    with GitHubServer.scripted(*answers) as server:
        host = options.pop("host", None) or server.host
        async with connect(host, options.pop("token", TOKEN), wait=waits, **options) as client:
            yield client, server


async def query(client: Client) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    return await client.query("query Who { viewer { login } }", number=1)


# What is asked again


@pytest.mark.parametrize(
    ("fault", "why"),
    [
        (refusal(500, "Server Error"), "GitHub answered 500"),
        (page("Unicorn!", 502), "GitHub answered 502"),
        (page("Down for maintenance", 503), "GitHub answered 503"),
        (refusal(504, "timed out"), "GitHub answered 504"),
        (page("a code that HTTP does not name", 520), "GitHub answered 520"),
        (HALF, "the connection failed (ClientPayloadError)"),
        (TRUNCATED, "the answer was cut short"),
        (Answer(), "the answer was cut short"),
        (page("Sign in to the hotel's network", 200), "the answer was a page"),
    ],
)
async def test_a_fault_on_the_way_is_asked_again_after_a_short_while(fault: Answer, why: str, waits: Waits) -> None:
    async with asking(fault, fault, given({"name": "repo"}), waits=waits) as (client, server):
        assert await client.item("/repos/o/r", {}) == {"name": "repo"}
        assert client.requests == len(server.received) == 3
    assert waits.reasons == [why, why]
    assert 0 < waits.seconds[0] < 1 < waits.seconds[0] + waits.seconds[1] + 1


async def test_a_connection_that_breaks_is_made_again(waits: Waits) -> None:
    # aiohttp sends what changes nothing once more by itself.
    async with asking(CUT, CUT, CUT, given({"name": "repo"}), waits=waits) as (client, server):
        assert await client.item("/repos/o/r", {}) == {"name": "repo"}
        assert client.requests == len(server.received) == 4
    assert waits.reasons == ["the connection failed (ServerDisconnectedError)"]


@pytest.mark.parametrize("fault", [page("Unicorn!", 502), CUT, HALF, TRUNCATED, Answer(), graphql(None, GAVE_UP)])
async def test_a_query_is_asked_again_as_well(fault: Answer, waits: Waits) -> None:
    async with asking(fault, graphql({"viewer": {"login": "octo"}}), waits=waits) as (client, _):
        assert await query(client) == ({"viewer": {"login": "octo"}}, [])
        assert client.requests == 2


@pytest.mark.parametrize("fault", [page("Unicorn!", 502), CUT, page("Sign in", 200)])
async def test_a_diff_is_asked_again_as_well(fault: Answer, waits: Waits) -> None:
    async with asking(fault, diff("+ a line\n"), waits=waits) as (client, _):
        assert await client.text("/repos/o/r/pulls/1", DIFF) == "+ a line\n"


async def test_after_five_attempts_the_last_fault_is_told_and_nothing_more_is_waited_for(waits: Waits) -> None:
    async with asking(page("Unicorn!", 502), waits=waits) as (client, _):
        with pytest.raises(GitHubError, match="gave no answer in 5 attempts; the last time GitHub answered 502"):
            await query(client)
        assert client.requests == 5
    assert len(waits) == 4
    assert sum(waits.seconds) < 10


async def test_a_server_that_is_not_there_is_told_in_a_sentence(waits: Waits) -> None:
    with GitHubServer.scripted(given({})) as server:
        host = server.host
    async with connect(host, TOKEN, wait=waits) as client:
        with pytest.raises(GitHubError, match=r"the connection failed \(ClientConnectorError\)"):
            await query(client)


async def test_an_answer_that_never_comes_is_given_up(waits: Waits) -> None:
    async with asking(SILENT, given({"name": "repo"}), waits=waits, call_seconds=0.1) as (client, _):
        assert await client.item("/repos/o/r", {}) == {"name": "repo"}
    assert waits.reasons == ["nothing came in 0 s"]


async def test_what_was_refused_is_not_asked_again(waits: Waits) -> None:
    async with asking(refusal(404, "Not Found"), waits=waits) as (client, _):
        with pytest.raises(NotFoundError):
            await client.item("/repos/o/r", {})
        assert client.requests == 1


# Limits


def _reset_in(seconds: float) -> dict[str, str]:
    return {
        "x_ratelimit_limit": "5000",
        "x_ratelimit_remaining": "0",
        "x_ratelimit_reset": f"{time.time() + seconds:.0f}",
    }


@pytest.mark.parametrize("status", [403, 429])
async def test_a_primary_limit_is_waited_for_until_it_is_reset(status: int, waits: Waits) -> None:
    limit = refusal(status, "API rate limit exceeded for user ID 1.").also(**_reset_in(40))
    async with asking(limit, given({"name": "repo"}), waits=waits) as (client, _):
        assert await client.item("/repos/o/r", {}) == {"name": "repo"}
    assert 30 < waits.seconds[0] <= 41
    assert waits.reasons == [f"GitHub limits the requests ({status})"]


async def test_a_reset_that_has_passed_is_waited_for_a_second(waits: Waits) -> None:
    limit = refusal(403, "API rate limit exceeded").also(**_reset_in(-300))
    async with asking(limit, given({}), waits=waits) as (client, _):
        await client.item("/repos/o/r", {})
    assert waits.seconds == [1]


@pytest.mark.parametrize("status", [403, 429])
async def test_a_secondary_limit_is_waited_for_as_long_as_it_says(status: int, waits: Waits) -> None:
    async with asking(refusal(status, SECONDARY).also(retry_after="17"), given({}), waits=waits) as (client, _):
        await client.item("/repos/o/r", {})
    assert waits.seconds == [17]


@pytest.mark.parametrize(
    "limit",
    [
        refusal(403, SECONDARY),
        refusal(429, "Too many requests"),
        page("Too many requests", 429),
        refusal(403, "You have triggered an abuse detection mechanism. Please wait."),
        refusal(200, SECONDARY),
        graphql(None, LIMITED),
        graphql(None, {**LIMITED, "type": "RATE_LIMIT"}),
        graphql(None, {"message": SECONDARY}),
        graphql({"viewer": None}, LIMITED),
    ],
)
async def test_a_limit_that_only_the_body_tells_is_waited_for_a_minute(limit: Answer, waits: Waits) -> None:
    async with asking(limit, graphql({"viewer": {"login": "octo"}}), waits=waits) as (client, _):
        assert await query(client) == ({"viewer": {"login": "octo"}}, [])
    assert waits.seconds == [60]


async def test_a_limit_in_a_graphql_body_is_waited_for_until_it_is_reset(waits: Waits) -> None:
    async with asking(graphql(None, LIMITED).also(**_reset_in(40)), graphql({"viewer": {}}), waits=waits) as (
        client,
        _,
    ):
        await query(client)
    assert 30 < waits.seconds[0] <= 41


@pytest.mark.parametrize("text", ['+ {"type": "RATE_LIMITED"}\n', "+ # a secondary rate limit\n"])
async def test_a_diff_that_speaks_of_limits_is_no_limit(text: str, waits: Waits) -> None:
    async with asking(diff(text).also(**_reset_in(40)), waits=waits) as (client, _):
        assert await client.text("/repos/o/r/pulls/1", DIFF) == text
    assert not waits


async def test_a_resource_and_a_text_that_speak_of_limits_are_no_limit(waits: Waits) -> None:
    body = {"message": SECONDARY, "body": '{"errors": [{"type": "RATE_LIMITED"}]}'}
    async with asking(given(body), graphql({"issue": body}), waits=waits) as (client, _):
        assert await client.item("/repos/o/r/git/commits/1", {}) == body
        assert await query(client) == ({"issue": body}, [])
    assert not waits


async def test_the_last_request_that_a_limit_allows_is_an_answer(waits: Waits) -> None:
    async with asking(given({"name": "repo"}).also(**_reset_in(3000)), waits=waits) as (client, _):
        assert await client.item("/repos/o/r", {}) == {"name": "repo"}
    assert not waits


async def test_a_wait_that_is_too_long_is_not_begun(waits: Waits) -> None:
    limit = refusal(403, "API rate limit exceeded").also(**_reset_in(3000))
    async with asking(limit, waits=waits, longest_wait=20) as (client, _):
        with pytest.raises(LimitError, match=r"asks to wait (2999|3000) s; at most 20 s are waited\. Try later\.$"):
            await client.item("/repos/o/r", {})
        assert client.requests == 1
    assert not waits


async def test_without_a_token_the_limit_is_told_with_the_way_to_a_higher_one(waits: Waits) -> None:
    limit = refusal(403, "API rate limit exceeded").also(**_reset_in(3000))
    async with asking(limit, waits=waits, token=None) as (client, _):
        with pytest.raises(LimitError, match="or set GITHUB_TOKEN: without one an hour has 60 requests"):
            await client.item("/repos/o/r", {})


async def test_a_limit_that_does_not_end_is_given_up_after_five_attempts(waits: Waits) -> None:
    async with asking(refusal(429, SECONDARY).also(retry_after="5"), waits=waits) as (client, _):
        with pytest.raises(GitHubError, match="in 5 attempts; the last time GitHub limits the requests"):
            await client.item("/repos/o/r", {})
    assert waits.seconds == [5, 5, 5, 5]


async def test_faults_on_the_way_are_no_limit_however_short_a_wait_may_be(waits: Waits) -> None:
    async with asking(HALF, given({"name": "repo"}), waits=waits, longest_wait=0.01) as (client, _):
        assert await client.item("/repos/o/r", {}) == {"name": "repo"}
    assert waits.seconds == [0.01]


# What was named just now


async def test_what_is_not_there_yet_is_asked_for_twice_more(waits: Waits) -> None:
    missing = refusal(404, "Not Found")
    async with asking(missing, missing, diff("+ a line\n"), waits=waits) as (client, _):
        assert await client.early(lambda: client.text("/repos/o/r/pulls/1", DIFF)) == "+ a line\n"
    assert waits == [(0.5, "there is no such thing yet"), (1.0, "there is no such thing yet")]


async def test_what_is_not_there_is_found_missing_after_three_requests(waits: Waits) -> None:
    async with asking(graphql({"repository": None}, NOT_FOUND), waits=waits) as (client, _):
        with pytest.raises(NotFoundError):
            await client.early(lambda: query(client))
        assert client.requests == 3


async def test_a_closed_door_is_not_knocked_at_again(waits: Waits) -> None:
    async with asking(refusal(401, "Bad credentials"), waits=waits) as (client, _):
        with pytest.raises(GitHubError, match="does not take the token"):
            await client.early(lambda: query(client))
        assert client.requests == 1


# Closed doors


SAML = "Resource protected by organization SAML enforcement. You must grant your token access to this organization."
DOORS = [
    (401, "Bad credentials", "does not take the token (Bad credentials); set GITHUB_TOKEN to one that is valid."),
    (403, "Resource not accessible by integration", "may not read this (Resource not accessible by integration)."),
    (403, SAML, "Where SSO is on, authorise the token for it."),
    (404, "Not Found", "knows no such thing, or the token may not see it (Not Found)."),
    (451, "Repository access blocked", "GitHub answered 451 (Repository access blocked)."),
]


@pytest.mark.parametrize(("status", "message", "sentence"), DOORS)
async def test_a_closed_door_is_a_sentence_by_whatever_way(
    status: int, message: str, sentence: str, waits: Waits
) -> None:
    async with asking(refusal(status, message), waits=waits) as (client, _):
        ways = [
            query(client),
            client.item("/repos/o/r", {}),
            client.pages("/repos/o/r/pulls/1/files"),
            client.text("/repos/o/r/pulls/1", DIFF),
        ]
        for way in ways:
            with pytest.raises(GitHubError) as refused:
                await way
            assert sentence in str(refused.value)
            assert isinstance(refused.value, NotFoundError) == (status == 404)
    assert not waits


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (NOT_FOUND, "or the token may not see it: Could not resolve to a Repository with the name 'o/r'."),
        ({"type": "FORBIDDEN", "message": SAML}, "Where SSO is on, authorise the token for it."),
        ({"message": SAML}, "Where SSO is on, authorise the token for it."),
        ({"message": "Field 'nme' doesn't exist on type 'Repository'"}, "GitHub refused the query: Field 'nme'"),
        ({"type": "SOME_OTHER"}, "GitHub refused the query: no reason given."),
    ],
)
async def test_what_a_query_is_refused_for_is_a_sentence(error: dict[str, str], sentence: str, waits: Waits) -> None:
    async with asking(graphql({"repository": None}, error), waits=waits) as (client, _):
        with pytest.raises(GitHubError) as refused:
            await query(client)
    assert sentence in str(refused.value)
    assert isinstance(refused.value, NotFoundError) == (error is NOT_FOUND)


@pytest.mark.parametrize("answer", [given({"error": "denied"}, 403), given([], 403), page("Forbidden", 403)])
async def test_a_refusal_in_other_words_than_githubs_is_a_sentence_too(answer: Answer, waits: Waits) -> None:
    async with asking(answer, waits=waits) as (client, _):
        for way in (query(client), client.item("/repos/o/r", {}), client.text("/repos/o/r/pulls/1", DIFF)):
            with pytest.raises(GitHubError, match="The token may not read this"):
                await way


@pytest.mark.parametrize("answer", [given([]), given({}), graphql(None), given({"data": None, "errors": []})])
async def test_an_answer_without_data_and_errors_is_nothing_that_can_be_read(answer: Answer, waits: Waits) -> None:
    async with asking(answer, waits=waits) as (client, _):
        with pytest.raises(GitHubError, match="nothing that can be read"):
            await query(client)


@pytest.mark.parametrize("status", [406, 422])
async def test_a_text_that_github_refuses_to_render_is_none(status: int, waits: Waits) -> None:
    async with asking(refusal(status, "The diff exceeded the maximum number of lines"), waits=waits) as (client, _):
        assert await client.text("/repos/o/r/pulls/1", DIFF) is None


async def test_data_that_came_with_errors_are_given_with_them(waits: Waits) -> None:
    data = {"repository": {"name": "repo", "issue": None}}
    async with asking(graphql(data, NOT_FOUND, GAVE_UP), waits=waits) as (client, _):
        assert await query(client) == (data, [NOT_FOUND, GAVE_UP])
        assert client.requests == 1


async def test_a_query_without_a_token_is_not_sent_for_github_answers_none(waits: Waits) -> None:
    async with asking(graphql({}), waits=waits, token=None) as (client, server):
        with pytest.raises(GitHubError, match="set GITHUB_TOKEN"):
            await query(client)
        assert not server.received


# What goes over the wire


async def test_a_query_goes_to_graphql_with_its_variables_and_the_token(waits: Waits) -> None:
    async with asking(graphql({"viewer": {}}), waits=waits) as (client, server):
        await client.query("query A($name: String!) { a }", name="ä")
    (received,) = server.received
    assert (received.method, received.path) == ("POST", "/graphql")
    assert (received.query, received.variables) == ("query A($name: String!) { a }", {"name": "ä"})
    assert received.headers["authorization"] == f"token {TOKEN}"
    assert received.headers["user-agent"] == "paichecker"


async def test_an_enterprise_server_is_asked_below_its_own_paths(waits: Waits) -> None:
    with GitHubServer.scripted(graphql({"viewer": {}}), given({}), diff("")) as server:
        host = Host.from_environment({"GITHUB_SERVER_URL": server.url})
        async with connect(host, TOKEN, wait=waits) as client:
            await query(client)
            await client.item("/repos/o/r", {})
            await client.text("/repos/o/r/pulls/1", DIFF)
    paths = [received.path for received in server.received]
    assert paths == ["/api/graphql", "/api/v3/repos/o/r", "/api/v3/repos/o/r/pulls/1"]


async def test_an_answer_is_asked_for_on_condition_the_second_time_and_kept(waits: Waits) -> None:
    etag = '"a1"'
    first, second = given({"name": "repo"}).also(etag=etag), Answer(status=304, headers={"etag": etag})
    async with asking(first, second, waits=waits) as (client, server):
        asked = [await client.item("/repos/{owner}/r", {"owner": "o"}) for _ in range(2)]
    assert asked == [{"name": "repo"}] * 2
    assert [received.headers.get("if-none-match") for received in server.received] == [None, etag]


async def test_a_changed_answer_replaces_the_kept_one(waits: Waits) -> None:
    answers = [given({"n": n}).also(etag=f'"{n}"') for n in (1, 2)]
    async with asking(*answers, Answer(status=304, headers={}), waits=waits) as (client, _):
        assert [(await client.item("/repos/o/r", {}))["n"] for _ in range(3)] == [1, 2, 2]


async def test_only_so_many_answers_are_kept(waits: Waits) -> None:
    async with asking(given({}).also(etag='"a"'), waits=waits) as (client, server):
        for number in [*range(513), 0, 512]:
            await client.item("/repos/o/r/issues/{number}", {"number": str(number)})
    conditional = ["if-none-match" in received.headers for received in server.received]
    assert conditional[-2:] == [False, True]


async def test_a_list_is_read_page_by_page_as_its_links_say(waits: Waits) -> None:
    with GitHubServer(lambda received: pages[received.path]) as server:
        path = "/repos/o/r/pulls/1/files?per_page=2"
        following = f'<{server.url}{path}&page=2>; rel="next", <{server.url}{path}&page=3>; rel="last"'
        last = f'<{server.url}{path}&page=1>; rel="prev", <{server.url}{path}&page=3>; rel="next"'
        pages = {
            path: given([{"n": 1}, {"n": 2}]).also(link=following),
            f"{path}&page=2": given([{"n": 3}, {"n": 4}]).also(link=last),
            f"{path}&page=3": given([{"n": 5}]).also(link=f'<{server.url}{path}&page=1>; rel="first"'),
        }
        async with connect(server.host, TOKEN, wait=waits) as client:
            assert [item["n"] for item in await client.pages(path)] == [1, 2, 3, 4, 5]
            assert client.requests == 3


async def test_a_page_in_the_middle_that_fails_once_leaves_no_gap(waits: Waits) -> None:
    left = [given([1]), page("Unicorn!", 502), TRUNCATED, given([2])]
    with GitHubServer(lambda _: left.pop(0)) as server:
        left[0] = left[0].also(link=f'<{server.url}/list?page=2>; rel="next"')
        async with connect(server.host, TOKEN, wait=waits) as client:
            assert await client.pages("/list") == [1, 2]


@pytest.mark.parametrize("status", [301, 302, 307])
async def test_a_renamed_repository_is_followed(status: int, waits: Waits) -> None:
    with GitHubServer(lambda received: moved if "old" in received.path else given({"name": "new"})) as server:
        moved = refusal(status, "Moved Permanently").also(location=f"{server.url}/repositories/7/pulls/1")
        async with connect(server.host, TOKEN, wait=waits) as client:
            assert await client.item("/repos/o/old/pulls/1", {}) == {"name": "new"}
            assert json.loads(await client.text("/repos/o/old/pulls/1", DIFF) or "") == {"name": "new"}
            assert client.requests == 4
    assert [received.headers["authorization"] for received in server.received] == [f"token {TOKEN}"] * 4


# The token


async def test_a_redirect_to_another_host_does_not_take_the_token_along(waits: Waits) -> None:
    with GitHubServer.scripted(given({"name": "elsewhere"})) as other:
        moved = refusal(302, "Found").also(location=f"{other.url}/repos/o/r")
        async with asking(moved, waits=waits) as (client, server):
            await client.item("/repos/o/r", {})
    assert "authorization" in server.received[0].headers
    assert "authorization" not in other.received[0].headers


async def test_the_token_is_in_no_error_no_log_record_and_no_repr(
    waits: Waits, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    said: list[str] = []
    for fault in (CUT, HALF, SILENT, page("Unicorn!", 502), refusal(401, "Bad credentials"), graphql(None, NOT_FOUND)):
        async with asking(fault, waits=waits, call_seconds=0.05) as (client, _):
            for way in (query(client), client.item("/repos/o/r", {}), client.text("/repos/o/r/pulls/1", "text/json")):
                try:
                    said.append(repr(await way))
                except GitHubError as error:
                    said += [repr(cause) for cause in (error, error.__cause__, error.__context__)]
            said.append(repr(client))
    said += [repr(Access(Host(), TOKEN)), *waits.reasons, *(record.getMessage() for record in caplog.records)]
    assert len(said) > 30
    assert not [text for text in said if TOKEN in text]
