"""A workload key, taken apart."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

_HASH = re.compile(r"[0-9a-f]{32}")
_SHOWN = 48


@dataclass(frozen=True)
class Workload:
    """What a task computes, as far as its key says.

    Attributes
    ----------
    key : str
        As it stands in the log.
    name : str
        Function name, or the hash of the compute DAG.
    args : tuple or None
        What follows the name: numbers, texts, shapes; None where the key is no JSON list.
    """

    key: str
    name: str
    args: tuple[Any, ...] | None = None

    @classmethod
    def of(cls, key: str, decoded: object) -> Workload:
        """Make a workload of a key and the JSON in it; None, or anything odd, for no JSON."""
        if isinstance(decoded, list) and decoded and isinstance(decoded[0], str):
            return cls(key, decoded[0], tuple(decoded[1:]))
        return cls(key, key)

    @property
    def is_hash(self) -> bool:
        """Whether the name is the md5 of a compute DAG, not of a function the user registered."""
        return _HASH.fullmatch(self.name) is not None

    @property
    def shapes(self) -> tuple[tuple[int, ...], ...]:
        """Shapes of inputs, then outputs; empty where the key has none.

        Keys that were upgraded from the form before 2021 hold them flattened: unknown.
        """
        if self.args is None or not all(isinstance(each, list) for each in self.args):
            return ()
        nested = [each for each in self.args if all(isinstance(size, int) for size in each)]
        return tuple(map(tuple, nested)) if len(nested) == len(self.args) else ()

    @property
    def title(self) -> str:
        """A short name for tables and legends."""
        name = self.name[:8] if self.is_hash else self.name
        args = "" if self.args is None else " ".join(map(_argument, self.args))
        text = f"{name} {args}".strip()
        if len(text) <= _SHOWN:
            return text
        if self.args is None:  # names of functions often differ at their end alone
            return f"{text[: _SHOWN // 2]}…{text[1 + _SHOWN // 2 - _SHOWN :]}"
        return f"{text[: _SHOWN - 1]}…"


def _argument(value: object) -> str:
    match value:
        case ["TENSOR", list(sizes), str()]:  # as AutoTVM's serialize_args writes a placeholder
            return _argument(sizes)
        case list(sizes) if all(isinstance(each, int) for each in sizes):
            return "×".join(map(str, sizes)) or "scalar"
    return str(value)
