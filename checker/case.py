"""What one check works on: the pair, its signals, and every text that may be quoted."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from checker import patches
from checker.pair import Pair, Text
from checker.patches import Side
from checker.report import Signal, SignalKind
from checker.taxonomy import Artifact, Label, Role
from checker.transcript import Transcript

_PATCHES = (Artifact.CODE_PATCH, Artifact.TEST_PATCH)


@dataclass(frozen=True)
class Case:
    """A pair under check. Texts that tools read are added while it runs (`learn`); nothing else changes."""

    pair: Pair
    signals: tuple[Signal, ...]
    transcript: Transcript
    cuts: dict[Role, set[str]] = field(default_factory=dict)
    _learnt: dict[str, Text] = field(default_factory=dict)

    @property
    def texts(self) -> Mapping[str, Text]:
        """The pair's texts and those that tools read. A tool's text never replaces one of the pair's."""
        return ChainMap(dict(self.pair.texts), self._learnt) if self._learnt else self.pair.texts

    def note_cut(self, role: Role, name: str) -> None:
        """Remembers that a role was not shown all of a text."""
        self.cuts.setdefault(role, set()).add(name)

    def was_read(self, artifact: Artifact) -> bool:
        """Whether an artifact is known, complete and, if it is a patch, parses to its end."""
        is_patch = artifact in _PATCHES
        return self.pair.was_read(artifact) and not (is_patch and (self.unparsed(artifact) or self._lacks(artifact)))

    def _lacks(self, artifact: Artifact) -> bool:
        """Whether a file of this side was changed and its diff is not at hand: GitHub leaves out what is large."""
        side = Side.TEST if artifact is Artifact.TEST_PATCH else Side.CODE
        pr = self.pair.pull_request
        listed = [f.path for f in pr.files if f.patch is None and f.additions and patches.side_of(f.path) is side]
        held = patches.paths(pr.code_patch) | patches.paths(pr.test_patch) if listed else frozenset()
        return any(path not in held for path in listed)

    def unparsed(self, artifact: Artifact) -> tuple[str, ...]:
        """The parts of a patch that are no unified diff."""
        return patches.parse(getattr(self.pair.pull_request, artifact.value)).unparsed

    def learn(self, texts: Iterable[Text]) -> None:
        """Makes texts that a tool read quotable."""
        self._learnt.update({text.name: text for text in texts})

    def signals_of(self, *kinds: SignalKind) -> tuple[Signal, ...]:
        """The signals of the given kinds, in order."""
        return tuple(signal for signal in self.signals if signal.kind in kinds)

    def signals_for(self, labels: Iterable[Label]) -> tuple[Signal, ...]:
        """The signals that may speak for one of the labels."""
        wanted = set(labels)
        return tuple(signal for signal in self.signals if wanted & set(signal.labels))
