"""The App against `emulate`, a GitHub that others wrote: credentials, webhooks, check runs and comments.

It has no GraphQL, so that no pull request can be read: the App says so in a neutral check run. It has no reactions and
lists no deliveries either, and its payloads do not tell comments on pull requests from those on issues.

PAICHECKER_EMULATE is the command that starts it, such as `node node_modules/emulate/dist/index.js` after
`npm install emulate@0.12.2`; it wants Node 24.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import logging
import os
import shlex
import subprocess
import urllib.error
import urllib.request
from collections.abc import Iterator
from typing import Any

import pytest
from app_keys import rsa_pair
from bot_process import LOGIN, SECRET, SLUG, App, serving, settings_for, until
from githubd_server import free_port

from bot.auth import PERMISSIONS
from bot.demo.story import AUTHOR, MAINTAINER

EMULATE_VARIABLE = "PAICHECKER_EMULATE"
pytestmark = pytest.mark.skipif(
    EMULATE_VARIABLE not in os.environ,
    reason=f"{EMULATE_VARIABLE} is not set; it is the command that starts `emulate` (npm install emulate@0.12.2)",
)
REPOSITORY = f"/repos/{MAINTAINER}/kettle"
EVENTS = ["pull_request", "issues", "issue_comment", "check_run", "check_suite", "repository"]


class Emulate:
    """A running emulate with the App beside it, and a pull request that its maintainer opened."""

    def __init__(self, url: str, app: App) -> None:
        self.url, self.app = url, app
        main = self.do("GET", "/git/ref/heads/main")["object"]["sha"]
        self.do("POST", "/issues", title="Times", body="A negative time is taken without a word.")
        self.do("POST", "/git/refs", ref="refs/heads/topic", sha=main)
        self.do("PUT", "/contents/brew.py", message="Refuse them", content="eCA9IDEK", branch="topic")
        pull = self.do("POST", "/pulls", title="Refuse them", body="Fixes #1", head="topic", base="main")
        self.number, self.head = pull["number"], pull["head"]["sha"]

    def do(self, method: str, path: str, **body: Any) -> Any:
        """What the maintainer asks of the repository over REST."""
        data = json.dumps(body).encode() if body else None
        headers = {"authorization": "Bearer maintainer", "content-type": "application/json"}
        asked = urllib.request.Request(f"{self.url}{REPOSITORY}{path}", data, headers, method=method)
        with urllib.request.urlopen(asked, timeout=30) as answer:
            return json.load(answer)

    def deliver(self, event: str, payload: Any) -> None:
        """A delivery as GitHub would send it."""
        data = json.dumps(payload).encode()
        signature = hmac.new(SECRET.encode(), data, hashlib.sha256).hexdigest()
        headers = {"x-github-event": event, "x-github-delivery": f"ours-{event}", "content-type": "application/json"}
        asked = urllib.request.Request(
            self.app.webhook, data, {**headers, "x-hub-signature-256": f"sha256={signature}"}, method="POST"
        )
        with urllib.request.urlopen(asked, timeout=30) as answer:
            assert answer.status == 202
        self.app.settle()

    def check_runs(self) -> list[Any]:
        return list(self.do("GET", f"/commits/{self.head}/check-runs")["check_runs"])


@pytest.fixture(scope="module")
def emulate(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Emulate]:
    folder, port = tmp_path_factory.mktemp("emulate"), free_port()
    url = f"http://127.0.0.1:{port}"
    addresses = {"GITHUB_API_URL": url, "GITHUB_GRAPHQL_URL": f"{url}/graphql"}
    settings = settings_for("", folder, **addresses)
    app = {
        "app_id": 1,
        "slug": SLUG,
        "name": "PAIChecker",
        "private_key": rsa_pair()[0],
        "permissions": dict(PERMISSIONS),
        "events": EVENTS,
        "webhook_url": f"{settings.public_url}/webhook",
        "webhook_secret": SECRET,
        "installations": [{"installation_id": 100, "account": MAINTAINER, "repository_selection": "all"}],
    }
    repositories = [{"owner": MAINTAINER, "name": "kettle", "auto_init": True}]
    github = {"users": [{"login": MAINTAINER}, {"login": AUTHOR}], "repos": repositories, "apps": [app]}
    seed = folder / "seed.json"
    seed.write_text(json.dumps({"tokens": {"maintainer": {"login": MAINTAINER, "scopes": ["repo"]}}, "github": github}))
    command = [*shlex.split(os.environ[EMULATE_VARIABLE]), "start", "--service", "github"]
    begin = [*command, "--port", str(port), "--seed", str(seed)]
    with subprocess.Popen(begin, stdout=subprocess.DEVNULL) as server:
        try:
            until("emulate", lambda: server.poll() is not None or _answers(url))
            with serving(settings) as running:
                yield Emulate(url, running)
        finally:
            server.terminate()


def _answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(f"{url}/zen", timeout=5):
            return True
    except OSError:
        return False


def test_what_cannot_be_read_is_told_and_nothing_breaks(emulate: Emulate, caplog: pytest.LogCaptureFixture) -> None:
    until("the check run", lambda: [run["status"] for run in emulate.check_runs()] == ["completed"])
    (run,) = emulate.check_runs()
    assert (run["conclusion"], run["output"]["title"]) == ("neutral", "PAIChecker failed")
    assert run["external_id"] == f"{MAINTAINER}/kettle#{emulate.number}"
    assert emulate.do("GET", f"/issues/{emulate.number}/comments") == []
    told = [*caplog.get_records("setup"), *caplog.records]
    assert [record for record in told if record.levelno >= logging.ERROR] == []
    assert [record for record in told if "a check was given up" in record.getMessage()]


def test_a_token_is_narrowed_to_the_one_repository(emulate: Emulate) -> None:
    until("the check run", emulate.check_runs)
    with urllib.request.urlopen(f"{emulate.url}/_emulate/installation-tokens", timeout=30) as answer:
        (token,) = json.load(answer)["installation_tokens"]
    assert token["repository_ids"] == [emulate.do("GET", "")["id"]]
    assert token["permissions"] == dict(PERMISSIONS)


def test_a_maintainers_command_is_answered(emulate: Emulate) -> None:
    said = emulate.do("POST", f"/issues/{emulate.number}/comments", body="/paichecker help")
    issue = {"number": emulate.number, "pull_request": {}}
    about = {"issue": issue, "comment": said, "repository": emulate.do("GET", ""), "sender": said["user"]}
    emulate.deliver("issue_comment", {"action": "created", "installation": {"id": 100}, **about})
    comments = emulate.do("GET", f"/issues/{emulate.number}/comments")
    assert [comment["user"]["login"] for comment in comments] == [MAINTAINER, LOGIN]
    assert "A command stands on a line of its own" in comments[1]["body"]
