"""What a delivery asks the App to do, in a few plain values. Texts are not among them: they are read from the API."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

# Pushes and edits that follow one another within this many seconds are one check.
SOON = 20
# A discussion on a linked issue goes on for a while.
LATER = 600


class Kind(StrEnum):
    """What is to be done."""

    CHECK = "check"
    COMMANDS = "commands"
    COMMENT_DELETED = "comment-deleted"
    CLOSED = "closed"
    ISSUE_CHANGED = "issue-changed"
    HEAD_CHECK = "head-check"
    RENAMED = "renamed"
    ACCOUNT_RENAMED = "account-renamed"
    CLOSED_OFF = "closed-off"
    FORGET = "forget"
    TAKEN_OUT = "taken-out"
    TOKENS = "tokens"


@dataclass(frozen=True)
class Task:
    """One thing to do. `key`: the delivery's id, the same when it is delivered again; `delay`: seconds until a check.

    `who` sent it. `number` is that of a pull request, or of an issue where the kind says so. `repositories`: the ids of
    those that were taken out of the installation. `former`: the name that a repository had before; of an account that
    was renamed `former` and `repository` are its logins.
    """

    kind: Kind
    key: str
    installation: int
    why: str
    who: str = ""
    is_bot: bool = False
    repository_id: int = 0
    repository: str = ""
    number: int = 0
    comment_id: int = 0
    head_sha: str = ""
    delay: int = 0
    repositories: tuple[int, ...] = ()
    former: str = ""

    @property
    def partition(self) -> str:
        """Tasks of one partition are done one after another, in the order in which they came."""
        return f"{self.repository_id}/{self.number}" if self.repository_id else f"installation {self.installation}"

    def as_json(self) -> dict[str, Any]:
        """Plain values, without those that are left at their defaults."""
        return {name: value for name, value in asdict(self).items() if value != _DEFAULTS.get(name)}


_DEFAULTS: Mapping[str, Any] = {
    field.name: field.default for field in Task.__dataclass_fields__.values() if field.default is not None
}


def read_task(data: Mapping[str, Any]) -> Task:
    """The task that `as_json` wrote."""
    return Task(**{**data, "kind": Kind(data["kind"]), "repositories": tuple(data.get("repositories", ()))})
