"""What is said in words: requests for information and their answers, claims of further work."""

from __future__ import annotations

import re
from collections.abc import Iterator

from checker.links.prose import commit_prose, markdown_prose
from checker.pair import Pair
from checker.prompting import plain_name
from checker.report import Signal, SignalKind
from checker.signals.own import MOST_PER_KIND, PR_SIDE, is_merged_in, texts_of
from checker.taxonomy import Artifact, Label

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
# "it also crashes", "no unrelated changes": the failure is told, or the claim denied.
_NO_CLAIM = re.compile(
    r"\balso\s+(?:crash|fail|rais|happen|affect|occur|br[eo]+k|see\b|note\b|won't|do(?:es)?n't|can't)\w*|"
    r"\b(?:no|not|never|without)\s+(?:\w+\s+){0,2}(?:unrelated|additional|other|further)",
    re.IGNORECASE,
)
# Where a question mark must follow, it is looked for within a sentence's length: else a long line costs its square.
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
_BREAK = re.compile(r"[.!?:](?=\s)|\n\s*\n|\n(?=\s*(?:[-*#>|]|\d+[.)]))|\r?\n(?=```)")


def read_information_requests(pair: Pair) -> Iterator[Signal]:
    """Somebody asks for details; answered if the reporter writes later (unknown where authors are)."""
    talk = list(texts_of(pair, Artifact.ISSUE_DISCUSSION))
    reporter = next((issue.author for issue in pair.issues if issue.author), None)
    found = 0
    for position, text in enumerate(talk):
        asked = _INFORMATION_REQUEST.search(text.body)
        if asked is None or text.is_bot or (reporter is not None and text.author == reporter):
            continue
        found += 1
        if found > MOST_PER_KIND:
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


def read_further_work(pair: Pair) -> Iterator[Signal]:
    """The pull request's text claims work beside its main subject; tests and documentation are none."""
    found = 0
    for text in texts_of(pair, *PR_SIDE):
        if is_merged_in(text, pair):
            continue
        is_commit = text.artifact is Artifact.PR_COMMITS
        prose = commit_prose(text.body) if is_commit else markdown_prose(text.body)
        for claim in _FURTHER_WORK.finditer(prose):
            if found == MOST_PER_KIND:
                return
            sentence = _sentence(text.body, claim.start())
            around = prose[max(0, claim.start() - 25) : claim.end() + 25]
            if sentence and not _NOT_WORK.search(sentence) and not _NO_CLAIM.search(around):
                found += 1
                says = f"{text.name} claims further work (“{claim[0].strip()}”)"
                yield Signal("", SignalKind.FURTHER_WORK, text.name, sentence, says, (Label.SC,), weighty=True)


def _has_substance(body: str) -> bool:
    """A thank-you answers nothing: an answer has a dozen words, a number, or code."""
    return len(body.split()) >= 12 or any(character.isdigit() or character == "`" for character in body)


def _sentence(body: str, at: int) -> str:
    """The sentence or list item around an offset, verbatim, at most 300 characters.

    A single line break does not end it: many texts are wrapped. What only leads up to a list takes of it with it.
    """
    start = max((m.end() for m in _BREAK.finditer(body, max(0, at - 300), at)), default=max(0, at - 300))
    end = _BREAK.search(body, at, at + 300)
    sentence = body[start : end.start() + 1 if end else at + 300].strip()
    return (sentence if len(sentence) >= 40 else body[start : start + 200].strip())[:300].strip()
