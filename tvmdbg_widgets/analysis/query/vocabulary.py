"""What queries can ask of one kind of thing; js/src/graph/query/fields.ts has that of graphs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final


@dataclass(frozen=True)
class Units:
    """Units of a field of numbers."""

    factors: Mapping[str, float]
    told: str
    needed: bool = False


@dataclass(frozen=True)
class Vocabulary:
    """What queries can ask of one kind of thing."""

    texts: tuple[str, ...]
    numbers: tuple[str, ...]
    fields: tuple[str, ...]
    example: str
    units: Mapping[str, Units] = field(default_factory=dict)

    def plain(self) -> dict[str, Any]:
        """Return what the parser is told of it."""
        units = {
            name: {
                "factors": dict(each.factors),
                "told": each.told,
                "needed": each.needed,
                "anyCase": False,
            }
            for name, each in self.units.items()
        }
        return {
            "texts": self.texts,
            "numbers": self.numbers,
            "fields": self.fields,
            "units": units,
            "paths": False,
        }


TIMES: Final = {"ns": 1.0, "us": 1e3, "µs": 1e3, "μs": 1e3, "ms": 1e6, "s": 1e9}
"""Factors to nanoseconds."""
