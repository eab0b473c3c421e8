"""Several backbones, one vote: what stands, with whose proof, and what an absent voice leaves open."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from anthropic_server import Answer, MessagesServer, Received, error, message
from command_line import ALIGNED, MISALIGNED
from command_line import run as command
from fakes import HeldConnections, ScriptedModel, connection, decide, issue, load_pair, scope, validated, yes

from checker.agents import ModelBackend
from checker.evidence import Evidence
from checker.pair import Pair
from checker.panel import Checker, Panel, Solo
from checker.pipeline import Backend
from checker.render import as_markdown, as_text
from checker.replay import replay
from checker.report import Clue, Confidence, Finding, Report, RoleUsage, Verdict, read_report, write_report
from checker.tally import Ballot, Rule, tally
from checker.taxonomy import PIPELINE, Artifact, Label, Role, Scenario

SC, DP, IS, FP, UL = Label.SC, Label.DP, Label.IS, Label.FP, Label.UL
UNREAD = "DP cannot be ruled out: what mentions the issue (not read)."
DOWN = "The Issue Analyzer failed, so IS stay open: the server is down."


def finding(label: Label, *quotes: str, confidence: Confidence = Confidence.LOW, **more: Any) -> Finding:
    evidence = tuple(Evidence("pr/description", Artifact.PR_DESCRIPTION, quote) for quote in quotes or ("a quote",))
    given = {"scenario": None, "reason": f"{confidence} {label}", "by": Role.SCOPE_ANALYZER, **more}
    return Finding(label, confidence=confidence, evidence=evidence, **given)


def said(*what: Finding | Label, doubts: tuple[str, ...] = (), **more: Any) -> Report:
    """A member's report."""
    findings = tuple(finding(one) if isinstance(one, Label) else one for one in what)
    verdict = Verdict.MISALIGNED if findings else Verdict.UNDETERMINED if doubts else Verdict.ALIGNED
    return Report("p", "m", verdict, findings, undetermined=doubts, **more)


TWO = Rule(2)


def count(*reports: Report, rule: Rule = TWO) -> Report:
    return tally([Ballot("abcd"[at], report) for at, report in enumerate(reports)], "panel", rule)


# The vote


@pytest.mark.parametrize(
    ("reports", "quorum", "labels", "verdict"),
    [
        ([said(SC), said(SC), said()], 2, (SC,), Verdict.MISALIGNED),
        ([said(SC), said(SC), said()], 3, (), Verdict.ALIGNED),
        ([said(SC), said(), said()], 1, (SC,), Verdict.MISALIGNED),
        ([said(SC, UL), said(SC, IS), said(UL)], 2, (SC, UL), Verdict.MISALIGNED),
        ([said(), said(), said()], 2, (), Verdict.ALIGNED),
        ([said(), said(), said(SC)], 2, (), Verdict.ALIGNED),
    ],
)
def test_a_label_stands_at_the_quorum(
    reports: list[Report], quorum: int, labels: tuple[Label, ...], verdict: Verdict
) -> None:
    report = count(*reports, rule=Rule(quorum))
    assert (report.labels, report.verdict) == (labels, verdict)


@pytest.mark.parametrize(
    ("reports", "verdict"),
    [
        ([said(), said(), said(doubts=(DOWN,))], Verdict.ALIGNED),
        ([said(SC), said(), said(doubts=(DOWN,))], Verdict.UNDETERMINED),
        ([said(), said(doubts=(DOWN,)), said(doubts=(DOWN,))], Verdict.UNDETERMINED),
        ([said(doubts=(DOWN,)), said(doubts=(DOWN,)), said(doubts=(DOWN,))], Verdict.UNDETERMINED),
        ([said(SC), said(SC), said(doubts=(DOWN,))], Verdict.MISALIGNED),
        ([said(SC), said(UL, doubts=(DOWN,)), said()], Verdict.UNDETERMINED),
    ],
)
def test_an_absent_voice_leaves_open_what_it_could_have_decided(reports: list[Report], verdict: Verdict) -> None:
    report = count(*reports)
    assert report.verdict is verdict
    assert bool(report.undetermined) == (verdict is Verdict.UNDETERMINED)


def test_who_left_what_open_is_said_with_their_doubts() -> None:
    report = count(said(SC), said(), said(doubts=(DOWN,)))
    assert report.undetermined == ("SC cannot be ruled out: c left open what could have decided.", f"c: {DOWN}")


def test_a_doubt_that_all_share_is_said_once() -> None:
    report = count(said(doubts=(UNREAD,)), said(doubts=(UNREAD,)), said(doubts=(UNREAD, DOWN)))
    assert report.undetermined[1:] == (UNREAD, f"c: {DOWN}")


def test_a_standing_label_with_a_third_voice_missing_lists_no_doubt_about_itself() -> None:
    report = count(said(SC), said(SC), said(doubts=(DOWN,)))
    assert report.undetermined == ()


def test_members_that_all_object_to_different_things_do_not_make_a_pair_aligned() -> None:
    report = count(said(SC), said(UL), said())
    assert report.verdict is Verdict.UNDETERMINED
    assert report.undetermined == ("2 of 3 found the pair misaligned, but no label has 2 votes.",)


def test_rules_alone_never_make_a_pair_aligned() -> None:
    nothing = Report("p", "rules", Verdict.NOTHING_FOUND)
    assert count(nothing, nothing).verdict is Verdict.NOTHING_FOUND


@pytest.mark.parametrize(
    ("reports", "rule", "labels", "verdict"),
    [
        ([said(SC), said(SC)], "vote", (SC,), Verdict.MISALIGNED),
        ([said(), said()], "third", (), Verdict.ALIGNED),
        ([said(SC), said(), said(SC)], "vote", (SC,), Verdict.MISALIGNED),
        ([said(SC), said(), said(UL)], "vote", (), Verdict.UNDETERMINED),
        ([said(SC), said(), said(UL)], "third", (UL,), Verdict.MISALIGNED),
        ([said(SC), said(UL), said()], "third", (), Verdict.ALIGNED),
        ([said(), said(SC), said(doubts=(DOWN,))], "third", (), Verdict.UNDETERMINED),
        ([said(SC), said(), said(doubts=(DOWN,))], "vote", (), Verdict.UNDETERMINED),
    ],
)
def test_in_a_cascade_two_that_agree_settle_it_and_else_the_tie_is_broken(
    reports: list[Report], rule: Any, labels: tuple[Label, ...], verdict: Verdict
) -> None:
    report = count(*reports, rule=Rule(tie=rule))
    assert (report.labels, report.verdict) == (labels, verdict)


# What the panel's report holds


def test_a_finding_has_the_words_of_the_most_confident_and_the_proof_of_all() -> None:
    low = finding(SC, "one", "two   words", scenario=Scenario.SC_1, repair="Split it.")
    high = finding(SC, "two words", "three", confidence=Confidence.HIGH, scenario=Scenario.SC_2)
    report = count(said(low), said(high), said(UL))
    merged = report.findings[0]
    assert (merged.reason, merged.scenario, merged.repair) == ("high SC", Scenario.SC_2, "Split it.")
    assert [evidence.quote for evidence in merged.evidence] == ["two words", "three", "one"]


@pytest.mark.parametrize(
    ("givers", "asked", "confidence"), [(3, 3, "high"), (2, 3, "medium"), (2, 4, "low"), (1, 3, "low"), (2, 2, "high")]
)
def test_the_confidence_is_that_of_the_votes(givers: int, asked: int, confidence: str) -> None:
    high = finding(SC, confidence=Confidence.HIGH)
    report = count(*[said(high)] * givers, *[said()] * (asked - givers), rule=Rule(1))
    assert report.findings[0].confidence == confidence


def test_who_gave_what_stands_in_the_report_and_is_shown() -> None:
    report = count(said(SC, UL), said(SC, doubts=(DOWN,)), said(doubts=(DOWN,)))
    assert [(v.member, v.verdict.value, v.labels, v.open) for v in report.votes] == [
        ("a", "misaligned", (SC, UL), False),
        ("b", "misaligned", (SC,), True),
        ("c", "undetermined", (), True),
    ]
    assert read_report(write_report(report)) == report
    for text in (as_text(report), as_markdown(report)):
        for line in ("a: misaligned (SC, UL)", "b: misaligned (SC), with doubts", "c: undetermined"):
            assert line in text.replace("\\", "")


def test_a_label_below_the_quorum_is_dropped_by_the_vote_and_says_whose_it_was() -> None:
    report = count(said(SC), said(), said())
    assert [(d.label, d.by, d.reason) for d in report.dropped] == [(SC, "panel", "1 of 3 gave it (a): low SC")]
    assert "by the panel's vote" in as_text(report)


def test_usage_is_added_by_role_and_model_and_an_unknown_price_stays_unknown() -> None:
    one, other = RoleUsage(Role.COORDINATOR, "m", 1, 10, 4, 2, 0.5), RoleUsage(Role.COORDINATOR, "n", 1, 1, 0, 1, None)
    report = count(said(usage=(one,)), said(usage=(one, other)), said(usage=(other,)))
    assert report.usage == (
        RoleUsage(Role.COORDINATOR, "m", 2, 20, 8, 4, 1.0),
        RoleUsage(Role.COORDINATOR, "n", 2, 2, 0, 2, None),
    )
    assert report.dollars is None


def test_clues_and_remarks_are_those_of_all_each_once() -> None:
    clue = Clue("pr_scope_analyzer", "odd")
    report = count(said(clues=(clue,), remarks=("r",)), said(clues=(clue,), remarks=("r", "s")))
    assert (report.clues, report.remarks) == ((clue,), ("r", "s"))


# Members at work

PIPELINE_IN_ORDER = [role for role in Role if role in PIPELINE]
WORDS = "This PR also adds support for wildcards in `getIn`:"


def script(*, creep: bool = True) -> dict[Role, Any]:
    return {
        Role.ISSUE_ANALYZER: issue(),
        Role.SCOPE_ANALYZER: scope(yes("SC-2", "pr/description", WORDS)) if creep else scope(),
        Role.CONNECTION_ANALYZER: connection(),
        Role.COORDINATOR: decide(SC=True) if creep else decide(),
        Role.CODE_VALIDATOR: validated(SC=True),
    }


def panel(*models: ScriptedModel, rule: Rule = TWO) -> Panel:
    members: list[tuple[str, Checker]] = [
        ("abc"[at], Solo(ModelBackend(model, connections=HeldConnections), shortcuts=False))
        for at, model in enumerate(models)
    ]
    return Panel(tuple(members), rule)


class Met:
    """A member that answers once as many as were promised are asked with it."""

    name = "met"
    backends: tuple[Backend, ...] = ()

    def __init__(self, together: asyncio.Barrier) -> None:
        self._together = together

    async def __call__(self, pair: Pair) -> Report:
        await self._together.wait()
        return said(SC)

    def over(self, equip: Callable[[Backend], Backend]) -> Met:
        return self


@pytest.mark.parametrize(("members", "at_once", "rule"), [(3, 3, TWO), (4, 4, TWO), (3, 2, Rule(tie="vote"))])
async def test_members_are_asked_at_once_and_of_a_cascade_the_first_two(members: int, at_once: int, rule: Rule) -> None:
    barrier = asyncio.Barrier(at_once)
    async with asyncio.timeout(5):
        report = await Panel(tuple((str(at), Met(barrier)) for at in range(members)), rule)(load_pair("aligned"))
    assert len(report.votes) == at_once
    assert (report.labels, report.findings[0].confidence) == ((SC,), Confidence.HIGH)


async def test_three_models_that_agree_make_a_sure_finding() -> None:
    report = await panel(*[ScriptedModel(script()) for _ in range(3)])(load_pair("scope-creep-and-literal"))
    assert (report.labels, report.findings[0].confidence) == ((SC,), Confidence.HIGH)
    assert report.backend == "panel, 2 of 3: a, b, c"
    assert [(used.role, used.calls) for used in report.usage] == [(role, 3) for role in PIPELINE_IN_ORDER]


@pytest.mark.parametrize(
    ("first", "second", "asked"), [(True, True, False), (False, False, False), (True, False, True), (False, True, True)]
)
async def test_the_third_of_a_cascade_is_asked_only_where_the_first_two_differ(
    first: bool, second: bool, asked: bool
) -> None:
    models = [ScriptedModel(script(creep=creep)) for creep in (first, second, True)]
    report = await panel(*models, rule=Rule(tie="third"))(load_pair("scope-creep-and-literal"))
    assert bool(models[2].asked) == asked
    assert len(report.votes) == (3 if asked else 2)
    assert report.labels == (() if (first, second) == (False, False) else (SC,))


@pytest.mark.parametrize(("broken", "asked"), [(1, True), (2, False)])
async def test_a_third_is_asked_where_one_failed_and_not_where_both_have_the_same_doubts(
    broken: int, asked: bool
) -> None:
    failing = {**script(creep=False), Role.ISSUE_ANALYZER: "prose"}
    models = [ScriptedModel(failing if at < broken else script(creep=False)) for at in range(2)]
    third = ScriptedModel(script(creep=False))
    report = await panel(*models, third, rule=Rule(tie="vote"))(load_pair("aligned"))
    assert bool(third.asked) == asked
    assert report.verdict is (Verdict.ALIGNED if asked else Verdict.UNDETERMINED)


async def test_the_same_panel_over_other_backends() -> None:
    model = ScriptedModel(script())
    seen: list[Backend] = []

    def equip(backend: Backend) -> Backend:
        seen.append(backend)
        return replace(backend, model=model)  # type: ignore[type-var]

    whole = panel(*[ScriptedModel({})] * 3)
    report = await whole.over(equip)(load_pair("scope-creep-and-literal"))
    assert tuple(seen) == whole.backends
    assert (report.labels, len(model.asked[Role.ISSUE_ANALYZER])) == ((SC,), 3)


async def test_a_member_that_never_ends_is_cancelled_with_the_panel() -> None:
    ended = asyncio.Event()

    class Endless:
        name, backends = "endless", ()

        async def __call__(self, pair: Pair) -> Report:
            try:
                return await asyncio.sleep(60, said())
            finally:
                ended.set()

        def over(self, equip: Callable[[Backend], Backend]) -> Endless:
            return self

    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.1):
            await Panel((("a", Endless()), ("b", Endless())))(load_pair("aligned"))
    assert ended.is_set()


# Through the command, over real HTTP


def zero_shot(*labels: str) -> str:
    held = [{"why": "w", "label": label, "scenario": None, "confidence": "low", "quotes": []} for label in labels]
    return json.dumps({"labels": held})


def key_in(received: Received) -> str:
    """The key, in whichever of its two headers the SDK sends it."""
    return received.headers.get("x-api-key") or received.headers["authorization"].removeprefix("Bearer ")


def by_model(**answers: list[str]) -> Callable[[Received], Answer]:
    def answer(received: Received) -> Answer:
        return message(zero_shot(*answers[received.body["model"]]))

    return answer


@pytest.fixture
def keyed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[str]:
    """The options of a command that may ask a model."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", "the usual key")
    return ["check", str(MISALIGNED), "--method", "zero-shot", "--replies", str(tmp_path / "r"), "--format", "json"]


def test_plain_models_are_a_panel(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, keyed: list[str]
) -> None:
    with MessagesServer(by_model(a=["SC"], b=["SC", "UL"], c=[])) as server:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        status, out, err = command(capsys, *keyed, "--panel", "a,b,c", "--quorum", "2")
    report = json.loads(out)
    assert (status, report["labels"], err) == (1, ["SC"], "")
    votes = {vote["member"].removesuffix(" (zero-shot)"): vote["labels"] for vote in report["votes"]}
    assert votes == {"a": ["SC"], "b": ["SC", "UL"], "c": []}


def test_a_cascade_asks_its_third_only_in_need(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, keyed: list[str]
) -> None:
    with MessagesServer(by_model(a=["SC"], b=["SC"], c=[], d=["UL"])) as server:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        alike = json.loads(command(capsys, *keyed, "--panel", "a,b,c", "--cascade")[1])
        asked = [received.body["model"] for received in server.received]
        third = json.loads(command(capsys, *keyed, "--panel", "a,c,d", "--cascade", "--tie", "third")[1])
    assert (sorted(asked), alike["labels"], third["labels"]) == (["a", "b"], ["SC"], ["UL"])
    assert third["backend"] == "cascade: a (zero-shot), c (zero-shot), else d (zero-shot) (which decides)"


def test_samples_of_one_model_are_asked_apart_and_kept_apart(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, keyed: list[str]
) -> None:
    answers = [message(zero_shot("SC")), message(zero_shot()), message(zero_shot("SC"))]
    with MessagesServer.scripted(*answers) as server:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        first = json.loads(command(capsys, *keyed, "--model", "m", "--samples", "3")[1])
        again = json.loads(command(capsys, *keyed, "--panel", "m*3")[1])
    assert len(server.received) == 3
    assert first["labels"] == again["labels"] == ["SC"]
    assert [v["labels"] for v in first["votes"]] == [v["labels"] for v in again["votes"]]
    assert sorted(v["labels"] for v in again["votes"]) == [[], ["SC"], ["SC"]]
    assert [vote["member"].removesuffix(" (zero-shot)") for vote in again["votes"]] == ["m", "m #2", "m #3"]


def test_each_backbone_has_its_address_its_key_and_its_models(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, keyed: list[str], tmp_path: Path
) -> None:
    monkeypatch.setenv("OTHER_KEY", "the other key")
    usual, other, local = (MessagesServer.scripted(message(zero_shot(*labels))) for labels in (["SC"], ["SC"], []))
    file = tmp_path / "backbones.toml"
    with usual, other, local:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", usual.url)
        file.write_text(
            f'[other]\nmodel = "m"\nbase_url = "{other.url}"\nkey_variable = "OTHER_KEY"\n'
            f'[other.models]\nclassifier = "n"\n[local]\nmodel = "m"\nbase_url = "{local.url}"\n'
        )
        status, out, err = command(capsys, *keyed, "--panel", "m,other,local", "--backbones", str(file))
    assert (status, json.loads(out)["labels"], err) == (1, ["SC"], "")
    asked = [(server.received[0].body["model"], key_in(server.received[0])) for server in (usual, other, local)]
    assert asked == [("m", "the usual key"), ("n", "the other key"), ("m", "no-key")]
    assert not any("the usual key" in str(server.received[0].headers) for server in (other, local))
    stores = sorted(path.name for path in (tmp_path / "r").glob("*.sqlite"))
    assert stores == ["replies-local.sqlite", "replies-other.sqlite", "replies.sqlite"]


def test_a_refused_key_is_told_by_the_name_of_its_variable(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, keyed: list[str], tmp_path: Path
) -> None:
    monkeypatch.setenv("OTHER_KEY", "wrong")
    file = tmp_path / "backbones.toml"
    bad = MessagesServer.scripted(error(401, "authentication_error", "no"))
    with MessagesServer(by_model(m=["SC"])) as good, bad:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", good.url)
        file.write_text(f'[other]\nmodel = "m"\nbase_url = "{bad.url}"\nkey_variable = "OTHER_KEY"\n')
        wanted = ["--panel", "m,other", "--quorum", "2", "--backbones", str(file)]
        status, out, _ = command(capsys, *keyed, *wanted)
    report = json.loads(out)
    assert (status, report["verdict"]) == (3, "undetermined")
    assert any(
        doubt.startswith("other (zero-shot): ") and "check OTHER_KEY" in doubt for doubt in report["undetermined"]
    )


async def replayed(folder: Path) -> list[Report]:
    return [await replay(json.loads(path.read_text())) for path in sorted(folder.glob("*/*.json"))]  # noqa: ASYNC240


def test_each_member_keeps_transcripts_of_its_own(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, keyed: list[str], tmp_path: Path
) -> None:
    with MessagesServer(by_model(a=["SC"], b=["UL"])) as server:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        command(capsys, *keyed, "--panel", "a,b*2", "--transcripts", str(tmp_path / "t"))
    assert sorted(path.name for path in (tmp_path / "t").iterdir()) == ["a", "b", "b%20%232"]
    assert [report.labels for report in asyncio.run(replayed(tmp_path / "t"))] == [(SC,), (UL,), (UL,)]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--panel", "a"], "--panel needs two members or more"),
        (["--panel", "a,,b"], "is neither NAME nor NAME*SAMPLES"),
        (["--panel", "a*x,b"], "'a*x' is neither NAME nor NAME*SAMPLES"),
        (["--panel", "a*0,b"], "'a*0' is neither"),
        (["--panel", "a,a"], "a stands there twice; a*2 asks for two samples of it"),
        (["--panel", "a,b", "--quorum", "3"], "--quorum 3 cannot be had from 2 members"),
        (["--panel", "a,b", "--cascade"], "--cascade needs a panel of three, and this one has 2"),
        (["--panel", "a,b,c", "--tie", "third"], "--tie says how a --cascade is decided"),
        (["--panel", "a,b,c", "--cascade", "--quorum", "2"], "leave --quorum out"),
        (["--panel", "a,b,c", "--model", "m"], "--panel names the models: leave --model out"),
        (["--panel", "a,b,c", "--backend", "rules"], "--panel and --samples ask models"),
        (["--quorum", "2"], "--quorum and --cascade need a --panel"),
        (["--backbones", "f"], "--backbones FILE describes the members of --panel"),
        (["--panel", "a,b", "--backbones", "no-such"], "--backbones no-such: it cannot be read (No such file"),
    ],
)
def test_a_usage_error_is_a_sentence(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, options: list[str], said: str, tmp_path: Path
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "not a key")
    status, out, err = command(capsys, "check", str(ALIGNED), "--replies", str(tmp_path), *options)
    assert (status, out) == (2, "")
    assert said in err


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[a", "it is no TOML ("),
        ("a = 1", "a: Input should be"),
        ("[a]\nmodel = ''", "a.model: String should have at least 1 character"),
        ("[a]\nmodel = 'm'\nkey = 'secret'", "a.key: Extra inputs are not permitted"),
        ("[a]\nmodel = 'm'\nbase_url = 'ftp://x'", "a.base_url: "),
        ("[a]\nmodel = 'm'\n[a.models]\njudge = 'x'", "a.models."),
        ('["a/b"]\nmodel = "m"', "a/b"),
        ("[a]\nmodel = 'm'\nkey_variable = 'NO_SUCH_KEY'", "backbone a: set NO_SUCH_KEY"),
        ("[a]\nmodel = 'm'\nbase_url = 'http://x:port'", "the base_url of backbone a is no address"),
        ("[b]\nmodel = 'm'", "--panel: a needs a key: set ANTHROPIC_API_KEY"),
    ],
)
def test_a_bad_file_of_backbones_is_told_with_the_field(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, text: str, said: str
) -> None:
    path = tmp_path / "backbones.toml"
    path.write_text(text)
    asked = ["check", str(ALIGNED), "--panel", "a,b", "--backbones", str(path), "--replies", str(tmp_path)]
    status, out, err = command(capsys, *asked)
    assert (status, out) == (2, "")
    assert said in err


def test_samples_without_a_model_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    status, _, err = command(capsys, "check", str(ALIGNED), "--samples", "3")
    assert status == 2
    assert "--samples asks a model: set ANTHROPIC_API_KEY" in err
