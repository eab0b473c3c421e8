"""Logs as JSON lines: what happened, to which delivery, repository, number and run. No texts of people, no secrets."""

from __future__ import annotations

import json
import logging
import sys
from datetime import UTC, datetime
from typing import Any

from bot.settings import LogLevel

_ABOUT = ("delivery", "event", "action", "repository", "number", "run")


class _Lines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        """One line, whatever the message holds."""
        line: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "from": record.name,
            "message": record.getMessage(),
        }
        line |= {name: getattr(record, name) for name in _ABOUT if getattr(record, name, None) is not None}
        if record.exc_info:
            line["trace"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=False)


def set_up(level: LogLevel) -> None:
    """Our own messages from the level on; those of libraries only where they warn."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Lines())
    logging.basicConfig(level=logging.WARNING, handlers=[handler], force=True)
    # DBOS gives a logger without handlers one of its own, which writes no JSON.
    jobs = logging.getLogger("dbos")
    jobs.handlers, jobs.propagate = [handler], False
    for name in ("bot", "checker"):
        logging.getLogger(name).setLevel(level.upper())
