"""The ten ablations of the paper's Table 5: the pipeline with roles left out, by data alone."""

from __future__ import annotations

from dataclasses import dataclass

from checker.agents import ModelBackend
from checker.evaluation.baselines import ZERO_SHOT, classifier
from checker.pipeline import Backend, Plan
from checker.taxonomy import ANALYZERS, PIPELINE, Role

_ISSUE, _SCOPE, _CONNECTION = ANALYZERS


@dataclass(frozen=True)
class Ablation:
    """One variant: its name here, its name in Table 5, and the roles that it leaves out."""

    name: str
    in_table_5: str
    absent: frozenset[Role]

    @property
    def plan(self) -> Plan:
        """Who takes part. Without an analyzer one classifier stands in: a later phase cannot add the five labels."""
        stand_in = {Role.CLASSIFIER} if self.needs_classifier else set()
        return Plan(roles=(PIPELINE - self.absent) | stand_in)

    @property
    def needs_classifier(self) -> bool:
        """Whether no analyzer is left."""
        return self.absent >= ANALYZERS.keys()

    def backend(self, whole: Backend) -> Backend:
        """The backend that plays this variant: the same, or a classifier over it. Raises ValueError over rules."""
        if not self.needs_classifier:
            return whole
        if not isinstance(whole, ModelBackend):
            raise ValueError("without Phase I a model is asked, and rules are none")
        return classifier(whole, ZERO_SHOT, proves=True)


def _ablation(name: str, in_table_5: str, *absent: Role) -> tuple[str, Ablation]:
    return name, Ablation(name, in_table_5, frozenset(absent))


ABLATIONS = dict(
    [
        _ablation("phase-1", "w/o Phase I (all 3 subagents)", *ANALYZERS),
        _ablation("coordinator", "w/o Phase II (Coordinator)", Role.COORDINATOR),
        _ablation("validator", "w/o Phase III (Code Validator)", Role.CODE_VALIDATOR),
        _ablation("issue", "w/o Issue Analyzer", _ISSUE),
        _ablation("scope", "w/o PR Scope Analyzer", _SCOPE),
        _ablation("connection", "w/o PR Conn. Analyzer", _CONNECTION),
        _ablation("issue+scope", "w/o Issue & PR Scope Analyzers", _ISSUE, _SCOPE),
        _ablation("issue+connection", "w/o Issue & PR Conn. Analyzers", _ISSUE, _CONNECTION),
        _ablation("scope+connection", "w/o PR Scope & PR Conn. Analyzers", _SCOPE, _CONNECTION),
        _ablation("coordinator+validator", "w/o Coordinator & Code Validator", Role.COORDINATOR, Role.CODE_VALIDATOR),
    ]
)
