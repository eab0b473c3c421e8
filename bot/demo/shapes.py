"""Objects as GitHub's REST answers and webhooks write them: every required field of its OpenAPI document."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from bot.demo import diff
from bot.demo.objects import Account, Comment, Issue, Json, PullRequest, Reaction, Repository
from bot.demo.world import World

REACTIONS = ("+1", "-1", "laugh", "confused", "heart", "hooray", "eyes", "rocket")
_PREFIXES = {"PullRequest": "PR", "Issue": "I", "Comment": "IC", "ReviewThread": "PRRT", "Repository": "R",
             "Account": "U", "CheckRun": "CR", "Reaction": "REA", "App": "A"}  # fmt: skip
_USER_LINKS = (
    "followers following{/other_user} gists{/gist_id} starred{/owner}{/repo} subscriptions organizations=orgs repos "
    "events{/privacy} received_events"
)
_REPOSITORY_LINKS = (
    "archive=/{archive_format}{/ref} assignees{/user} blobs=/git/blobs{/sha} branches{/branch} comments{/number} "
    "collaborators{/collaborator} commits{/sha} compare/{base}...{head} contents/{+path} contributors deployments "
    "downloads events forks git_commits=/git/commits{/sha} git_refs=/git/refs{/sha} git_tags=/git/tags{/sha} hooks "
    "issue_comment=/issues/comments{/number} issue_events=/issues/events{/number} issues{/number} keys{/key_id} "
    "labels{/name} languages merges milestones{/number} notifications{?since,all,participating} pulls{/number} "
    "releases{/id} stargazers statuses/{sha} subscribers subscription tags teams trees=/git/trees{/sha}"
)
_HAS = ("issues", "projects", "wiki", "pages", "discussions", "downloads")
_COUNTS = ("forks", "forks_count", "stargazers_count", "watchers", "watchers_count", "network_count",
           "subscribers_count", "size")  # fmt: skip


def node_id(thing: Any) -> str:
    """Its id in GraphQL."""
    return f"{_PREFIXES[type(thing).__name__]}_{thing.id}"


def time(moment: datetime | None) -> str | None:
    """As GitHub writes it."""
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ") if moment else None


def _links(start: str, table: str) -> Json:
    """`name`, `name{template}` or `name=path`, each as `name_url`."""
    urls = {}
    for entry in table.split():
        name, _, path = entry.partition("=")
        plain = name.split("{")[0].split("/")[0]
        urls[f"{plain}_url"] = f"{start}/{(path or name).removeprefix('/')}"
    return urls


class Shapes:
    """The objects of one world."""

    def __init__(self, world: World) -> None:
        self._world = world

    @property
    def rest(self) -> str:
        """The address of REST, as an Enterprise Server has it."""
        return f"{self._world.web}/api/v3"

    def url(self, repository: Repository) -> str:
        """A repository's address in REST."""
        return f"{self.rest}/repos/{repository.full_name}"

    def user(self, account: Account) -> Json:
        """simple-user."""
        url, html = f"{self.rest}/users/{account.login}", f"{self._world.web}/{account.login}"
        base = {"login": account.login, "id": account.id, "node_id": node_id(account), "url": url, "html_url": html}
        looks = {"avatar_url": f"{html}.png", "gravatar_id": "", "type": account.type, "site_admin": False}
        return {**base, **looks, **_links(url, _USER_LINKS)}

    def organization(self, account: Account) -> Json:
        """organization-simple, as webhooks hold it."""
        url = f"{self.rest}/orgs/{account.login}"
        base = {"login": account.login, "id": account.id, "node_id": node_id(account), "url": url, "description": None}
        looks = {"avatar_url": f"{self._world.web}/{account.login}.png"}
        return {**base, **looks, **_links(url, "repos events hooks issues members{/member} public_members{/member}")}

    def repository(self, repository: Repository) -> Json:
        """full-repository; webhooks hold the same."""
        is_open = [one for one in repository.threads.values() if one.closed_at is None]
        urls = {"url": self.url(repository), "html_url": repository.url, "clone_url": f"{repository.url}.git"}
        urls |= {"git_url": f"{repository.url}.git", "ssh_url": f"{repository.url}.git", "svn_url": repository.url}
        return {
            "id": repository.id,
            "node_id": node_id(repository),
            "name": repository.name,
            "full_name": repository.full_name,
            "owner": self.user(repository.owner),
            "private": repository.private,
            "visibility": "private" if repository.private else "public",
            "fork": repository.parent is not None,
            "default_branch": "main",
            "open_issues": len(is_open),
            "open_issues_count": len(is_open),
            **dict.fromkeys(("description", "homepage", "language", "mirror_url", "license"), None),
            **dict.fromkeys(("created_at", "updated_at", "pushed_at"), time(repository.created_at)),
            **dict.fromkeys(("archived", "disabled", "is_template", "web_commit_signoff_required"), False),
            "topics": [],
            "custom_properties": {},
            "allow_forking": True,
            **{f"has_{what}": what == "issues" for what in _HAS},
            **dict.fromkeys(_COUNTS, 0),
            **urls,
            **_links(self.url(repository), _REPOSITORY_LINKS),
        }

    def _written(self, one: Issue | Comment) -> Json:
        """What an issue, a pull request and a comment have in common."""
        times = {"created_at": time(one.created_at), "updated_at": time(one.updated_at)}
        who = {"user": self.user(one.author), "author_association": one.author_association}
        return {"id": one.id, "node_id": node_id(one), "body": one.body, "html_url": one.url, **times, **who}

    def _numbered(self, issue: Issue) -> Json:
        """What an issue and a pull request have in common."""
        labels = [self._label(issue.repository, name) for name in issue.labels]
        people: Json = {
            "assignee": None,
            "assignees": [],
            "milestone": None,
            "locked": False,
            "active_lock_reason": None,
        }
        state = {"state": "closed" if issue.closed_at else "open", "closed_at": time(issue.closed_at)}
        return {
            **self._written(issue),
            "number": issue.number,
            "title": issue.title,
            "labels": labels,
            **people,
            **state,
        }

    def _label(self, repository: Repository, name: str) -> Json:
        id_ = int(hashlib.sha256(name.encode()).hexdigest()[:8], 16)
        url = f"{self.url(repository)}/labels/{name}"
        return {"id": id_, "node_id": f"LA_{id_}", "url": url, "name": name, "color": "ededed", "default": False,
                "description": ""}  # fmt: skip

    def issue(self, issue: Issue) -> Json:
        """issue; a pull request is one, too."""
        home = self.url(issue.repository)
        url = f"{home}/issues/{issue.number}"
        urls = {"url": url, "repository_url": home, "labels_url": f"{url}/labels{{/name}}"}
        urls |= {f"{name}_url": f"{url}/{name}" for name in ("comments", "events", "timeline")}
        shaped = {**self._numbered(issue), **urls, "comments": len(issue.comments), "state_reason": None}
        if isinstance(issue, PullRequest):
            pull = f"{home}/pulls/{issue.number}"
            shaped["draft"] = issue.draft
            shaped["pull_request"] = {"url": pull, **self._pages(issue), "merged_at": time(issue.merged_at)}
        return shaped

    def _pages(self, pull: PullRequest) -> Json:
        return {"html_url": pull.url, "diff_url": f"{pull.url}.diff", "patch_url": f"{pull.url}.patch"}

    def pull_request_simple(self, pull: PullRequest) -> Json:
        """pull-request-simple: as lists hold it."""
        home, sha = self.url(pull.repository), pull.head.oid
        url, issue = f"{home}/pulls/{pull.number}", f"{home}/issues/{pull.number}"
        urls = {
            "comments_url": f"{issue}/comments",
            "commits_url": f"{url}/commits",
            "statuses_url": f"{home}/statuses/{sha}",
            "issue_url": issue,
            "review_comments_url": f"{url}/comments",
            "review_comment_url": f"{home}/pulls/comments{{/number}}",
        }
        links = {name.removesuffix("_url"): {"href": href} for name, href in urls.items()}
        links |= {"self": {"href": url}, "html": {"href": pull.url}}
        return {
            **self._numbered(pull),
            **self._pages(pull),
            **urls,
            "url": url,
            "_links": links,
            "draft": pull.draft,
            "merged_at": time(pull.merged_at),
            "merge_commit_sha": pull.merge_commit and pull.merge_commit.oid,
            "auto_merge": None,
            "requested_reviewers": [],
            "requested_teams": [],
            "base": self._branch(pull.repository, "main", pull.base.oid),
            "head": self._branch(pull.head_repository, pull.branch, sha),
        }

    def pull_request(self, pull: PullRequest) -> Json:
        """pull-request: as it is read alone, and in webhooks."""
        changed = diff.changes(pull.base.files, pull.head.files)
        is_open = pull.closed_at is None
        return {
            **self.pull_request_simple(pull),
            "additions": sum(one.additions for one in changed),
            "deletions": sum(one.deletions for one in changed),
            "changed_files": len(changed),
            "comments": len(pull.comments),
            "commits": len(pull.commits),
            "review_comments": sum(len(thread.comments) for thread in pull.threads),
            "maintainer_can_modify": False,
            "mergeable": is_open or None,
            "mergeable_state": "clean" if is_open else "unknown",
            "rebaseable": is_open or None,
            "merged": pull.merged_at is not None,
            "merged_by": self.user(pull.merged_by) if pull.merged_by else None,
        }

    def _branch(self, repository: Repository, ref: str, sha: str) -> Json:
        owner = repository.owner
        about = {"label": f"{owner.login}:{ref}", "ref": ref, "sha": sha}
        return {**about, "user": self.user(owner), "repo": self.repository(repository)}

    def file(self, pull: PullRequest, change: diff.Change) -> Json:
        """diff-entry."""
        status = {"DELETED": "removed"}.get(change.change_type, change.change_type.lower())
        counts = {"additions": change.additions, "deletions": change.deletions}
        counts["changes"] = change.additions + change.deletions
        where, sha = pull.head_repository.url, pull.head.oid
        urls = {f"{kind}_url": f"{where}/{kind}/{sha}/{change.path}" for kind in ("blob", "raw")}
        urls["contents_url"] = f"{self.url(pull.repository)}/contents/{change.path}?ref={sha}"
        # GitHub's hunks end without a newline here.
        patch = {"patch": change.patch.removesuffix("\n")} if change.patch else {}
        return {"sha": change.sha, "filename": change.path, "status": status, **counts, **urls, **patch}

    def comment(self, comment: Comment) -> Json:
        """issue-comment."""
        home = self.url(comment.repository)
        url = f"{home}/issues/comments/{comment.id}"
        counts = {name: sum(one.content == name for one in comment.reactions) for name in REACTIONS}
        rollup = {"url": f"{url}/reactions", "total_count": len(comment.reactions), **counts}
        urls = {"url": url, "issue_url": f"{home}/issues/{comment.issue.number}"}
        return {**self._written(comment), **urls, "reactions": rollup, "performed_via_github_app": None}

    def reaction(self, reaction: Reaction) -> Json:
        """reaction."""
        about = {"id": reaction.id, "node_id": node_id(reaction), "content": reaction.content}
        return {**about, "user": self.user(reaction.user), "created_at": time(reaction.created_at)}

    def content(self, repository: Repository, path: str, ref: str, text: str | None) -> Json:
        """content-file without its content; a folder's item where `text` is None."""
        kind = "dir" if text is None else "file"
        data = (text or "").encode()
        sha = (
            diff.blob_sha(text) if text is not None else hashlib.sha1(path.encode(), usedforsecurity=False).hexdigest()
        )
        home = self.url(repository)
        urls: Mapping[str, str | None] = {
            "url": f"{home}/contents/{path}?ref={ref}",
            "git_url": f"{home}/git/{'trees' if text is None else 'blobs'}/{sha}",
            "html_url": f"{repository.url}/{'tree' if text is None else 'blob'}/{ref}/{path}",
            "download_url": None if text is None else f"{repository.url}/raw/{ref}/{path}",
        }
        links = {"self": urls["url"], "git": urls["git_url"], "html": urls["html_url"]}
        about = {"type": kind, "name": path.rpartition("/")[2], "path": path, "sha": sha, "size": len(data)}
        return {**about, **urls, "_links": links}
