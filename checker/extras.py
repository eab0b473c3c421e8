"""What is said where a library is missing that belongs to an extra."""

from __future__ import annotations


def advice(extra: str) -> str:
    """How to get an extra; ends a sentence."""
    return f"install PAIChecker with its extra {extra}: pip install -c constraints.txt '.[{extra}]' in a checkout"
