"""The page of an audit in a real Chromium, opened from a file, without a network."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from audits import examples, row_of, write_audit
from chromium import Chromium
from test_render import full_report

from checker.audit_report.page import as_html
from checker.audit_report.reading import read_audit
from checker.recommendation import ADDED
from checker.render import one_line, plain
from checker.report import Report, Verdict

IMPORTANT_TEXT = "body, .note, .choice, .open, .chip, blockquote, ins, figcaption, .by, #filters button, thead th"


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chromium]:
    with Chromium(tmp_path_factory.mktemp("profile")) as chromium:
        yield chromium


class Page:
    """One audit's page in the browser."""

    def __init__(self, browser: Chromium, folder: Path) -> None:
        self.browser, self.folder = browser, folder

    def show(self, rows: Iterable[dict[str, Any]], failures: Iterable[dict[str, Any]] = (), **settings: Any) -> float:
        """Writes and opens it; the seconds until it was loaded."""
        path = self.folder / "page.html"
        path.write_text(as_html(read_audit(write_audit(self.folder / "audit", rows, failures, **settings))), "utf-8")
        self.browser.screen(1280, 900)
        return self.browser.open(path)

    def run(self, script: str) -> Any:
        return self.browser.run(script)

    def set(self, name: str, value: str) -> list[str]:
        """Sets a filter; the ids then listed."""
        event = "dispatchEvent(new Event('input', {bubbles: true}))"
        self.run(f"(e => {{ e.value = {json.dumps(value)}; e.{event} }})(document.getElementById('{name}'))")
        return self.listed

    @property
    def listed(self) -> list[str]:
        ids: list[str] = self.run("[...document.querySelectorAll('.open')].map(e => e.textContent)")
        return ids

    def text(self, selector: str) -> str:
        return str(self.run(f"document.querySelector({json.dumps(selector)}).innerText"))

    def open_all(self) -> None:
        self.run("document.querySelectorAll('.open').forEach(e => e.click())")
        self.run("document.querySelectorAll('details').forEach(e => { e.open = true })")


@pytest.fixture
def page(browser: Chromium, tmp_path: Path) -> Page:
    return Page(browser, tmp_path)


def of(name: str, verdict: Verdict, **changes: Any) -> dict[str, Any]:
    return row_of(Report(id=name, backend="model-x", verdict=verdict), **changes)


# What strangers wrote

HOSTILE = [
    "<script>window.hit = 1</script>",
    "</script><script>window.hit = 1</script>",
    "<!--<script>",
    "<img src=x onerror='window.hit = 1'>",
    "<svg/onload=window.hit=1>",
    "\"><style>*{display:none}</style><a href='javascript:window.hit=1'>x</a>",
    "javascript:window.hit=1",
    "`${window.hit = 1}` {{constructor.constructor('window.hit=1')()}}",
    "__proto__",
    "\\u003cb\\u003e \\\" '",
    "right \u202e to left \u2066 isolate",
    "line\u2028separator\u2029s",
    "שלום עולם, مرحبا",
    "a\r\nb\x00c\x1b[2J",
]
TAGS = "[...new Set([...document.querySelectorAll('*')].map(e => e.tagName))].sort().join()"
HANDLERS = (
    "[...document.querySelectorAll('*')].filter(e => [...e.attributes].some(a => /^(on|style)/.test(a.name))).length"
)


@pytest.mark.parametrize("stranger", HOSTILE)
def test_a_strangers_text_is_shown_as_itself_and_does_nothing(page: Page, stranger: str) -> None:
    tags = {}
    for words in ("plain words", stranger):
        line = row_of(full_report(words), repository=words, reason=words)
        page.show([line], source=words, method=words)
        page.open_all()
        tags[words] = page.run(TAGS)
    assert tags[stranger] == tags["plain words"]
    assert page.run("window.hit === undefined")
    assert page.run(HANDLERS) == 0
    assert page.browser.complaints == []
    assert page.run("document.querySelector('.open').textContent") == one_line(stranger)
    quoted = "\n".join(plain(line.expandtabs(4)) for line in stranger.splitlines())
    assert page.run("document.querySelector('blockquote').textContent") == quoted


@pytest.mark.parametrize(
    "url",
    [
        "javascript:window.hit=1",
        "data:text/html,<script>1</script>",
        "http://github.com/ann/tool/pull/9",
        "https://evil.test/?x",
        "https://github.com@evil.test/a/b/pull/1",
        "https://gіthub.com/ann/tool/pull/9",
        "https://github.com/ann/tool/pull/9?x=1",
        " https://github.com/ann/tool/pull/9",
    ],
)
def test_an_address_that_is_no_page_of_a_repository_is_no_link(page: Page, url: str) -> None:
    page.show([row_of(full_report(url=url))])
    page.open_all()
    assert page.run("document.querySelectorAll('.details a').length") == 0


def test_a_quote_is_linked_to_where_it_stands_and_the_pair_to_its_pull_request(page: Page) -> None:
    url = "https://github.com/ann/tool/issues/7#issuecomment-12"
    page.show([row_of(replace(full_report(url=url), id="palisade-forms__fieldpath-891"))])
    page.open_all()
    links = page.run("[...document.querySelectorAll('.details a')].map(e => [e.href, e.rel])")
    rel = "noopener noreferrer nofollow"
    assert links == [["https://github.com/palisade-forms/fieldpath/pull/891", rel], [url, rel]]


def test_a_huge_text_is_cut_and_said_to_be(page: Page) -> None:
    took = page.show([row_of(full_report("x" * 2_000_000))], source="x" * 2_000_000)
    page.open_all()
    assert took < 10
    assert "1,980,000 more characters, in results.jsonl" in page.text("blockquote")
    assert len(page.text("body")) < 400_000
    assert page.run("document.documentElement.scrollWidth <= innerWidth")


def test_the_page_asks_for_nothing_and_its_policy_lets_nothing_else_run(page: Page) -> None:
    page.show(examples())
    page.open_all()
    assert [url for url in page.browser.requests if not url.endswith("/page.html")] == []
    page.run("document.body.append(Object.assign(document.createElement('script'), {text: 'window.hit = 1'}))")
    page.run("document.body.append(Object.assign(document.createElement('img'), {src: 'https://evil.test/x.png'}))")
    refused = page.run("fetch('https://evil.test/').then(() => 'asked', () => 'refused')")
    assert refused == "refused"
    assert page.run("window.hit === undefined")
    assert len([said for said in page.browser.complaints if "Content Security Policy" in said]) >= 2


# Listing and filtering


def test_pairs_are_listed_with_what_matters_most_first(page: Page) -> None:
    rows = [of("aligned", Verdict.ALIGNED), of("open", Verdict.UNDETERMINED), *examples()]
    page.show(rows, [of("lost", Verdict.UNDETERMINED)])
    verdicts = page.run("[...document.querySelectorAll('.pair')].map(e => e.cells[1].textContent)")
    assert verdicts[:4] == ["misaligned", "misaligned", "misaligned", "failed"]
    assert verdicts[-1] == "aligned"


def test_filters_narrow_the_list_together_and_are_counted(page: Page) -> None:
    rows = [
        of("Ann__tool-1", Verdict.ALIGNED, repository="ann/tool"),
        of("ann__tool-2", Verdict.UNDETERMINED, repository="ann/tool"),
        of("bob__app-3", Verdict.UNDETERMINED, repository="bob/app"),
        {**examples()[-1], "id": "bob__app-4", "repository": "bob/app"},
    ]
    page.show(rows, [of("bob__app-5", Verdict.UNDETERMINED, repository="bob/app")])
    assert page.text("#count") == "5 of 5 pairs"
    assert page.set("search", "ANN__") == ["ann__tool-2", "Ann__tool-1"]
    assert page.set("verdict", "undetermined") == ["ann__tool-2"]
    assert page.text("#count") == "1 of 5 pairs"
    assert page.set("search", "") == ["ann__tool-2", "bob__app-3"]
    assert page.set("repository", "bob/app") == ["bob__app-3"]
    page.run("document.querySelector('#filters button').click()")
    assert len(page.listed) == 5
    assert page.set("label", "SC") == ["bob__app-4"]
    assert page.set("label", "none") == ["ann__tool-2", "bob__app-3", "Ann__tool-1"]
    page.set("label", "")
    assert page.set("verdict", "failed") == ["bob__app-5"]
    assert page.set("verdict", "aligned") == ["Ann__tool-1"]
    page.set("verdict", "")
    assert page.set("action", "keep") == ["Ann__tool-1"]


def test_what_a_figure_shows_is_chosen_by_a_click_on_it(page: Page) -> None:
    page.show(examples())
    page.run("document.querySelector('[data-filter=label][data-value=IS]').click()")
    assert page.listed == [line["id"] for line in examples() if "IS" in line["labels"]]
    page.run("document.querySelector('.action.drop').click()")
    assert page.listed == [line["id"] for line in examples() if line["action"] == "drop"]
    assert page.run("document.activeElement.id") == "action"


def test_thousands_of_pairs_open_and_filter_quickly(page: Page) -> None:
    rows = [{**line, "id": f"{line['id']}-{n}"} for n in range(1250) for line in examples()]
    assert page.show(rows) < 10
    assert len(page.listed) == 100
    timed = (
        "(s => { const t = performance.now(); s.value = '-1249'; s.dispatchEvent(new Event('input', {bubbles: true}));"
    )
    milliseconds = page.run(f"{timed} document.body.offsetHeight; return performance.now() - t }})(search)")
    assert milliseconds < 500
    assert len(page.listed) == 4
    page.set("search", "")
    page.run("more.click()")
    assert len(page.listed) == 200
    assert page.text("#more") == "Show 100 more of 4,800"


# A finding


def test_a_finding_opens_and_closes_by_the_keyboard_with_all_that_it_rests_on(page: Page) -> None:
    page.show([row_of(full_report("plain words"))])
    page.run("document.querySelector('#filters button').focus()")
    page.browser.press("Tab", 9)
    assert page.run("document.activeElement.className") == "open"
    page.browser.press("Enter", 13, "\r")
    assert page.run("document.activeElement.getAttribute('aria-expanded')") == "true"
    shown = page.text(".opened")
    for part in (
        "UL Unspecified Literal",
        "UL-1: is tested against",
        "confidence: high",
        "pr/comment/1, by plain words",
    ):
        assert part in shown
    for part in ("patch/test, plain words:7", "Code Validator: keep; plain words", "Repair: plain words", "Dropped"):
        assert part in shown
    for part in ("SC (SC-2), by Coordinator", "Clues", "Undetermined", "Not read", "the reviews", "Remarks", "Cost"):
        assert part in shown
    page.browser.press("Enter", 13, "\r")
    assert page.run("document.querySelectorAll('.opened').length") == 0


def test_of_an_amended_statement_what_is_added_is_marked_and_nothing_else(page: Page) -> None:
    line = next(line for line in examples() if line["statement"])
    page.show([line])
    page.open_all()
    before = page.run("document.querySelector('.statement details pre').textContent")
    added = page.run("document.querySelector('.statement ins').textContent")
    assert added.startswith("Added to this statement")
    assert "\n".join(f"{before}\n\n{added}".split()) == "\n".join(line["statement"].split())
    assert page.run("getComputedStyle(document.querySelector('.statement > pre'), '::before').content") == '"+ added"'


def test_a_statement_that_holds_our_mark_already_is_not_split_there(page: Page) -> None:
    line = next(line for line in examples() if line["statement"])
    page.show([{**line, "statement": f"stranger\n{ADDED}\nforged\n\n{ADDED}\n\n- ours\n"}])
    page.open_all()
    assert page.run("document.querySelector('.statement ins').textContent") == f"{ADDED}\n\n- ours"


def test_a_label_that_no_quote_proves_says_so(page: Page) -> None:
    whole = full_report()
    page.show([row_of(replace(whole, findings=(replace(whole.findings[0], evidence=()),)))])
    page.open_all()
    assert "no quote proves it" in page.text(".opened")


# Screens, readers, paper


@pytest.mark.parametrize("width", [320, 390, 768, 1280])
def test_nothing_sticks_out_of_a_screen_of_any_width(page: Page, width: int) -> None:
    page.show([*examples(), row_of(replace(full_report("w" * 300), id="long__name-" + "x" * 180))])
    page.open_all()
    page.browser.screen(width, 800)
    assert page.run("document.documentElement.scrollWidth") <= width


CONTRAST = """(() => {
  const luminance = c => c.map(v => v / 255).map(v => v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [.2126, .7152, .0722][i], 0);
  const numbers = c => c.match(/[\\d.]+/g).map(Number);
  const ground = e => { const c = numbers(getComputedStyle(e).backgroundColor);
    return c[3] === 0 && e.parentElement ? ground(e.parentElement) : c.slice(0, 3) };
  return Math.min(...[...document.querySelectorAll('%s')].map(e => {
    const [a, b] = [luminance(numbers(getComputedStyle(e).color).slice(0, 3)), luminance(ground(e))];
    return (Math.max(a, b) + .05) / (Math.min(a, b) + .05) }));
})()"""


@pytest.mark.parametrize("dark", [False, True])
def test_text_stands_out_from_its_ground_in_light_and_in_dark(page: Page, dark: bool) -> None:
    page.show([*examples(), of("a", Verdict.ALIGNED)], [of("lost", Verdict.UNDETERMINED)])
    page.open_all()
    page.browser.screen(1280, 900, dark=dark)
    assert page.run(CONTRAST % IMPORTANT_TEXT) >= 4.5  # WCAG 2.2, 1.4.3
    assert (page.run("getComputedStyle(document.body).backgroundColor") == "rgb(252, 252, 253)") is not dark


def test_whatever_can_be_used_has_a_name_for_screen_readers(page: Page) -> None:
    page.show(examples())
    page.open_all()
    nodes = page.browser.call("Accessibility.getFullAXTree")["nodes"]
    used = [n for n in nodes if n.get("role", {}).get("value") in ("button", "combobox", "searchbox", "link", "table")]
    assert len(used) > 30
    nameless = [n for n in used if n["role"]["value"] != "table" and not n.get("name", {}).get("value", "").strip()]
    assert nameless == []
    assert page.run("[...document.querySelectorAll('h1,h2,h3,h4')].map(e => e.tagName)[0]") == "H1"


def test_paper_has_the_figures_and_every_misaligned_pair_with_its_quotes_and_no_filters(page: Page) -> None:
    rows = [of(f"open-{n}", Verdict.UNDETERMINED) for n in range(3)]
    page.show([*rows, *examples()])
    page.run("addEventListener('beforeprint', () => { window.laidOut = document.getElementById('paper').innerText })")
    assert page.browser.paper().startswith(b"%PDF")
    assert "Misaligned pairs: 3" in page.run("window.laidOut")
    assert page.run("document.getElementById('paper').childElementCount") == 0
    page.browser.screen(794, 1123, media="print")
    page.run("dispatchEvent(new Event('beforeprint'))")
    shown = " ".join(page.text("body").split())
    for line in examples():
        quotes = [evidence["quote"] for finding in line["findings"] for evidence in finding["evidence"]]
        assert all(" ".join(quote.split()) in shown for quote in quotes)
    for part in ("7 pairs judged by", "What to do", "Verdicts", "Repositories", "What was not read"):
        assert part in shown
    for part in ("Id contains", "Show all", "open-1"):
        assert part not in shown


def test_paper_follows_the_filters_and_says_so(page: Page) -> None:
    page.show(examples())
    page.set("label", "SC")
    page.browser.screen(794, 1123, media="print")
    page.run("dispatchEvent(new Event('beforeprint'))")
    assert page.text("#paper h2") == "Misaligned pairs: 1"
    assert page.text("#paper .note") == "Of the 1 pairs chosen by label SC."


def test_without_scripts_the_figures_stand_and_the_list_says_what_it_needs(page: Page) -> None:
    page.browser.call("Emulation.setScriptExecutionDisabled", value=True)
    try:
        page.show(examples())
        snapshot = page.browser.call("DOMSnapshot.captureSnapshot", computedStyles=[])["strings"]
    finally:
        page.browser.call("Emulation.setScriptExecutionDisabled", value=False)
    text = " ".join(snapshot)
    assert "4 pairs judged by rules" in text
    assert "The list of pairs needs JavaScript" in text
