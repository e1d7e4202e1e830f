"""Tensors as TVM's own files beside a dump tell them, read without the package."""

import hashlib
import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

DATA = Path(__file__).parents[3] / "data" / "params"


@dataclass(frozen=True)
class Dump:
    """One ``output_tensors.params`` and what TVM found in it."""

    folder: Path

    @property
    def name(self) -> str:
        return self.folder.name

    @property
    def params(self) -> Path:
        return next(self.folder.glob("tvmdbg/*/output_tensors.params"))

    @cached_property
    def index(self) -> dict[str, dict[str, Any]]:
        return json.loads((self.folder / "output_tensors.index.json").read_text())

    def npz(self) -> dict[str, np.ndarray]:
        path = self.folder / "output_tensors.npz"
        if not path.is_file():
            return {}
        with np.load(path) as arrays:
            return dict(arrays)

    def truths(self, position: int, key: str) -> list[dict[str, Any]]:
        """What the index holds for the array at ``position`` with ``key``: one, or candidates.

        Several nodes of one name share a key in v0.8, and only one of them was kept.
        """
        if key in self.index:
            return [self.index[key]]
        by_order = {item.rsplit("|order ", 1)[-1]: item for item in self.index if "|order " in item}
        if by_order:
            return [self.index[by_order[str(position)]]]
        name, output = key.rsplit("____", 1)
        return [
            truth
            for item, truth in self.index.items()
            if item.split("|node ")[0] == name and item.endswith(f"|output {output}")
        ]


def dumps(corpus: Path) -> list[Dump]:
    """Every dump of the debugger with its index."""
    found = sorted(corpus.glob("tvm/**/output_tensors.index.json"))
    return [Dump(path.parent) for path in found]


def sha256(array: np.ndarray) -> str:
    return hashlib.sha256(array.tobytes()).hexdigest()
