"""`paichecker report`: an audit's results as a page for a browser and for paper, and as Markdown."""

from __future__ import annotations

import argparse
from pathlib import Path

from checker.backends import UsageError
from checker.console import put_out, say

PAGE, MARKDOWN = "report.html", "report.md"

_EPILOG = """\
The page holds all that it shows and asks for nothing from a network: open it from a disk, send it, print it.
It may be made while the audit runs. Quotes in it belong to their authors: mind that before you publish it.

examples:
  paichecker report audit                              writes audit/report.html and audit/report.md
  paichecker report audit --format html > page.html
  paichecker report audit --format markdown | gh issue create --title "Audit" --body-file -

docs/report.md explains the figures.
"""


def add_report(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """The subcommand and its options."""
    about = "an audit's results as a page and as Markdown: rates, figures, findings with their quotes"
    parser = commands.add_parser(
        "report", help=about, description=about, epilog=_EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.set_defaults(run=_report)
    parser.add_argument("audit", type=Path, metavar="DIR", help="the folder that paichecker audit -o wrote")
    parser.add_argument(
        "--format",
        choices=("html", "markdown"),
        help=f"print one form; without it both are written into DIR ({PAGE}, {MARKDOWN})",
    )


def _report(options: argparse.Namespace) -> int:
    from checker.audit_report.markdown import as_markdown
    from checker.audit_report.page import as_html
    from checker.audit_report.reading import AuditResultsError, read_audit

    try:
        audit = read_audit(options.audit)
    except AuditResultsError as error:
        raise UsageError(str(error)) from None
    if options.format is not None:
        put_out(as_html(audit) if options.format == "html" else as_markdown(audit))
        return 0
    for name, text in ((PAGE, as_html(audit)), (MARKDOWN, as_markdown(audit))):
        _write(options.audit / name, text)
        say(f"{options.audit / name} is written")
    return 0


def _write(path: Path, text: str) -> None:
    """Whole or not at all: a browser may be looking at the former one."""
    draft = path.with_suffix(f"{path.suffix}.part")
    try:
        draft.write_text(text, encoding="utf-8")
        draft.replace(path)
    except OSError as error:
        raise UsageError(f"{path}: it cannot be written ({error.strerror}); print it with --format instead") from None
