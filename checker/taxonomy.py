"""What counts as misaligned: labels, scenarios, and what each must be shown with.

The names are those of Table 1 of the PAIChecker paper. `LABELS` says for each label which artifacts
it lives from (unread, the label cannot be ruled out) and on whose side a quote must stand to carry it.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

NO_MISALIGNMENT = "No Misalignment"


class Artifact(StrEnum):
    """A part of a pair that can be read, read in part, or unread as a whole."""

    ISSUE_DESCRIPTION = "issue_description"
    ISSUE_DISCUSSION = "issue_discussion"
    ISSUE_TIMELINE = "issue_timeline"
    PR_DESCRIPTION = "pr_description"
    PR_COMMENTS = "pr_comments"
    PR_REVIEWS = "pr_reviews"
    PR_COMMITS = "pr_commits"
    PR_TIMELINE = "pr_timeline"
    MERGE_REFERENCES = "merge_references"
    CODE_PATCH = "code_patch"
    TEST_PATCH = "test_patch"

    @property
    def words(self) -> str:
        """The artifact as a reader of a report would call it."""
        return _ARTIFACT_WORDS[self]


_ARTIFACT_WORDS = {
    Artifact.ISSUE_DESCRIPTION: "the issue's description",
    Artifact.ISSUE_DISCUSSION: "the issue's discussion",
    Artifact.ISSUE_TIMELINE: "what mentions the issue",
    Artifact.PR_DESCRIPTION: "the pull request's title and description",
    Artifact.PR_COMMENTS: "the pull request's conversation",
    Artifact.PR_REVIEWS: "the reviews",
    Artifact.PR_COMMITS: "the commit messages",
    Artifact.PR_TIMELINE: "what mentions the pull request",
    Artifact.MERGE_REFERENCES: "what mentions the merge commit",
    Artifact.CODE_PATCH: "the code patch",
    Artifact.TEST_PATCH: "the test patch",
}


class Label(StrEnum):
    """Five patterns of misalignment and one open class."""

    SC = "SC"
    DP = "DP"
    IS = "IS"
    FP = "FP"
    UL = "UL"
    OTHERS = "Others"

    @property
    def words(self) -> str:
        """The label's name in full."""
        return LABELS[self].words


class Scenario(StrEnum):
    """The eleven ways in which the five patterns occur."""

    SC_1 = "SC-1"
    SC_2 = "SC-2"
    SC_3 = "SC-3"
    SC_4 = "SC-4"
    DP_1 = "DP-1"
    DP_2 = "DP-2"
    IS_1 = "IS-1"
    IS_2 = "IS-2"
    FP_1 = "FP-1"
    FP_2 = "FP-2"
    UL_1 = "UL-1"

    @property
    def label(self) -> Label:
        """The label this scenario belongs to."""
        return Label(self.value[:2])

    @property
    def words(self) -> str:
        """The scenario as one clause about the pull request."""
        return _SCENARIO_WORDS[self]


_SCENARIO_WORDS = {
    Scenario.SC_1: "resolves several issues, only one of which is the stated one",
    Scenario.SC_2: "adds a feature that the issue does not ask for",
    Scenario.SC_3: "also fixes a bug that is not in the issue",
    Scenario.SC_4: "carries patches that belong to another issue",
    Scenario.DP_1: "introduces a bug that a later merged change fixes",
    Scenario.DP_2: "is incomplete; a later merged pull request supplies what is missing",
    Scenario.IS_1: "needs details that were supplied only in the discussion",
    Scenario.IS_2: "solves a problem that changed in the discussion",
    Scenario.FP_1: "fixes a bug of an earlier merged pull request for the same issue",
    Scenario.FP_2: "supplements an earlier merged pull request for the same issue",
    Scenario.UL_1: "is tested against an exact literal that nobody could derive from the issue",
}


class Role(StrEnum):
    """The five roles of the paper's Figure 5 (the first three are Phase I), and the one that a baseline has."""

    ISSUE_ANALYZER = "issue_analyzer"
    SCOPE_ANALYZER = "pr_scope_analyzer"
    CONNECTION_ANALYZER = "pr_connection_analyzer"
    COORDINATOR = "coordinator"
    CODE_VALIDATOR = "code_validator"
    CLASSIFIER = "classifier"

    @property
    def words(self) -> str:
        """The role as the paper writes it."""
        return _ROLE_WORDS[self]


_ROLE_WORDS = {
    Role.ISSUE_ANALYZER: "Issue Analyzer",
    Role.SCOPE_ANALYZER: "PR Scope Analyzer",
    Role.CONNECTION_ANALYZER: "PR Connection Analyzer",
    Role.COORDINATOR: "Coordinator",
    Role.CODE_VALIDATOR: "Code Validator",
    Role.CLASSIFIER: "Classifier",
}

ANALYZERS: dict[Role, tuple[Label, ...]] = {
    Role.ISSUE_ANALYZER: (Label.IS,),
    Role.SCOPE_ANALYZER: (Label.SC, Label.UL),
    Role.CONNECTION_ANALYZER: (Label.DP, Label.FP),
}
PIPELINE = frozenset({*ANALYZERS, Role.COORDINATOR, Role.CODE_VALIDATOR})

# Whoever may assign the five labels: the analyzers, or one classifier in their place (`checker.evaluation`).
JUDGES: dict[Role, tuple[Label, ...]] = {
    **ANALYZERS,
    Role.CLASSIFIER: tuple(label for label in Label if label is not Label.OTHERS),
}


@dataclass(frozen=True)
class LabelNeeds:
    """What one label lives from.

    `lives_from`: artifacts that must have been read before the label may be ruled out.
    `grounds`: a label stands only with a proved quote from one of these.
    """

    words: str
    lives_from: tuple[Artifact, ...]
    grounds: tuple[Artifact, ...]


_PR_TEXT = (Artifact.PR_DESCRIPTION, Artifact.PR_COMMITS, Artifact.PR_REVIEWS, Artifact.PR_COMMENTS)
_TIMELINES = (Artifact.ISSUE_TIMELINE, Artifact.PR_TIMELINE, Artifact.MERGE_REFERENCES)
_TALK = (Artifact.ISSUE_DISCUSSION, Artifact.PR_COMMENTS, Artifact.PR_REVIEWS)

LABELS: dict[Label, LabelNeeds] = {
    Label.SC: LabelNeeds(
        "Scope Creep",
        (Artifact.ISSUE_DESCRIPTION, *_PR_TEXT),
        _PR_TEXT,
    ),
    Label.DP: LabelNeeds(
        "Defective PR",
        _TIMELINES,
        (*_TIMELINES, *_TALK),
    ),
    Label.IS: LabelNeeds(
        "Incomplete Specification",
        (Artifact.ISSUE_DESCRIPTION, Artifact.ISSUE_DISCUSSION),
        (Artifact.ISSUE_DISCUSSION,),
    ),
    Label.FP: LabelNeeds(
        "Follow-up PR", (Artifact.ISSUE_TIMELINE,), (*_TIMELINES, *_PR_TEXT, Artifact.ISSUE_DISCUSSION)
    ),
    Label.UL: LabelNeeds(
        "Unspecified Literal",
        (Artifact.ISSUE_DESCRIPTION, Artifact.CODE_PATCH, Artifact.TEST_PATCH),
        (Artifact.TEST_PATCH,),
    ),
    Label.OTHERS: LabelNeeds("Others", (Artifact.ISSUE_DESCRIPTION, Artifact.PR_DESCRIPTION), tuple(Artifact)),
}
