"""Why a schedule cannot be replayed."""

from __future__ import annotations


class ReplayError(ValueError):
    """A step that TVM refuses, or that no schedule has."""

    def __init__(self, problem: str, *, step: int = -1, code: str = "", field: str = "") -> None:
        self.problem = problem
        self.step = step
        self.code = code
        self.field = field
        place = "" if step < 0 else f"step {step} ({code})"
        place += f", field {field}" if field else ""
        super().__init__(f"{place}: {problem}." if place else f"{problem}.")
