"""What TVM's own C++ code prints for schedules, and the DAGs they are of."""

import gzip
import json
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from tvmdbg_widgets.formats.tuning.dag_text import parse_dag
from tvmdbg_widgets.model.tuning.steps import STEPS, Annotation, AnyStep
from tvmdbg_widgets.model.tuning.trials import Axis, ComputeDag, DagSource, Operation

DATA = Path(__file__).parents[2] / "data/tuning/printed_states"
COPIED = ("synthetic", "random", "policy", "edge")


@cache
def cases(name: str) -> list[dict[str, Any]]:
    """Return the cases of one file, by its name without a suffix."""
    return [json.loads(line) for line in gzip.open(DATA / f"{name}.jsonl.gz", "rt")]


def dag_rows() -> list[dict[str, Any]]:
    """Return the rows of the DAGs' file."""
    return cases("dags")


@cache
def dag(workload: str, conv_name: str = "compute") -> ComputeDag:
    """Return a workload's DAG from names and extents alone."""
    for row in dag_rows():
        if (row["workload"], row["conv_name"]) == (workload, conv_name):
            return ComputeDag(tuple(map(_operation, row["ops"])), DagSource.GIVEN, row["dag"])
    raise KeyError(workload)


def steps_of(case: dict[str, Any]) -> tuple[AnyStep, ...]:
    """Return the steps of a case, from its record or its own list."""
    if "record" in case:
        return read_steps(json.loads(case["record"])["i"][1][1])
    return read_steps(case["steps"])


def read_steps(items: list[list[Any]]) -> tuple[AnyStep, ...]:
    """Make steps of well-formed JSON."""
    return tuple(map(_step, items))


def _step(item: list[Any]) -> AnyStep:
    code, *values = item
    values = [tuple(each) if isinstance(each, list) else each for each in values]
    if code == "AN":
        values[-1] = Annotation(values[-1])
    if code in ("SP", "FFSP"):
        values[-1] = bool(values[-1])
    return STEPS[code](*values)


def _operation(row: dict[str, Any]) -> Operation:
    return Operation(
        row["name"],
        row["kind"],
        tuple(_axis(*each) for each in row.get("axis", ())),
        tuple(_axis(*each) for each in row.get("reduce_axis", ())),
        row.get("outputs", 1),
        tuple(row.get("shape", ())),
    )


def _axis(name: str, extent: int | str) -> Axis:
    return Axis(name, None, extent) if isinstance(extent, str) else Axis(name, extent)


@cache
def dag_with_bodies(workload: str, conv_name: str = "compute") -> ComputeDag:
    """Return a workload's DAG: TVM's extents, and bodies from its text."""
    given = dag(workload, conv_name)
    read = parse_dag(given.text).operations
    operations = zip(given.operations, read, strict=True)
    return replace(
        given, operations=tuple(replace(each, bodies=other.bodies) for each, other in operations)
    )
