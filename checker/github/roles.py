"""Who is a maintainer: what GitHub says of an author, and what somebody did that only a maintainer can.

GitHub shows private members as CONTRIBUTOR or NONE, and tells permissions only to those who may write. Whoever
merged, or closed, labelled or assigned what somebody else wrote, has the role (docs.github.com, "Repository roles").
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

Json = dict[str, Any]

ACTED = "COLLABORATOR"
"""The association of one whom GitHub calls less, and who acted as a maintainer."""

_MAINTAINERS = frozenset({"OWNER", "MEMBER", "COLLABORATOR"})
_ACTS = frozenset({"ClosedEvent", "LabeledEvent", "AssignedEvent"})


def maintainers(node: Json) -> frozenset[str]:
    """The logins of those who acted as maintainers in the timeline of an issue or a pull request.

    Authors may close their own, and a form puts labels on it in their name: that shows nothing.
    """
    author = (node.get("author") or {}).get("login")
    acts = [event for event in node["timelineItems"]["nodes"] if (event.get("actor") or {}).get("__typename") == "User"]
    logins = {
        event["actor"]["login"]
        for event in acts
        if event["__typename"] == "MergedEvent" or (event["__typename"] in _ACTS and event["actor"]["login"] != author)
    }
    return frozenset(logins)


def association(node: Json, known: Collection[str]) -> str:
    """The association of an author with the repository; `known`: who acted as a maintainer in it."""
    said = str(node["authorAssociation"])
    login = (node.get("author") or {}).get("login")
    return ACTED if login in known and said not in _MAINTAINERS else said
