"""python -m tests.make.spread: records what the live view is sent of arrays of every kind.

``js/tests/tensor/spread_parity.test.ts`` draws them. The histograms beside them were recorded from
an implementation in numpy, which this package no longer has: they are what both are held to.
"""

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import ml_dtypes
import numpy as np

import tvmdbg_widgets as tvmdbg
from tests.make.params import write_params
from tvmdbg_widgets.answers.answers import Answers
from tvmdbg_widgets.run import DebugRun

#: Of these also what is known without a distribution.
ROUGH = ("NaN and infinities", "most values are zero", "one tiny value", "int16")
#: Scales of the colors, which the histogram follows.
KINDS = ("auto", "log", "symlog")
#: What the answer says of its pass, and what histograms are not made of.
_PASS = ("state", "done", "total", "percentiles")
PATH = Path(__file__).parents[1] / "data" / "tensors" / "spread.json"


def arrays() -> dict[str, np.ndarray[Any, Any]]:
    """Arrays of every kind of histogram, by what they are there for."""
    random = np.random.default_rng(11)
    some = random.normal(size=40).astype(np.float32)
    odd = some.copy()
    odd[[0, 3, 4, 9]] = np.nan, np.inf, -np.inf, np.inf
    far = np.linspace(0, 65504, 30).astype(np.float16)
    return {
        "positive and negative floats": some,
        "most values are zero": np.where(some > 0.8, some, np.float32(0)),
        "NaN and infinities": odd,
        "nothing finite": np.full(5, np.nan, np.float32),
        "one tiny value": np.array(-7.5e-12, np.float32),
        "zeros alone": np.zeros(6, np.float32),
        "zeros of both signs and one more value": np.array([0.0, -0.0, 3.5], np.float32),
        "up to the limit of float16": far,
        "bfloat16": some.astype(ml_dtypes.bfloat16),
        "the whole span of float64": np.array([-1.7e308, 0, 1, 1.7e308]),
        "the smallest of float64": np.array([0, 5e-324, 1e-323, 1e-320]),
        "bool": np.arange(9) % 3 == 0,
        "int8 at its ends": np.clip(some * 99, -128, 127).astype(np.int8),
        "uint8": random.integers(0, 250, 30).astype(np.uint8),
        "int16": random.integers(-3000, 3000, 40).astype(np.int16),
        "int32 that shares bins with zero": np.array([0, 0, 5, 70_000, 2**31 - 2], np.int32),
        "int64 beyond float64": np.array([2**62, -(2**62), 2**53 + 1, 0, 3]),
        "one whole number": np.full(4, 7, np.int32),
        "one far value": np.append(random.normal(size=500), 1e8).astype(np.float32),
        "one far whole number": np.append(random.integers(0, 99, 500), 2**31 - 2).astype(np.int32),
        "float8": some.astype(ml_dtypes.float8_e4m3fn),
        "many decades": np.exp(random.normal(size=600) * 5).astype(np.float32),
        "many decades and zeros": np.append(np.exp(random.normal(size=600) * 5), [0.0] * 9),
        "zeros of an unsigned type": np.zeros(16, np.uint8),
        "one whole number beyond float64": np.full(5, 2**53 + 1),
        "far whole numbers on both sides": np.append(
            random.integers(-20, 20, 500), [2**31 - 2, -(2**30), 70_000]
        ).astype(np.int32),
    }


def answers() -> list[dict[str, Any]]:
    """Return what the live view is sent of each array."""
    made = arrays()
    found = []
    with TemporaryDirectory() as folder:
        run = written(made, Path(folder)).facts
        told, rough = Answers(run), Answers(run, redact=lambda _: ("redacted", False))
        for node, (why, array) in enumerate(made.items()):
            found.append(_answer(why, array, told, node))
            if why in ROUGH:
                found.append(_answer(f"{why}, equal bins alone", array, rough, node))
    return found


def written(made: dict[str, np.ndarray[Any, Any]], folder: Path) -> DebugRun:
    """Return a run that holds arrays, a tensor each in their order."""
    path = folder / "some.params"
    write_params(path, {f"t{k}": each for k, each in enumerate(made.values())})
    return tvmdbg.open(path)


def _answer(why: str, array: np.ndarray[Any, Any], told: Answers, node: int) -> dict[str, Any]:
    question = {"kind": "statistics", "entry": [node, 0], "reading": None, "exact": True}
    reply = told.answer(question)
    result = {name: each for name, each in reply.result.items() if name not in _PASS}
    if result["distribution"] is not None:
        result["distribution"] = {
            column["name"]: np.frombuffer(
                reply.buffers[0], np.float64, column["length"], column["offset"]
            ).tolist()
            for column in result["distribution"]["columns"]
        }
    return {"why": why, "dtype": array.dtype.name, **result}


def main() -> None:
    """Write the answers; what is to be drawn of them stays as it was recorded."""
    recorded = {each["why"]: each for each in json.loads(PATH.read_text("utf-8"))}
    cases = [{**recorded.get(each["why"], {}), **each} for each in answers()]
    PATH.write_text(json.dumps(cases, allow_nan=False, ensure_ascii=False) + "\n", "utf-8")


if __name__ == "__main__":
    main()
