"""The story's beginning as a world: the repository with its people and its issue, before the pull request."""

from __future__ import annotations

from bot.demo import story
from bot.demo.objects import Issue, Repository
from bot.demo.world import World


def set_the_scene(world: World) -> tuple[Repository, Issue]:
    """The repository, and the issue that the pull request will name."""
    maintainer = world.account(story.MAINTAINER)
    for login in (story.REPORTER, story.AUTHOR, story.STRANGER):
        world.account(login)
    repository = world.create_repository(world.account(story.OWNER, "Organization"), story.NAME, story.FILES)
    repository.roles[maintainer.login] = "admin"
    issue = world.open_issue(repository, world.account(story.REPORTER), story.ISSUE_TITLE, story.ISSUE)
    world.label(issue, maintainer, "bug")
    world.comment(issue, maintainer, story.ISSUE_COMMENT)
    return repository, issue
