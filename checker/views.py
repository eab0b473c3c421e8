"""What each role is shown: its own artifacts and no others, within bounds that keep a check cheap.

Bounds are in characters (about four to a token). What does not fit is cut in the middle, and said to be cut.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from checker import patches, prompting
from checker.case import Case
from checker.pair import Text, related_name
from checker.patches import FilePatch, LineKind
from checker.prompting import Shown
from checker.report import AgentReport, Clue, Finding, Signal, SignalKind
from checker.signals import MOST_RELATED, mentions
from checker.taxonomy import Artifact, Label, Role
from checker.tools import RELATED_SHOWN, describe

_DESCRIPTION = 7_000
_ISSUE_IN_BRIEF = 2_000
_ISSUE_FOR_CODE = 2_500
_BRIEF = 1_500
_DISCUSSION = 14_000
_PR_DESCRIPTION = 4_000
_PR_TALK = 5_000
_COMMITS = 2_500
_BOT = 160
_LEAST = 100
_PATCH = 7_000
_SNIPPET_REACH = 3
_LEFT_OUT = "left-out"
_MOST_FILES = 60

_PR_TEXT = (Artifact.PR_DESCRIPTION, Artifact.PR_COMMITS)
_ARTIFACTS: dict[Role, tuple[Artifact, ...]] = {
    Role.ISSUE_ANALYZER: (Artifact.ISSUE_DESCRIPTION, Artifact.ISSUE_DISCUSSION, Artifact.PR_DESCRIPTION),
    Role.SCOPE_ANALYZER: (Artifact.ISSUE_DESCRIPTION, *_PR_TEXT, Artifact.PR_COMMENTS, Artifact.PR_REVIEWS),
    Role.CONNECTION_ANALYZER: (
        Artifact.ISSUE_TIMELINE,
        Artifact.PR_TIMELINE,
        Artifact.MERGE_REFERENCES,
        Artifact.ISSUE_DESCRIPTION,
        *_PR_TEXT,
    ),
    Role.CODE_VALIDATOR: (Artifact.ISSUE_DESCRIPTION, Artifact.CODE_PATCH, Artifact.TEST_PATCH),
    Role.CLASSIFIER: tuple(Artifact),
}

_SHOWN_SIGNALS = frozenset(SignalKind) - {SignalKind.HIDDEN_TEXT, SignalKind.SHARED_LITERAL}


def analyzer(role: Role, case: Case, asked: Sequence[Label]) -> str:
    """The request to one analyzer about some or all of its labels."""
    view = _View(case, role)
    parts = {"facts": prompting.enclose(facts(case, asked), "facts"), "unread": unread(case, _ARTIFACTS[role])}
    if role is Role.ISSUE_ANALYZER:
        brief = prompting.fence(fit(_texts(case, [Artifact.PR_DESCRIPTION]), _BRIEF))
        discussion = view.fenced([Artifact.ISSUE_DISCUSSION], _DISCUSSION)
        parts |= {"issue": view.issue(), "discussion": discussion, "pull_request": brief}
    elif role is Role.SCOPE_ANALYZER:
        talk = view.fenced((Artifact.PR_COMMENTS, Artifact.PR_REVIEWS), _PR_TALK)
        parts |= {"issue": view.issue(), "pull_request": view.pull_request(), "talk": talk, "files": _files(case)}
        parts |= {"literals": view.literals() if Label.UL in asked else "(UL is ruled out; do not judge it)"}
    else:
        issue = prompting.fence(fit(_texts(case, [Artifact.ISSUE_DESCRIPTION]), _ISSUE_IN_BRIEF))
        parts |= {"issue": issue, "pull_request": view.pull_request(), "related": view.related()}
        parts |= {"numbers": _numbers(case)}
    return prompting.load(role).render(**parts)


def coordinator(reports: Iterable[AgentReport], findings: Sequence[Finding], clues: Sequence[Clue]) -> str:
    """The request to the Coordinator: the analyzers' reports, and nothing else."""
    said = [_report(report, findings) for report in reports]
    numbered = "\n".join(_numbered_clue(number, clue) for number, clue in enumerate(clues)) or "(none)"
    return prompting.load(Role.COORDINATOR).render(
        reports=prompting.enclose("\n\n".join(said), "reports"),
        clues=prompting.enclose(numbered, "clues"),
        labels=", ".join(finding.label.value for finding in findings) or "(none)",
    )


def validator(case: Case, findings: Sequence[Finding]) -> str:
    """The request to the Code Validator: the labels that stand, what grounds them, and the patches."""
    standing = "\n".join(_standing(finding) for finding in findings)
    view = _View(case, Role.CODE_VALIDATOR)
    texts = [t for name in ("patch/code", "patch/test") if (t := case.texts.get(name))]
    return prompting.load(Role.CODE_VALIDATOR).render(
        labels=prompting.enclose(standing, "labels"),
        issue=prompting.fence(fit(_texts(case, [Artifact.ISSUE_DESCRIPTION]), _ISSUE_FOR_CODE)),
        patches=prompting.fence(view.noted([_compact(text, _PATCH) for text in texts])),
        unread=unread(case, _ARTIFACTS[Role.CODE_VALIDATOR]),
    )


def everything(case: Case) -> dict[str, str]:
    """All artifacts at once, in the bounds of the roles that share them out; without the facts found by a program."""
    view = _View(case, Role.CLASSIFIER)
    texts = [t for name in ("patch/code", "patch/test") if (t := case.texts.get(name))]
    return {
        "numbers": _numbers(case),
        "unread": unread(case, _ARTIFACTS[Role.CLASSIFIER]),
        "issue": view.issue(),
        "discussion": view.fenced([Artifact.ISSUE_DISCUSSION], _DISCUSSION),
        "pull_request": view.pull_request(),
        "talk": view.fenced((Artifact.PR_COMMENTS, Artifact.PR_REVIEWS), _PR_TALK),
        "related": view.related(),
        "files": _files(case),
        "patches": prompting.fence(view.noted([_compact(text, _PATCH) for text in texts])),
    }


def facts(case: Case, labels: Iterable[Label]) -> str:
    """The signals that concern these labels, one a line, quotes as JSON strings."""
    wanted = set(labels)
    lines = [
        f"{s.id}{' (take a stand)' if s.weighty else ''}: {s.says}. {json.dumps(s.quote[:240], ensure_ascii=False)}"
        for s in case.signals
        if s.kind in _SHOWN_SIGNALS and (wanted & set(s.labels) or _is_scope_fact(s, wanted))
    ]
    return "\n".join(lines) or "(none)"


def _is_scope_fact(signal: Signal, wanted: set[Label]) -> bool:
    """References and slips of number matter to the scope also where they ground no label by themselves."""
    kinds = (SignalKind.CLOSING_REFERENCE, SignalKind.OTHER_REFERENCE, SignalKind.LOOK_ALIKE_NUMBER)
    return Label.SC in wanted and not signal.labels and signal.kind in kinds


def unread(case: Case, artifacts: Iterable[Artifact]) -> str:
    """What a role must not conclude from, of the artifacts that are its own."""
    own = set(artifacts)
    lines = [f"{a.words} (unread)" for a in case.pair.unread if a in own]
    lines += [f"{a.words} ({_part(a, case)})" for a in case.pair.partial if a in own]
    return "; ".join(lines) or "nothing"


def _part(artifact: Artifact, case: Case) -> str:
    title_only = (
        artifact is Artifact.PR_DESCRIPTION and case.pair.pull_request.title and not case.pair.pull_request.body
    )
    return "the title is known, the description unread" if title_only else "read in part"


def _texts(case: Case, artifacts: Iterable[Artifact]) -> list[Text]:
    wanted = set(artifacts)
    return [text for text in case.pair.texts.values() if text.artifact in wanted]


@dataclass(frozen=True)
class _View:
    """The texts that a role decides by, in which a cut is remembered: what it was not shown, it cannot rule out."""

    case: Case
    role: Role

    def noted(self, shown: Iterable[Shown]) -> list[Shown]:
        items = list(shown)
        for item in items:
            if item.text.name == _LEFT_OUT or (item.cut and not item.text.is_bot):
                self.case.note_cut(self.role, item.text.name)
        return items

    def fenced(self, artifacts: Sequence[Artifact], total: int) -> str:
        texts = _texts(self.case, artifacts)
        if not texts and any(artifact in self.case.pair.unread for artifact in artifacts):
            return "(unread)"
        return prompting.fence(self.noted(fit(texts, total)))

    def issue(self) -> str:
        return self.fenced([Artifact.ISSUE_DESCRIPTION], _DESCRIPTION)

    def pull_request(self) -> str:
        described = fit(_texts(self.case, [Artifact.PR_DESCRIPTION]), _PR_DESCRIPTION)
        commits = fit(_texts(self.case, [Artifact.PR_COMMITS]), _COMMITS)
        return prompting.fence(self.noted([*described, *commits]))

    def related(self) -> str:
        """What refers here, the nearest in number first, as far as it fits; each with its state."""
        home, own = self.case.pair.repository, self.case.pair.pull_request.number or 0
        found = list({related_name(r, home): r for r, _ in mentions(self.case.pair)}.items())
        if len(found) > MOST_RELATED:
            self.case.note_cut(self.role, "what refers to the issue and the pull request")
            found = sorted(found, key=lambda one: abs(one[1].number - own))[:MOST_RELATED]
        texts = self.case.texts
        shown = self.noted(fit([texts[name] for name, _ in found if name in texts], RELATED_SHOWN))
        described = "\n".join(describe(related, home) for _, related in found)
        return prompting.fence(shown) + (f"\n{described}" if described else "")

    def literals(self) -> str:
        """The lines around each literal that code and test share, from both patches; without any, the patches."""
        places: dict[tuple[str, str], set[int]] = {}
        for signal in self.case.signals_of(SignalKind.UNSPECIFIED_LITERAL, SignalKind.SHARED_LITERAL):
            code = signal.detail["code"]
            places.setdefault(("patch/test", str(signal.path)), set()).add(int(signal.line or 0))
            places.setdefault(("patch/code", str(code["path"])), set()).add(int(code["line"]))
        texts = [text for name in ("patch/code", "patch/test") if (text := self.case.texts.get(name))]
        shown = [_snippets(text, places) if places else _compact(text, _PATCH // 2) for text in texts]
        return prompting.fence(self.noted(shown))


def fit(texts: Sequence[Text], total: int) -> list[Shown]:
    """Texts within a total: short ones whole, long ones cut to an equal length; bots' comments first of all.

    Of very many the middle ones are left out, and it is said how many.
    """
    most = max(2, total // _LEAST)
    if len(texts) > most:
        head, tail = texts[: most // 2], texts[len(texts) - (most - most // 2) :]
        gone = Text(_LEFT_OUT, texts[0].artifact, f"[... {len(texts) - most:,} texts are not shown ...]")
        return fit([*head, gone, *tail][: most + 1], total + _LEAST)
    lengths = sorted(min(len(t.body), _BOT) if t.is_bot else len(t.body) for t in texts)
    limit, left = total, total
    for position, length in enumerate(lengths):
        limit = left // (len(lengths) - position)
        if length > limit:
            break
        left -= length
    else:
        limit = total
    return [prompting.show(t, min(limit, _BOT) if t.is_bot else limit) for t in texts]


def _numbers(case: Case) -> str:
    pair = case.pair
    issues = ", ".join(map(str, pair.issue_numbers)) or "unread"
    merged = f", merged {pair.pull_request.merged_at:%Y-%m-%d %H:%M}" if pair.pull_request.merged_at else ""
    return f"pull request {pair.pull_request.number or 'unread'}{merged}; issue {issues}"


def _all_files(case: Case) -> list[FilePatch]:
    pr = case.pair.pull_request
    return [file for diff in (pr.code_patch, pr.test_patch) for file in patches.parse(diff).files]


def _files(case: Case) -> str:
    files = _all_files(case)
    lines = [f"{f.path} +{sum(1 for _ in f.added())} -{sum(1 for _ in f.removed())}" for f in files]
    rest = [f"... and {len(lines) - _MOST_FILES} more"] if len(lines) > _MOST_FILES else []
    listing = "\n".join([*lines[:_MOST_FILES], *rest])
    return prompting.enclose(listing, "files") if listing else "(none)"


def _snippets(text: Text, places: dict[tuple[str, str], set[int]]) -> Shown:
    pieces: list[str] = []
    for file in patches.parse(text.body).files:
        wanted = places.get((text.name, file.path), set())
        near = {line + step for line in wanted for step in range(-_SNIPPET_REACH, _SNIPPET_REACH + 1)}
        lines = [f"{li.kind}{li.text}" for li in file.lines if li.number in near]
        if lines:
            pieces += [f"--- {file.path}", *lines]
    body = "\n".join(pieces)
    return prompting.show(Text(text.name, text.artifact, body), _PATCH)


def _compact(text: Text, total: int) -> Shown:
    """A patch without git's own lines; far context goes before it is cut in the middle."""
    whole = _rendered(text, reach=3)
    body = whole if len(whole) <= total else _rendered(text, reach=0)
    return prompting.show(Text(text.name, text.artifact, body), total)


def _rendered(text: Text, reach: int) -> str:
    pieces: list[str] = []
    for file in patches.parse(text.body).files:
        pieces.append(f"--- {file.path}" + (f" (was {file.previous_path})" if file.previous_path else ""))
        pieces += _hunk_lines(file, reach)
    return "\n".join(pieces)


def _hunk_lines(file: FilePatch, reach: int) -> list[str]:
    changed = [position for position, line in enumerate(file.lines) if line.kind is not LineKind.CONTEXT]
    near = {at + step for at in changed for step in range(-reach, reach + 1)}
    kept = [(position, line) for position, line in enumerate(file.lines) if position in near]
    pieces: list[str] = []
    before = (-2, -1)
    for position, line in kept:
        if (position, line.hunk) != (before[0] + 1, before[1]):
            pieces.append(f"@@ {line.number}")
        pieces.append(f"{line.kind}{line.text}")
        before = (position, line.hunk)
    return pieces


def _report(report: AgentReport, findings: Sequence[Finding]) -> str:
    if report.failure or report.skipped:
        return f"{report.role.words}: {report.failure or report.skipped}"
    standing = {finding.label: finding for finding in findings}
    lines = [f"{report.role.words}:"]
    for judgment in report.judgments:
        finding = standing.get(judgment.label)
        if finding is not None:
            lines.append(_standing(finding))
        else:
            dropped = " (no quote of it could be proved)" if judgment.holds else ""
            lines.append(f"- {judgment.label}: does not hold{dropped}. {judgment.reason}")
    return "\n".join(lines)


def _numbered_clue(number: int, clue: Clue) -> str:
    quotes = "".join(f"\n   {e.source}: {json.dumps(e.quote, ensure_ascii=False)}" for e in clue.evidence)
    return f"{number}. ({clue.by}) {clue.says}{quotes or ' (no proved quote)'}"


def _standing(finding: Finding) -> str:
    scenario = f" ({finding.scenario}: {finding.scenario.words})" if finding.scenario else ""
    head = f"- {finding.label}{scenario}, confidence {finding.confidence}. {finding.reason}"
    quotes = [f"  {e.source}: {json.dumps(e.quote, ensure_ascii=False)}" for e in finding.evidence]
    return "\n".join([head, *quotes])
