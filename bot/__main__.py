"""`paichecker-bot`: the server, the demo, and what its operator asks of it."""

from __future__ import annotations

from bot.cli import main

if __name__ == "__main__":
    main()
