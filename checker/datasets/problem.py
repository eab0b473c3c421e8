"""What is said of input that cannot be read."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class InputProblem:
    """Why a file, or one record of it, cannot be checked."""

    where: str
    what: str

    def __str__(self) -> str:
        """One sentence for the person who can mend the input."""
        return f"{self.where}: {self.what}"
