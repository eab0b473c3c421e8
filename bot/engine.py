"""The engine as the operator and the repository set it up: which backend, which model, which budget."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

from bot.repo_config import RepositoryConfig
from bot.settings import NotConfigured, Settings
from checker.agents import ModelBackend
from checker.anthropic_model import AnthropicModel
from checker.backends import client as model_client
from checker.backends import with_live_tools
from checker.exchange import Budget
from checker.github.client import Client
from checker.pair import Pair
from checker.pipeline import Backend
from checker.replies import ReplyStore
from checker.report import Report, Verdict
from checker.rules import RulesBackend


@dataclass(frozen=True)
class Engine:
    """Rules without a key, else a model. `models`: those that the operator offers, the default first."""

    settings: Settings | NotConfigured

    @property
    def models(self) -> tuple[str, ...]:
        """What a repository may choose from."""
        return self.settings.models

    async def close(self) -> None:
        """Ends the connections to the model, where it was asked."""
        asked = vars(self).get("_model")
        if asked is not None:
            await asked.close()

    @cached_property
    def _model(self) -> AnthropicModel | None:
        key = self.settings.anthropic_api_key
        if key is None:
            return None
        return AnthropicModel(model_client(key.get_secret_value(), self.settings.anthropic_base_url))

    def backend(self, pair: Pair, config: RepositoryConfig, client: Client, replies: ReplyStore) -> Backend:
        """Who plays the roles for one pair, with live tools; a repository may lower the budget, and choose a model."""
        if self._model is None:
            return RulesBackend()
        backend = ModelBackend(
            self._model,
            default_model=config.model or self.models[0],
            budget=self._budget(config),
            store=replies,
        )
        return with_live_tools(backend, client, {pair.id})

    def _budget(self, config: RepositoryConfig) -> Budget:
        tokens = min(self.settings.budget_tokens, config.budget_tokens or self.settings.budget_tokens)
        dollars = [limit for limit in (self.settings.budget_dollars, config.budget_dollars) if limit is not None]
        return Budget(tokens, min(dollars, default=None))


def within(report: Report, config: RepositoryConfig) -> Report:
    """The report without labels that the repository has switched off, and with a word on each that was found."""
    kept = tuple(finding for finding in report.findings if finding.label in config.labels)
    if len(kept) == len(report.findings):
        return report
    off = dict.fromkeys(finding.label for finding in report.findings if finding.label not in config.labels)
    remarks = tuple(f"{label} was found, and is switched off in this repository's settings." for label in off)
    # What is left says less than *aligned*: somebody chose not to know.
    rest = Verdict.UNDETERMINED if report.undetermined else Verdict.NOTHING_FOUND
    verdict = report.verdict if kept or report.verdict is not Verdict.MISALIGNED else rest
    return replace(report, findings=kept, verdict=verdict, remarks=report.remarks + remarks)
