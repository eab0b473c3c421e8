"""How pairs are checked, as options of a command: the method, a panel, an ablation; and the checker they choose.

`check` and `audit` share them. `choose_checker` says in a sentence what cannot go together.
"""

from __future__ import annotations

import argparse
import os
import shlex
import shutil
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from checker.agents import ModelBackend
from checker.backbones import backends, read_backbones, seats
from checker.backends import BackendChoice, UsageError, choose_backend
from checker.console import positive_int
from checker.evaluation.ablations import ABLATIONS
from checker.evaluation.baselines import AS_GIVEN, BASELINES, classifier
from checker.evaluation.outside import LONGEST_RUN_SECONDS, Command, OutsideBackend, environment_for
from checker.panel import Checker, Panel, Solo
from checker.pipeline import Backend, Limits
from checker.render import one_line
from checker.tally import Rule
from checker.transcript import file_name

PIPELINE_METHOD = "paichecker"
_COMMAND = "command:"

METHOD_EXAMPLES = """\

other methods than ours, or several backbones (docs/methods.md):
  --method zero-shot                        a baseline of the paper: one question, labels as given
  --method 'command:./agent --fast'         an agent of yours: pair in, labels out, as JSON
  --panel a,b,c --quorum 2                  three models; a label needs two votes
  --panel a,b,c --cascade --tie third       c is asked, and decides, where a and b differ
  --samples 3                               three samples of one model; more than half decide
  --without coordinator                     an ablation of the paper's Table 5
"""


def add_method_options(parser: argparse.ArgumentParser) -> None:
    """Another method than ours, ours without a part, or several backbones with one vote."""
    group = parser.add_argument_group("method")
    group.add_argument(
        "--method",
        type=_method,
        default=PIPELINE_METHOD,
        metavar="METHOD",
        help=f"{PIPELINE_METHOD} (the default), {', '.join(BASELINES)}, or command:PROGRAM ARGUMENTS...",
    )
    group.add_argument(
        "--agent-env",
        action="append",
        default=[],
        metavar="NAME",
        help="hand this environment variable on to command:...; repeatable (keys are not, unless named)",
    )
    group.add_argument("--without", choices=ABLATIONS, metavar="PART", help=f"leave out {', '.join(ABLATIONS)}")
    group.add_argument(
        "--panel", metavar="A,B*2,...", help="ask several backbones, or samples of them: models, or names in a file"
    )
    group.add_argument("--backbones", type=Path, metavar="FILE", help="backbones by name, as TOML (docs/methods.md)")
    group.add_argument("--quorum", type=positive_int, metavar="N", help="votes that a label needs (more than half)")
    group.add_argument("--samples", type=positive_int, default=1, metavar="N", help="ask each backbone N times (1)")
    group.add_argument("--cascade", action="store_true", help="ask a panel's third only where the first two differ")
    group.add_argument(
        "--tie", choices=("vote", "third"), help="of a cascade: two of three votes (the default), or the third decides"
    )


def _method(text: str) -> str:
    if text == PIPELINE_METHOD or text in BASELINES:
        return text
    if not text.startswith(_COMMAND):
        raise argparse.ArgumentTypeError(f"{text!r} is none of {PIPELINE_METHOD}, {', '.join(BASELINES)}, command:...")
    try:
        words = shlex.split(text.removeprefix(_COMMAND))
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{text!r} is no command ({error})") from None
    if not words:
        raise argparse.ArgumentTypeError("command: needs a program")
    return text


def choose_checker(
    options: argparse.Namespace,
    environment: Mapping[str, str],
    choice: BackendChoice,
    *,
    shortcuts: bool = True,
    transcripts: Path | None = None,
) -> Checker:
    """The checker for the options of `add_method_options`, over the backend of `choice`. Raises UsageError.

    Members of a panel keep their transcripts in folders of their own below `transcripts`.
    """
    _refuse_contradictions(options, choice)
    if _is_command(options):
        return replace(_outside(options, environment), transcripts=transcripts)
    if options.panel is None and options.samples == 1:
        solo = _solo(choose_backend(choice, environment), options, shortcuts=shortcuts)
        return replace(solo, transcripts=transcripts)
    members = [
        (name, _solo(backend, options, shortcuts=shortcuts)) for name, backend in _members(choice, options, environment)
    ]
    if transcripts is not None:
        members = [(name, replace(solo, transcripts=transcripts / file_name(name))) for name, solo in members]
    told = f" ({options.method})" if options.method in BASELINES else ""
    return Panel(tuple((name + told, solo) for name, solo in members), _rule(options, len(members)))


def _refuse_contradictions(options: argparse.Namespace, choice: BackendChoice) -> None:
    is_panel = options.panel is not None or options.samples > 1
    asks_classifier = options.method in BASELINES or options.without == "phase-1"
    wrong = {
        "--without leaves out a part of --method paichecker, and of no other": options.without is not None
        and options.method != PIPELINE_METHOD,
        "--agent-env is for --method command:...": bool(options.agent_env) and not _is_command(options),
        "--method command:... asks no model of ours: leave --panel, --samples, --model and --backend out": _is_command(
            options
        )
        and (is_panel or bool(choice.models) or choice.backend != "auto"),
        "--budget-dollars cannot hold for --method command:..., whose price is unknown: leave it out": _is_command(
            options
        )
        and choice.budget_dollars is not None,
        "--backbones FILE describes the members of --panel: name them": options.backbones is not None
        and options.panel is None,
        "--panel names the models: leave --model out, or give a backbone its models in a file (--backbones)": (
            options.panel is not None and bool(choice.models)
        ),
        "--panel and --samples ask models: leave --backend rules out": is_panel and choice.backend == "rules",
        "--quorum and --cascade need a --panel, or --samples": not is_panel
        and (options.quorum is not None or options.cascade),
        "--tie says how a --cascade is decided": options.tie is not None and not options.cascade,
        "--cascade has a rule of its own: leave --quorum out": options.cascade and options.quorum is not None,
        "--model classifier=... is for the baselines and --without phase-1": not asks_classifier
        and any(model.startswith("classifier=") for model in choice.models),
    }
    for sentence, applies in wrong.items():
        if applies:
            raise UsageError(sentence)


def _is_command(options: argparse.Namespace) -> bool:
    return bool(options.method.startswith(_COMMAND))


def _outside(options: argparse.Namespace, environment: Mapping[str, str]) -> Solo:
    words = tuple(shlex.split(options.method.removeprefix(_COMMAND)))
    missing = [name for name in options.agent_env if name not in environment]
    if missing:
        raise UsageError(f"--agent-env {missing[0]}: there is no such environment variable")
    handed_on = environment_for(environment, tuple(options.agent_env))
    if shutil.which(words[0], path=os.pathsep.join(os.get_exec_path(handed_on))) is None:
        raise UsageError(
            f"--method command:...: {one_line(words[0])} cannot be started: no such program, or not executable"
        )
    command = Command(words, handed_on)
    limits = Limits(LONGEST_RUN_SECONDS + 1, LONGEST_RUN_SECONDS + 1)
    backend = OutsideBackend(one_line(options.method), command)
    return Solo(backend, AS_GIVEN, shortcuts=False, limits=limits)


def _members(
    choice: BackendChoice, options: argparse.Namespace, environment: Mapping[str, str]
) -> list[tuple[str, ModelBackend]]:
    if options.panel is not None:
        members = seats(options.panel, options.samples, read_backbones(options.backbones))
        titles = [member.title for member in members]
        return list(zip(titles, backends(members, choice, environment), strict=True))
    backend = choose_backend(choice, environment)
    if not isinstance(backend, ModelBackend):
        raise UsageError("--samples asks a model: set ANTHROPIC_API_KEY")
    samples = [replace(backend, sample=number) for number in range(options.samples)]
    return [(f"{backend.name} #{one.sample + 1}" if one.sample else backend.name, one) for one in samples]


def _rule(options: argparse.Namespace, members: int) -> Rule:
    if members < 2:
        raise UsageError("--panel needs two members or more; one backbone is --model NAME")
    if options.cascade and members != 3:
        raise UsageError(f"--cascade needs a panel of three, and this one has {members}")
    if options.quorum is not None and options.quorum > members:
        raise UsageError(f"--quorum {options.quorum} cannot be had from {members} members")
    if options.cascade:
        return Rule(tie=options.tie or "vote")
    return Rule(options.quorum or members // 2 + 1)


def _solo(backend: Backend, options: argparse.Namespace, *, shortcuts: bool) -> Solo:
    if options.method in BASELINES:
        asked = classifier(_a_model(backend, f"--method {options.method}"), BASELINES[options.method])
        return Solo(asked, AS_GIVEN, shortcuts=False)
    if options.without is None:
        return Solo(backend, shortcuts=shortcuts)
    ablation = ABLATIONS[options.without]
    if ablation.needs_classifier:
        backend = _a_model(backend, f"--without {ablation.name}")
    return Solo(ablation.backend(backend), ablation.plan, shortcuts=shortcuts)


def _a_model(backend: Backend, what: str) -> ModelBackend:
    if not isinstance(backend, ModelBackend):
        raise UsageError(f"{what} asks a model: set ANTHROPIC_API_KEY, and leave --backend rules out")
    return backend
