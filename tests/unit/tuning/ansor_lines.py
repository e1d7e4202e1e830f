"""Lines of Ansor logs made by hand, and what TVM's tools choose of them, read with json alone."""

import json
import re
from collections.abc import Iterable, Sequence
from typing import Any

CPU = "llvm -keys=cpu -mcpu=core-avx2"
T4 = "cuda -keys=cuda,gpu -max_num_threads=1024 -model=t4"
ROCM = "rocm -keys=rocm,gpu -max_num_threads=256"
#: Keys of targets that name none, as far as the logs here have such.
DEFAULT_KEYS = {"cuda": ["cuda", "gpu"], "llvm": ["cpu"], "opencl": ["opencl", "gpu"]}


def line(
    key: str = '["work", 1]',
    target: str = CPU,
    costs: Sequence[float] = (1e-3,),
    error: int = 0,
    *,
    split: int = 2,
    stamp: int = 1_600_000_000,
    version: str = "v0.6",
) -> bytes:
    """One record with one split."""
    task = [key, target, [8, 64, 64, 0, 0, 0, 0, 0], "", 1, []]
    result = [list(costs) if not error else [1e10], error, 2.5, stamp]
    state = [[], [["SP", 2, 0, 512, [split], 1]]]
    return json.dumps({"i": [task, state], "r": result, "v": version}).encode()


def log_of(lines: Iterable[bytes]) -> bytes:
    return b"".join(each + b"\n" for each in lines)


def keys_of(target: str) -> list[str]:
    """``target.keys`` of a string."""
    named = re.search(r"-keys=(\S+)", target)
    device = re.search(r"-device=(\S+)", target)
    keys = named[1].split(",") if named else []
    keys += [device[1]] if device else []
    keys += [] if named else DEFAULT_KEYS[target.split(maxsplit=1)[0]]
    return list(dict.fromkeys(keys))


def model_of(target: str) -> str:
    named = re.search(r"-model=(\S+)", target)
    return named[1] if named else "unknown"


def identity_of(key: str) -> tuple[Any, ...]:
    """Name and flat arguments."""
    try:
        decoded = json.loads(key)
    except ValueError:
        return (key,)
    flat: list[Any] = []

    def add(values: list[Any]) -> None:
        for each in values:
            if isinstance(each, list):
                add(each)
            else:
                flat.append(each)

    add(decoded)
    return tuple(flat)


class Chosen:
    """What TVM's tools choose of a log, one record after the other.

    ``ApplyHistoryBest`` and ``distill_record_file`` (python/tvm/auto_scheduler) keep a record by
    model and by each key of its target; the first of equal means stays.
    """

    def __init__(self, lines: Sequence[bytes]) -> None:
        self.rows = [json.loads(each) for each in lines]
        self.by_model: dict[Any, int] = {}
        self.by_key: dict[str, dict[Any, dict[Any, int]]] = {}
        for row, each in enumerate(self.rows):
            key, target = each["i"][0][:2]
            if each["r"][1]:
                continue
            name, *args = identity_of(key)
            for of in keys_of(target):
                entry = self.by_key.setdefault(of, {}).setdefault(name, {})
                if self.mean(row) < self.mean(entry.setdefault(tuple(args), row)):
                    entry[tuple(args)] = row
            if model_of(target) != "unknown":
                held = self.by_model.setdefault((model_of(target), identity_of(key)), row)
                if self.mean(row) < self.mean(held):
                    self.by_model[model_of(target), identity_of(key)] = row

    def mean(self, row: int) -> float:
        costs = self.rows[row]["r"][0]
        return float(sum(costs) / len(costs))

    def applied(self, key: str, target: str) -> int | None:
        name, *args = identity_of(key)
        found = self.by_model.get((model_of(target), identity_of(key)))
        for of in keys_of(target):
            if found is None:
                found = self.by_key.get(of, {}).get(name, {}).get(tuple(args))
        return found

    def distilled(self) -> list[int]:
        """Rows in the order written: an input that is the best of several keys is written once."""
        found: dict[str, int] = {}
        for of_key in self.by_key.values():
            for of_name in of_key.values():
                for row in of_name.values():
                    found[json.dumps(self.rows[row]["i"])] = row
        return list(found.values())
