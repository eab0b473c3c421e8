"""Facts that are found without a model, each with where it was found.

`read` collects them; each small reader below looks for one kind. They go into prompts as facts, ground the
rules, and the weighty ones must not be passed over (taxonomy: verdicts).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from checker import literals, patches
from checker.hidden_text import hidden_passages
from checker.links import Reference, Relation, look_alike, references
from checker.links.prose import commit_prose, markdown_prose
from checker.literals import SharedLiteral, Standing
from checker.pair import Pair, Related, Text, related_name
from checker.prompting import plain_name
from checker.report import Signal, SignalKind
from checker.taxonomy import Artifact, Label

_PR_SIDE = (Artifact.PR_DESCRIPTION, Artifact.PR_COMMITS)
_CLAIMS = (Relation.CLOSES, Relation.LISTED)

# Enough to judge by; a pair with more is a bulk change, and the rest would only fill prompts.
_MOST_PER_KIND = 12
MOST_LITERALS = 24
"""So many shared literals are told; where there are as many, others may not have been."""
MOST_RELATED = 40
"""So many other issues and pull requests are looked at, the nearest in number first."""

_FURTHER_WORK = re.compile(
    r"\b(?:(?:this|it|the pr|we|i|and)\s+also|also\s+(?:add|fix|chang|remov|improv|updat|renam|support|refactor|clean|"
    r"handl|introduc|bump|mak|allow|implement|correct|deprecat)\w*|additionally|in\s+addition|"
    r"while\s+(?:at\s+it|here|i\s+was)|as\s+well\s+as|drive[- ]by|piggyback\w*|bonus|on\s+top\s+of\s+that|"
    r"besides|unrelated(?:ly)?|incidental(?:ly)?|another\s+(?:bug|issue|problem|fix))\b",
    re.IGNORECASE,
)
_NOT_WORK = re.compile(
    r"\b(?:tests?|docs?|documentation|docstrings?|changelog|comments?|typos?|formatting|release notes?|lint\w*|black|"
    r"whatsnew|CI|flake8|imports?)\b",
    re.IGNORECASE,
)
# Where a question mark must follow, it is looked for within a sentence's length: else a long line costs its square.
# "it also crashes", "no unrelated changes": the failure is told, or the claim denied.
_NO_CLAIM = re.compile(
    r"\balso\s+(?:crash|fail|rais|happen|affect|occur|br[eo]+k|see\b|note\b|won't|do(?:es)?n't|can't)\w*|"
    r"\b(?:no|not|never|without)\s+(?:\w+\s+){0,2}(?:unrelated|additional|other|further)",
    re.IGNORECASE,
)
_INFORMATION_REQUEST = re.compile(
    r"(?:\b(?:can|could|would|will)\s+you\s+(?:please\s+|also\s+|maybe\s+|possibly\s+)*(?:\w+\s+)?(?:provide|share|post|give|"
    r"show|paste|tell|explain|clarify|describe|elaborate|check|confirm|try|run|add|include|produce|attach|send|upload)\b|"
    r"\bare\s+you\s+able\s+to\b|\b(?:what|which)\s+(?:\w+\s+){0,4}(?:version|platform|os|output|command|config\w*|"
    r"behaviou?r|error)\b[^.?!\n]{0,300}\?|\bplease\s+(?:provide|share|post|give|paste|clarify|elaborate|include|attach|add)\b|"
    r"\b(?:do|does|did)\s+you\s+(?:have|use|see|get|know|mean|expect|run)\b[^.!\n]{0,300}\?|"
    r"\b(?:need|require)\s+(?:a\s+|some\s+)?(?:more\s+)?(?:details?|info\w*|reproduc\w+|example)\b|"
    r"\b(?:minimal|runn?able|self-contained|reproducible|stand-alone)\s+(?:\w+\s+)?"
    r"(?:example|testcase|test case|reproducer|script)\b[^.!\n]{0,300}\?)",
    re.IGNORECASE,
)
_LEADING_NUMBER = re.compile(r"#?(\d{3,6})[\s:,-]")
_BREAK = re.compile(r"[.!?:](?=\s)|\n\s*\n|\n(?=\s*(?:[-*#>|]|\d+[.)]))|\r?\n(?=```)")
_MERGED_IN = re.compile(r"\(#(\d{1,9})\)\s*(?:\n|\Z)")


def read(pair: Pair) -> tuple[Signal, ...]:
    """All signals of a pair, numbered S1, S2, ... in a fixed order."""
    found = [
        *_references(pair),
        *_look_alikes(pair),
        *_chronology(pair),
        *_information_requests(pair),
        *_further_work(pair),
        *_literals(pair),
        *_hidden(pair),
    ]
    distinct = {(s.kind, s.source, s.quote, s.says, s.path, s.line): s for s in found}
    return tuple(replace(signal, id=f"S{n}") for n, signal in enumerate(distinct.values(), 1))


def stated_numbers(pair: Pair) -> frozenset[int]:
    """The numbers of the issues whose descriptions make up the request. Without any, that of the first issue."""
    described = [issue.number for issue in pair.issues if issue.description.strip()]
    numbers = described or [issue.number for issue in pair.issues[:1]]
    return frozenset(number for number in numbers if number is not None)


def _texts(pair: Pair, *artifacts: Artifact) -> Iterator[Text]:
    return (text for text in pair.texts.values() if text.artifact in artifacts)


def _own_references(pair: Pair) -> Iterator[tuple[Text, Reference]]:
    """What the pull request's title, body and commits name, but for its own number."""
    own = pair.pull_request.number
    for text in _texts(pair, *_PR_SIDE):
        is_markdown = text.artifact is not Artifact.PR_COMMITS
        for reference in references(text.body, title=text.name == "pr/title", markdown=is_markdown):
            if reference.number != own:
                yield text, _undone(text, reference)


def _undone(text: Text, reference: Reference) -> Reference:
    """In the quoted subject of a revert nothing is claimed: it is taken back."""
    is_revert = text.body.startswith('Revert "') and f"#{reference.number}" in text.body[:500].split("\n", 1)[0]
    return replace(reference, relation=Relation.REVERTS) if is_revert else reference


def is_merged_in(text: Text, pair: Pair) -> bool:
    """A merge, or another pull request's squashed commit that a merge brought in: no claim of this pull request."""
    if text.artifact is not Artifact.PR_COMMITS:
        return False
    subject = text.body[:500].split("\n", 1)[0]
    squashed = _MERGED_IN.search(subject)
    own = (pair.pull_request.number, *pair.issue_numbers)
    return subject.startswith(("Merge ", "Merged ")) or (squashed is not None and int(squashed[1]) not in own)


def _references(pair: Pair) -> Iterator[Signal]:
    stated = stated_numbers(pair)
    claimed = {r.number for t, r in _own_references(pair) if r.relation in _CLAIMS and not is_merged_in(t, pair)}
    seen: set[tuple[str, int, Relation]] = set()
    for text, reference in _own_references(pair):
        key = (text.name, reference.number, reference.relation)
        if key not in seen and len(seen) < 4 * _MOST_PER_KIND:
            seen.add(key)
            is_own = not is_merged_in(text, pair)
            several = len(claimed) > 1
            yield _reference_signal(text, reference, stated, pair.repository, own=is_own, several=several)
    own = pair.pull_request.number
    for related, _ in mentions(pair):
        for reference in references(related.title, title=True):
            if reference.number in (own, *stated) and reference.relation in (
                Relation.REGRESSION_FROM,
                Relation.REVERTS,
            ):
                yield _relation_of_later(related, reference, pair.repository)


def _reference_signal(
    text: Text, reference: Reference, stated: frozenset[int], home: str | None, *, own: bool, several: bool
) -> Signal:
    where = f"{reference.repository or ''}#{reference.number}"
    claims = reference.relation in _CLAIMS and not reference.negated
    # Another repository's issue is none that this one's statement could be measured against.
    at_home = reference.repository in (None, home)
    beyond = claims and own and at_home and reference.number not in stated and (several or bool(stated))
    says = f"{text.name} says “{reference.relation.value} {where}”"
    if beyond:
        says += ", which is not the stated issue" if stated else ", one of several issues"
    labels = {
        Relation.FOLLOW_UP: (Label.FP,),
        Relation.REGRESSION_FROM: (Label.FP,),
        Relation.REVERTS: (Label.FP,),
    }.get(reference.relation, ())
    return Signal(
        id="",
        kind=SignalKind.CLOSING_REFERENCE if claims else SignalKind.OTHER_REFERENCE,
        source=text.name,
        quote=reference.quote,
        says=says,
        labels=(Label.SC,) if beyond else labels,
        weighty=beyond,
        detail={
            "number": reference.number,
            "repository": reference.repository,
            "relation": reference.relation.value,
            "hedged": reference.hedged,
            "negated": reference.negated,
            "own": own,
            "beyond": beyond,
        },
    )


def _relation_of_later(related: Related, reference: Reference, home: str | None) -> Signal:
    name = related_name(related, home)
    return Signal(
        id="",
        kind=SignalKind.OTHER_REFERENCE,
        source=name,
        quote=related.title,
        says=f"{name} names {reference.number} as {reference.relation.value}",
        labels=(Label.DP,),
        weighty=related.merged and not reference.hedged,
        detail={"number": reference.number, "relation": reference.relation.value, "hedged": reference.hedged},
    )


def _look_alikes(pair: Pair) -> Iterator[Signal]:
    """Numbers that look like a typing error of one another, the bare number that a title may begin with among them."""
    places = {r.number: (text, r.quote) for text, r in reversed(list(_own_references(pair)))}
    title = pair.texts.get("pr/title")
    leading = _LEADING_NUMBER.match(title.body) if title else None
    if title and leading:
        places.setdefault(int(leading[1]), (title, title.body))
    stated = stated_numbers(pair)
    for pair_of_numbers in look_alike(sorted({*places, *stated})):
        odd = next((n for n in pair_of_numbers if n in places and n not in stated), None)
        if odd is not None and (not stated or stated & set(pair_of_numbers)):
            text, quote = places[odd]
            other = pair_of_numbers[0] if pair_of_numbers[1] == odd else pair_of_numbers[1]
            says = f"{text.name} names {odd}, which looks like {other}"
            yield Signal("", SignalKind.LOOK_ALIKE_NUMBER, text.name, quote, says, detail={"numbers": [odd, other]})
    if title and leading and stated and int(leading[1]) not in stated and not look_alike([int(leading[1]), *stated]):
        says = f"the title begins with {leading[1]}, which is not the stated issue"
        yield Signal(
            "", SignalKind.LOOK_ALIKE_NUMBER, title.name, title.body, says, detail={"numbers": [int(leading[1])]}
        )


def mentions(pair: Pair) -> Iterator[tuple[Related, Artifact]]:
    """What refers to the issue, the pull request, or the merge commit, but for the pull request itself."""
    own = pair.pull_request
    sources = [(r, Artifact.ISSUE_TIMELINE) for issue in pair.issues for r in issue.mentioned_by]
    sources += [(r, Artifact.PR_TIMELINE) for r in own.mentioned_by]
    sources += [(r, Artifact.MERGE_REFERENCES) for r in own.merge_mentioned_by]
    at_home = (None, pair.repository)
    return (
        (r, a)
        for r, a in sources
        if not (r.kind == "pull_request" and r.number == own.number and r.repository in at_home)
    )


def other_merged(pair: Pair) -> tuple[tuple[Related, Artifact], ...]:
    """The other merged pull requests that refer to the issue, the pull request, or the merge commit."""
    return tuple((r, a) for r, a in mentions(pair) if r.kind == "pull_request" and r.merged)


def is_earlier(related: Related, pair: Pair) -> bool | None:
    """Whether it was merged before this pull request: by the times of merging, else by number; None if unknown."""
    own = pair.pull_request
    if related.merged_at and own.merged_at:
        return related.merged_at < own.merged_at
    # Numbers of two repositories have no order.
    if own.number is None or related.repository not in (None, pair.repository):
        return None
    return related.number < own.number


def _has_substance(body: str) -> bool:
    """A thank-you answers nothing: an answer has a dozen words, a number, or code."""
    return len(body.split()) >= 12 or any(character.isdigit() or character == "`" for character in body)


def _nearest(pair: Pair) -> list[tuple[Related, Artifact]]:
    """The other merged pull requests of this repository, at most a dozen: the nearest, in their own order."""
    merged = [(r, a) for r, a in other_merged(pair) if r.repository in (None, pair.repository)]
    own = pair.pull_request.number or 0
    near = sorted(merged, key=lambda one: abs(one[0].number - own))[: 2 * _MOST_PER_KIND]
    return [one for one in merged if one in near]


def _chronology(pair: Pair) -> Iterator[Signal]:
    """What was merged before the issue was opened cannot have been for it (taxonomy: a re-filed issue)."""
    opened = min((issue.created_at for issue in pair.issues if issue.created_at), default=None)
    seen: set[int] = set()
    for related, artifact in _nearest(pair):
        earlier = is_earlier(related, pair)
        too_early = opened and related.merged_at and related.merged_at < opened
        if related.number in seen or earlier is None or too_early:
            continue
        if earlier and artifact is not Artifact.ISSUE_TIMELINE:
            continue
        seen.add(related.number)
        when = "before" if earlier else "after"
        subject = "the issue" if artifact is Artifact.ISSUE_TIMELINE else "this pull request"
        yield Signal(
            id="",
            kind=SignalKind.EARLIER_MERGED_PR if earlier else SignalKind.LATER_MERGED_PR,
            source=related_name(related, pair.repository),
            quote=related.title,
            says=f"pull request {related.number}, merged {when} this one, refers to {subject}",
            labels=(Label.FP,) if earlier else (Label.DP,),
            weighty=True,
            detail={"number": related.number, "refers_to": artifact.value},
        )


def _information_requests(pair: Pair) -> Iterator[Signal]:
    """Somebody asks for details; answered if the reporter writes later (unknown where authors are)."""
    talk = list(_texts(pair, Artifact.ISSUE_DISCUSSION))
    reporter = next((issue.author for issue in pair.issues if issue.author), None)
    found = 0
    for position, text in enumerate(talk):
        asked = _INFORMATION_REQUEST.search(text.body)
        if asked is None or text.is_bot or (reporter is not None and text.author == reporter):
            continue
        found += 1
        if found > _MOST_PER_KIND:
            return
        later = (t for t in talk[position + 1 :] if reporter is not None and t.author == reporter)
        answer = next((t for t in later if _has_substance(t.body)), None)
        answered = "unknown" if reporter is None or text.author is None else "yes" if answer else "no"
        yield Signal(
            id="",
            kind=SignalKind.INFORMATION_REQUEST,
            source=text.name,
            quote=_sentence(text.body, asked.start()),
            says=f"{plain_name(text.author or 'somebody')} asks for information; answered by the reporter: {answered}",
            labels=(Label.IS,),
            weighty=answered == "yes",
            detail={"answered": answered, "answer": answer.name if answer else None},
        )


def _further_work(pair: Pair) -> Iterator[Signal]:
    """The pull request's text claims work beside its main subject; tests and documentation are none."""
    found = 0
    for text in _texts(pair, *_PR_SIDE):
        if is_merged_in(text, pair):
            continue
        is_commit = text.artifact is Artifact.PR_COMMITS
        prose = commit_prose(text.body) if is_commit else markdown_prose(text.body)
        for claim in _FURTHER_WORK.finditer(prose):
            if found == _MOST_PER_KIND:
                return
            sentence = _sentence(text.body, claim.start())
            around = prose[max(0, claim.start() - 25) : claim.end() + 25]
            if sentence and not _NOT_WORK.search(sentence) and not _NO_CLAIM.search(around):
                found += 1
                says = f"{text.name} claims further work (“{claim[0].strip()}”)"
                yield Signal("", SignalKind.FURTHER_WORK, text.name, sentence, says, (Label.SC,), weighty=True)


def _sentence(body: str, at: int) -> str:
    """The sentence or list item around an offset, verbatim, at most 300 characters.

    A single line break does not end it: many texts are wrapped. What only leads up to a list takes of it with it.
    """
    start = max((m.end() for m in _BREAK.finditer(body, max(0, at - 300), at)), default=max(0, at - 300))
    end = _BREAK.search(body, at, at + 300)
    sentence = body[start : end.start() + 1 if end else at + 300].strip()
    return (sentence if len(sentence) >= 40 else body[start : start + 200].strip())[:300].strip()


def _literals(pair: Pair) -> Iterator[Signal]:
    request = pair.request if pair.was_read(Artifact.ISSUE_DESCRIPTION) else None
    pr = pair.pull_request
    shared = literals.shared_literals(patches.parse(pr.code_patch), patches.parse(pr.test_patch), request)
    for literal in shared[:MOST_LITERALS]:
        yield _literal_signal(literal, "unread" if request is None else "no")


def _literal_signal(literal: SharedLiteral, in_issue: str) -> Signal:
    unspecified = literal.standing is Standing.UNSPECIFIED
    says = f"code and test share the {literal.kind} {literal.text!r}: {literal.standing.value}"
    if unspecified:
        says += ", and the issue does not hold it" if in_issue == "no" else "; the issue's text was not read"
    return Signal(
        id="",
        kind=SignalKind.UNSPECIFIED_LITERAL if unspecified else SignalKind.SHARED_LITERAL,
        source="patch/test",
        quote=literal.test.quote,
        says=says,
        labels=(Label.UL,) if unspecified else (),
        weighty=unspecified and in_issue == "no",
        path=literal.test.path,
        line=literal.test.line,
        detail={
            "text": literal.text,
            "literal": literal.kind,
            "standing": literal.standing.value,
            "in_issue": "yes" if literal.standing is Standing.IN_ISSUE else in_issue,
            "code": {"path": literal.code.path, "line": literal.code.line, "quote": literal.code.quote},
        },
    )


def _hidden(pair: Pair) -> Iterator[Signal]:
    for text in pair.texts.values():
        is_code = text.artifact in (Artifact.CODE_PATCH, Artifact.TEST_PATCH)
        for passage in hidden_passages(text.body, is_code=is_code):
            kind = SignalKind.STEERING_TEXT if passage.steers else SignalKind.HIDDEN_TEXT
            says = f"{text.name} holds {passage.what}"
            yield Signal("", kind, text.name, passage.quote, says, weighty=passage.steers)


def count_by_kind(signals: Iterable[Signal]) -> dict[str, int]:
    """How many signals there are of each kind."""
    counts: dict[str, int] = {}
    for signal in signals:
        counts[signal.kind.value] = counts.get(signal.kind.value, 0) + 1
    return counts
