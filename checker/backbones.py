"""Backbones by name: which model, at which address, with which key, and which models for single roles.

A plain model's name is a backbone too, at the usual address with the usual key. Keys stand in the environment,
never in the file.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import urlsplit, urlunsplit

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, TypeAdapter, ValidationError

from checker.agents import ModelBackend
from checker.anthropic_model import AnthropicModel
from checker.backends import BackendChoice, UsageError, client, has_usual_key, model_backend
from checker.taxonomy import Role

Name = Annotated[str, StringConstraints(pattern=r"^[\w.-]+$")]


class Backbone(BaseModel):
    """One table of a file of backbones. `key_variable`: the environment variable in which the key stands.

    With a `base_url` of its own and without a `key_variable` no key of yours is sent.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)
    model: str = Field(min_length=1)
    base_url: str | None = Field(default=None, pattern=r"^https?://\S+$")
    key_variable: str | None = Field(default=None, min_length=1)
    models: dict[Role, str] = {}

    @property
    def identity(self) -> dict[str, Any]:
        """Who answers under this name, as JSON: the models, and the address without what may be a secret in it."""
        return {"model": self.model, "address": _public(self.base_url), "models": dict(sorted(self.models.items()))}


def _public(address: str | None) -> str | None:
    """An address without user, password, query and fragment."""
    if address is None:
        return None
    scheme, place, path, _, _ = urlsplit(address)
    return urlunsplit((scheme, place.rpartition("@")[2], path.rstrip("/"), "", ""))


@dataclass(frozen=True)
class Member:
    """One seat: a backbone under its name, and which sample of it (from 0)."""

    name: str
    backbone: Backbone
    sample: int = 0

    @property
    def title(self) -> str:
        """The name, and from the second sample on its number."""
        return f"{self.name} #{self.sample + 1}" if self.sample else self.name


def read_backbones(path: Path | None) -> dict[str, Backbone]:
    """The tables of a TOML file. Raises UsageError."""
    if path is None:
        return {}
    try:
        return TypeAdapter(dict[Name, Backbone]).validate_python(tomllib.loads(path.read_text(encoding="utf-8")))
    except OSError as error:
        raise UsageError(f"--backbones {path}: it cannot be read ({error.strerror})") from None
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise UsageError(f"--backbones {path}: {'.'.join(map(str, first['loc']))}: {first['msg']}") from None
    except (ValueError, RecursionError) as error:
        raise UsageError(f"--backbones {path}: it is no TOML ({error})") from None


def seats(panel: str, samples: int, known: Mapping[str, Backbone]) -> tuple[Member, ...]:
    """The members that `a,b*3` names, each `samples` times unless it says how often. Raises UsageError."""
    found: dict[str, list[Member]] = {}
    for part in panel.split(","):
        name, star, times = (piece.strip() for piece in part.partition("*"))
        if not name or (star and not (times.isdecimal() and int(times))):
            raise UsageError(f"--panel {panel!r}: {part.strip()!r} is neither NAME nor NAME*SAMPLES")
        if name in found:
            raise UsageError(f"--panel {panel!r}: {name} stands there twice; {name}*2 asks for two samples of it")
        backbone = known.get(name) or Backbone(model=name)
        found[name] = [Member(name, backbone, sample) for sample in range(int(times) if star else samples)]
    return tuple(member for members in found.values() for member in members)


def described(panel: str | None, samples: int, known: Mapping[str, Backbone]) -> dict[str, dict[str, Any]] | None:
    """The identities of those members of a panel that a file describes; None where there are none."""
    names = {member.name for member in seats(panel, samples, known)} if panel else set()
    return {name: known[name].identity for name in sorted(names & known.keys())} or None


def backends(members: Sequence[Member], choice: BackendChoice, environment: Mapping[str, str]) -> list[ModelBackend]:
    """A backend for each seat; samples of one backbone share its client and its store. Raises UsageError."""
    held = {member.name: _backend(member, choice, environment) for member in members}
    return [replace(held[member.name], sample=member.sample) for member in members]


def _backend(member: Member, choice: BackendChoice, environment: Mapping[str, str]) -> ModelBackend:
    """Backbones at other addresses keep their replies apart: their models may share a name."""
    backbone = member.backbone
    own = bool(backbone.base_url or backbone.key_variable)
    if not own and not has_usual_key(environment):
        raise UsageError(
            f"--panel: {member.name} needs a key: set ANTHROPIC_API_KEY, or describe it in a file (--backbones)"
        )
    if not own:
        return model_backend(choice, environment, backbone.model, backbone.models)
    return model_backend(
        choice,
        environment,
        backbone.model,
        backbone.models,
        model=_model(member.name, backbone, environment),
        store=f"replies-{member.name}.sqlite",
    )


def _model(name: str, backbone: Backbone, environment: Mapping[str, str]) -> AnthropicModel:
    """The SDK sends some key in any case; the usual one must not reach a stranger's address."""
    key = environment.get(backbone.key_variable) if backbone.key_variable else "no-key"
    if not key:
        raise UsageError(f"backbone {name}: set {backbone.key_variable}, in which its key is to stand (--backbones)")
    told = backbone.key_variable or f"the key_variable of backbone {name}"
    return AnthropicModel(client(key, backbone.base_url, f"the base_url of backbone {name}"), key_name=told)
