"use strict";
// One pair as elements. All of it is strangers' text: it is set as text, never as markup.

const { pairs, texts } = JSON.parse(document.getElementById("data").textContent);

/** An element with a class, holding texts and elements; what is not there (false, "") is left out. */
function make(tag, name, ...inside) {
  const element = document.createElement(tag);
  if (name) element.className = name;
  element.append(...inside.filter(Boolean));
  return element;
}

/** A link, where the address is https; else the words alone. */
function link(url, words) {
  if (!url || !url.startsWith("https://")) return words;
  const anchor = make("a", "", words);
  anchor.href = url;
  anchor.rel = "noopener noreferrer nofollow";
  anchor.target = "_blank";
  return anchor;
}

function chip(name, words) {
  return make("span", `chip ${name}`, words);
}

function verdictWords(pair) {
  return pair.verdict.replace("_", " ");
}

/** Everything about a pair. `level`: of its headings. */
function details(pair, level) {
  const heading = `h${level}`;
  const advice = pair.action ? make("strong", "", `${pair.action}: `) : "";
  return make(
    "div",
    "details",
    make("p", "advice", advice, texts[pair.reason]),
    make("p", "by", `Judged by ${texts[pair.by]}. `, pair.url && link(pair.url, "The pull request on GitHub")),
    ...(pair.findings || []).map((finding) => findingOf(finding, heading)),
    pair.statement && statementOf(pair.statement, heading),
    ...(pair.sections || []).map(([title, items]) => sectionOf(title, items, heading)),
  );
}

function findingOf(finding, heading) {
  const name = finding.label === finding.name ? "" : ` ${finding.name}`;
  return make(
    "section",
    "finding",
    make(heading, "", chip("label", finding.label), name),
    finding.scenario && make("p", "scenario", `${finding.scenario}.`),
    make("p", "", finding.reason),
    make("p", "by", `${finding.by}, confidence: ${finding.confidence}`),
    ...finding.quotes.map(quoteOf),
    finding.notes.length && list(finding.notes),
    finding.repair && make("p", "", make("strong", "", "Repair: "), finding.repair),
  );
}

function quoteOf(quote) {
  const source = make("figcaption", "", link(quote.url, quote.source));
  return make("figure", "", make("blockquote", "", quote.text), source);
}

/** The statement as it was, folded away, and what is added to it. */
function statementOf(statement, heading) {
  const added = make("ins", "", statement.added);
  const before = make("details", "", make("summary", "", "The statement as it was, which stays"), make("pre", "", statement.before));
  return make("section", "statement", make(heading, "", "Amended statement"), before, make("pre", "", added));
}

function sectionOf(title, items, heading) {
  return make("section", title.toLowerCase().replace(" ", "-"), make(heading, "", title), list(items.map((item) => texts[item])));
}

function list(items) {
  return make("ul", "", ...items.map((item) => make("li", "", item)));
}
