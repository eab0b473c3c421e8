"""app.yml, the Procfile and the Dockerfile, held against what GitHub and the platforms take."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from bot import setup_page
from bot.auth import PERMISSIONS
from bot.setup_page import app_file, manifest_of

HERE = Path(__file__).parent.parent

# docs.github.com, "Registering a GitHub App from a manifest", the table of parameters.
KEYS = {
    "name",
    "url",
    "hook_attributes",
    "redirect_url",
    "callback_urls",
    "setup_url",
    "description",
    "public",
    "default_events",
    "default_permissions",
    "request_oauth_on_install",
    "setup_on_update",
}
# The schema app-permissions of GitHub's OpenAPI description (npm @octokit/openapi 23.0.2), as far as it is about
# repositories; workflows can be written only, projects administered.
LEVELS = {"read", "write"}
REPOSITORY_PERMISSIONS = {
    "actions",
    "administration",
    "artifact_metadata",
    "attestations",
    "checks",
    "code_quality",
    "codespaces",
    "contents",
    "dependabot_secrets",
    "deployments",
    "discussions",
    "environments",
    "issues",
    "merge_queues",
    "metadata",
    "packages",
    "pages",
    "pull_requests",
    "repository_custom_properties",
    "repository_hooks",
    "repository_projects",
    "secret_scanning_alerts",
    "secrets",
    "security_events",
    "single_file",
    "statuses",
    "vulnerability_alerts",
    "workflows",
}
# docs.github.com, "Webhook events and payloads": the events that an App can subscribe to and a permission of ours could
# back, with the permission. GitHub refuses a manifest with an event that none of its permissions backs.
BACKED_BY = {
    "check_run": "checks",
    "check_suite": "checks",
    "commit_comment": "contents",
    "create": "contents",
    "delete": "contents",
    "fork": "contents",
    "gollum": "contents",
    "issue_comment": "issues",
    "issues": "issues",
    "label": "metadata",
    "milestone": "issues",
    "public": "metadata",
    "pull_request": "pull_requests",
    "pull_request_review": "pull_requests",
    "pull_request_review_comment": "pull_requests",
    "pull_request_review_thread": "pull_requests",
    "push": "contents",
    "release": "contents",
    "repository": "metadata",
    "star": "metadata",
    "watch": "metadata",
}
# Delivered to every App. GitHub: "Default events unsupported: installation".
ALWAYS_DELIVERED = {
    "installation",
    "installation_repositories",
    "installation_target",
    "github_app_authorization",
    "ping",
}


@pytest.fixture
def manifest() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((HERE / "app.yml").read_text(encoding="utf-8"))
    return found


def test_the_manifest_holds_only_what_a_manifest_may_hold(manifest: dict[str, Any]) -> None:
    assert manifest.keys() <= KEYS
    assert manifest["hook_attributes"].keys() <= {"url", "active"}
    assert manifest["hook_attributes"]["active"] is True
    assert manifest["public"] is False
    # GitHub takes names of up to 34 characters.
    assert len(manifest["name"]) <= 34


def test_the_permissions_exist_and_are_those_that_are_asked_for_and_explained(manifest: dict[str, Any]) -> None:
    asked = manifest["default_permissions"]
    assert asked.keys() <= REPOSITORY_PERMISSIONS
    assert set(asked.values()) <= LEVELS
    assert asked == dict(PERMISSIONS)
    assert asked.keys() == setup_page._WHY.keys()
    assert asked == {
        "metadata": "read",
        "contents": "read",
        "issues": "read",
        "pull_requests": "write",
        "checks": "write",
    }


def test_each_event_can_be_subscribed_to_and_is_backed_by_a_permission(manifest: dict[str, Any]) -> None:
    events = manifest["default_events"]
    assert len(events) == len(set(events))
    assert not ALWAYS_DELIVERED & set(events)
    for event in events:
        assert BACKED_BY[event] in manifest["default_permissions"]
    assert set(events) == {"pull_request", "issues", "issue_comment", "check_run", "check_suite", "repository"}


def test_the_addresses_in_the_file_are_of_the_form_that_the_set_up_puts_in(manifest: dict[str, Any]) -> None:
    assert manifest_of(manifest["url"]) == manifest
    assert app_file() == (HERE / "app.yml").read_text(encoding="utf-8")


def test_what_platforms_start_is_the_server() -> None:
    assert (HERE / "Procfile").read_text(encoding="utf-8") == "web: python -m bot\n"


def test_the_image_runs_as_nobody_holds_no_secret_and_is_asked_for_its_health() -> None:
    lines = (HERE / "Dockerfile").read_text(encoding="utf-8").splitlines()
    words = [line.split(maxsplit=1) for line in lines if line and not line.startswith(("#", " "))]
    steps: dict[str, list[str]] = {}
    for name, rest in words:
        steps.setdefault(name, []).append(rest)
    assert steps["USER"] == ["nobody"]
    assert words.index(["USER", "nobody"]) > max(index for index, (name, _) in enumerate(words) if name == "RUN")
    assert steps["VOLUME"] == ['["/data"]']
    assert steps["CMD"] == ['["python", "-m", "bot"]']
    assert len(steps["HEALTHCHECK"]) == 1
    assert "/healthz" in "".join(lines)
    assert all(not any(word in line for word in ("KEY", "SECRET", "TOKEN")) for line in lines)
    assert any("--constraint constraints.txt" in line for line in lines)


def test_nothing_private_gets_into_the_image() -> None:
    ignored = (HERE / ".dockerignore").read_text(encoding="utf-8").splitlines()
    assert ignored[0] == "*", "what is not named stays out"
    named = {line.removeprefix("!") for line in ignored if line.startswith("!")}
    assert all((HERE / name).exists() for name in named)
    lines = (HERE / "Dockerfile").read_text(encoding="utf-8").splitlines()
    copied = {name for line in lines if line.startswith("COPY ") for name in line.split()[1:-1]}
    assert copied == named
