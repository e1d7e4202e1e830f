"""A part of an axis, as views and the session hold it."""

from __future__ import annotations

import math
from typing import Any

import traitlets


class TimeRange(traitlets.Tuple):
    """``(start, end)`` in nanoseconds, which ends after it starts; None is no part of its own."""

    unit = "nanoseconds"

    def __init__(self) -> None:
        super().__init__(traitlets.Float(), traitlets.Float(), allow_none=True, default_value=None)

    def validate(self, obj: Any, value: Any) -> Any:
        """Take the pair where it is a part of the axis."""
        pair = super().validate(obj, value)
        if pair is not None and not (math.isfinite(pair[1] - pair[0]) and pair[0] < pair[1]):
            raise traitlets.TraitError(
                f"{self.name} must be (start, end) in {self.unit} with start < end, not {value!r}"
            )
        return pair


class StepRange(TimeRange):
    """The same in steps of a memory plan."""

    unit = "steps"
