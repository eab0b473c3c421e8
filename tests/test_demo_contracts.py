"""The demo's GitHub keeps what GitHub publishes: its GraphQL schema, its OpenAPI document, its examples of webhooks.

PAICHECKER_GITHUB_OPENAPI names generated/api.github.com.json of `npm pack @octokit/openapi`,
PAICHECKER_GITHUB_SCHEMA schema.graphql of `npm pack @octokit/graphql-schema`, and PAICHECKER_WEBHOOK_EXAMPLES
api.github.com/index.json of `npm pack @octokit/webhooks-examples`.
"""

from __future__ import annotations

import copy
import functools
import json
import os
from collections.abc import AsyncIterator
from datetime import datetime
from pathlib import Path
from typing import Any

import graphql
import jsonschema
import pytest
from demo_stage import Json, Stage, open_stage
from github_contract import OPENAPI_VARIABLE, needs_openapi
from github_world import needs_schema, schema

from bot.demo import queries, story
from checker.github import documents

EXAMPLES = "PAICHECKER_WEBHOOK_EXAMPLES"


@pytest.fixture
async def stage() -> AsyncIterator[Stage]:
    async with open_stage() as made:
        yield made


@needs_schema
def test_every_type_field_and_argument_stands_in_the_published_schema_with_the_same_type() -> None:
    published = schema().type_map
    for name, ours in queries.SCHEMA.type_map.items():
        theirs = published[name]
        assert type(ours) is type(theirs), name
        if isinstance(ours, graphql.GraphQLEnumType):
            assert set(ours.values) <= set(theirs.values), name
        elif isinstance(ours, graphql.GraphQLUnionType):
            assert {one.name for one in ours.types} <= {one.name for one in theirs.types}, name
        elif isinstance(ours, graphql.GraphQLObjectType | graphql.GraphQLInterfaceType) and not name.startswith("__"):
            assert {one.name for one in ours.interfaces} <= {one.name for one in theirs.interfaces}, name
            for field, held in ours.fields.items():
                known = theirs.fields[field]
                assert str(held.type) == str(known.type), f"{name}.{field}"
                given = {argument: str(one.type) for argument, one in held.args.items()}
                wanted = {argument: str(one.type) for argument, one in known.args.items()}
                assert given.items() <= wanted.items(), f"{name}.{field}"
                assert {a for a, one in known.args.items() if graphql.is_required_argument(one)} <= set(given)


def test_every_document_of_the_engine_is_valid_in_the_mini_schema() -> None:
    further = [documents.more(kind, one) for kind, all_ in documents.CONNECTIONS.items() for one in all_]
    known = [documents.PULL_REQUEST, documents.ISSUE, documents.SEARCH, documents.PULL_REQUESTS]
    for document in [*known, *further]:
        assert graphql.validate(queries.SCHEMA, graphql.parse(document)) == [], document


@functools.cache
def openapi() -> Json:
    """GitHub's document; OpenAPI 3.0 says `nullable` where JSON Schema names the type null."""
    document: Json = json.loads(Path(os.environ[OPENAPI_VARIABLE]).read_text(encoding="utf-8"))
    return document


def as_json_schema(node: Any) -> Any:
    if isinstance(node, list):
        return [as_json_schema(one) for one in node]
    if not isinstance(node, dict):
        return node
    made = {key: as_json_schema(value) for key, value in node.items() if key not in ("example", "examples")}
    return {"anyOf": [made, {"type": "null"}]} if node.get("nullable") is True else made


@functools.cache
def components() -> Json:
    return as_json_schema(openapi()["components"])  # type: ignore[no-any-return]


def response_schema(method: str, path: str, status: int) -> Json:
    response = openapi()["paths"][path][method.lower()]["responses"][str(status)]
    if "$ref" in response:
        response = openapi()["components"]["responses"][response["$ref"].rpartition("/")[2]]
    return as_json_schema(response["content"]["application/json"]["schema"])  # type: ignore[no-any-return]


def fields_of(node: Json) -> set[str]:
    """The fields of an object, or of a list's objects; none where the document offers a choice."""
    while "$ref" in node:
        node = components()["schemas"][node["$ref"].rpartition("/")[2]]
    return fields_of(node["items"]) if "items" in node else set(node.get("properties", ()))


# Method, path in the document, status, body.
_ACTION = {"label": "Check again", "description": "Checks again", "identifier": "recheck"}
_RUN = {"name": "PAIChecker", "status": "in_progress", "actions": [_ACTION]}
_DONE = {"conclusion": "neutral", "output": {"title": "t", "summary": "s"}}
_REPO = "/repos/{owner}/{repo}"
CALLS: list[tuple[str, str, int, Any]] = [
    ("GET", "/app", 200, None),
    ("GET", "/app/installations", 200, None),
    ("POST", "/app/installations/{installation_id}/access_tokens", 201, {"repositories": ["kettle"]}),
    ("GET", "/app/hook/deliveries", 200, None),
    ("GET", "/app/hook/deliveries/{delivery_id}", 200, None),
    ("POST", "/app/hook/deliveries/{delivery_id}/attempts", 202, None),
    ("GET", f"{_REPO}/installation", 200, None),
    ("GET", "/installation/repositories", 200, None),
    ("GET", _REPO, 200, None),
    ("GET", f"{_REPO}/collaborators/{{username}}/permission", 200, None),
    ("GET", f"{_REPO}/contents/{{path}}", 200, None),
    ("GET", f"{_REPO}/pulls", 200, None),
    ("GET", f"{_REPO}/pulls/{{pull_number}}", 200, None),
    ("GET", f"{_REPO}/pulls/{{pull_number}}/files", 200, None),
    ("GET", f"{_REPO}/issues/{{issue_number}}", 200, None),
    ("GET", f"{_REPO}/issues/{{issue_number}}/comments", 200, None),
    ("POST", f"{_REPO}/issues/{{pull_number}}/comments", 201, {"body": "Hello"}),
    ("GET", f"{_REPO}/issues/comments/{{comment_id}}", 200, None),
    ("PATCH", f"{_REPO}/issues/comments/{{comment_id}}", 200, {"body": "Hello again"}),
    ("POST", f"{_REPO}/issues/comments/{{comment_id}}/reactions", 201, {"content": "eyes"}),
    ("POST", f"{_REPO}/issues/comments/{{comment_id}}/reactions", 200, {"content": "eyes"}),
    ("GET", f"{_REPO}/issues/comments/{{comment_id}}/reactions", 200, None),
    ("POST", f"{_REPO}/check-runs", 201, _RUN),
    ("GET", f"{_REPO}/check-runs/{{check_run_id}}", 200, None),
    ("PATCH", f"{_REPO}/check-runs/{{check_run_id}}", 200, _DONE),
    ("GET", f"{_REPO}/commits/{{ref}}/check-runs", 200, None),
]

# (route, place). Here the document wants an account to be a user *and* an enterprise, where the same object elsewhere
# is one of the two.
KNOWN_GAPS = [("GET /app/installations", "$[0].account")]


@needs_openapi
async def test_every_answer_keeps_githubs_openapi_contract(stage: Stage) -> None:
    pull = await stage.pull_request()
    pull.labels.append("enhancement")
    merged = stage.world.open_pull_request(
        stage.repository, stage.person(story.MAINTAINER), "More", "Closes #1", {"x": "x"}, message="m", branch="b"
    )
    stage.world.merge(merged, stage.person(story.MAINTAINER))
    sha = pull.head.oid
    comment = stage.world.comment(pull, stage.person(story.AUTHOR), "Hm")
    ids = {"owner": "teahouse", "repo": "kettle", "installation_id": stage.installation.id, "ref": sha,
           "delivery_id": stage.github.hooks.deliveries[0].id, "comment_id": comment.id, "path": "README.md",
           "issue_number": 1, "pull_number": 2, "username": story.AUTHOR}  # fmt: skip
    dates = jsonschema.FormatChecker(())
    dates.checks("date-time", ValueError)(lambda text: not isinstance(text, str) or bool(datetime.fromisoformat(text)))
    found = []
    for method, path, status, body in CALLS:
        made = {**ids, "check_run_id": next((one.id for one in stage.repository.check_runs), 0)}
        if body and "name" in body:
            body = {**body, "head_sha": sha}
        answered, held = await stage.call(method, path.format(**made), body)
        assert answered == status, (method, path, held)
        route = path.replace("/issues/{pull_number}", "/issues/{issue_number}")
        wanted = {**response_schema(method, route, status), "components": components()}
        checker = jsonschema.Draft202012Validator(wanted, format_checker=dates)
        found += [(f"{method} {route}", error.json_path) for error in checker.iter_errors(held)]
        fields = fields_of(wanted)
        first = held[0] if isinstance(held, list) else held
        found += [(f"{method} {route}", f"unknown: {name}") for name in set(first) - fields if fields]
        if route.endswith(("/{repo}", "/{pull_number}")):
            broken = copy.deepcopy(held)
            del broken["node_id"]
            assert not checker.is_valid(broken), "a field that is required must be missed"
    assert found == KNOWN_GAPS


@functools.cache
def examples() -> dict[str, list[Json]]:
    """GitHub's payloads by event."""
    listed = json.loads(Path(os.environ[EXAMPLES]).read_text(encoding="utf-8"))
    return {one["name"]: one["examples"] for one in listed}


# What every example holds and the demo's payloads do not: it has no reactions to issues and no check suites.
_SUITE = "after app before conclusion created_at head_branch head_sha node_id pull_requests status updated_at url"
ABSENT = {"issue.reactions", *(f"check_run.check_suite.{name}" for name in _SUITE.split())}


@pytest.mark.skipif(
    EXAMPLES not in os.environ,
    reason=f"{EXAMPLES} is not set; it is api.github.com/index.json of `npm pack @octokit/webhooks-examples`",
)
async def test_payloads_have_the_keys_of_githubs_examples(stage: Stage) -> None:
    github, maintainer = stage.github, stage.person(story.MAINTAINER)
    pull = await stage.pull_request()
    await github.push(pull, story.SPLIT, story.SPLIT_MESSAGE)
    comment = await github.comment(pull, maintainer, "x")
    await github.edit_comment(comment, maintainer, "y")
    await github.comment(stage.issue, maintainer, "z")
    await github.edit(stage.issue, maintainer, body="z")
    run = {"name": "PAIChecker", "head_sha": pull.head.oid}
    await stage.call("POST", f"/repos/{stage.repository.full_name}/check-runs", run)
    await github.rerequest(stage.repository.check_runs[0], maintainer)
    await github.press(stage.repository.check_runs[0], maintainer, "recheck")
    await github.merge(pull, maintainer)
    await github.hooks.settled()
    listed = examples()
    missing: set[str] = set()
    for headers, body in stage.received:
        event, payload = headers["X-GitHub-Event"], json.loads(body)
        alike = [one for one in listed[event] if one["action"] == payload["action"]]
        if not alike:
            continue
        always = set.intersection(*({*paths(one)} for one in alike))
        ours = {*paths(payload)}
        # What is null here is so because nobody set it: a milestone, an assignee.
        held = {one.rpartition(".")[0] for one in ours}
        missing |= {one for one in always - ours if one.rpartition(".")[0] in held and ".permissions." not in one}
    assert missing == ABSENT


def paths(node: Any, at: str = "") -> list[str]:
    """Every key of a payload, as `pull_request.head.sha`."""
    if not isinstance(node, dict):
        return [at]
    return [at, *(one for key, value in node.items() for one in paths(value, f"{at}.{key}".lstrip(".")))]
