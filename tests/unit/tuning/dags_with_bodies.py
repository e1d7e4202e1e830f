"""The DAGs of the printed states with their bodies."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from unit.tuning.printed_states import dag

from tvmdbg_widgets.formats.tuning.dag_text import parse_dag
from tvmdbg_widgets.model.tuning.trials import ComputeDag


@cache
def dag_with_bodies(workload: str, conv_name: str = "compute") -> ComputeDag:
    """Return a workload's DAG: TVM's extents, and bodies from its text."""
    given = dag(workload, conv_name)
    read = parse_dag(given.text).operations
    operations = zip(given.operations, read, strict=True)
    return replace(
        given, operations=tuple(replace(each, bodies=other.bodies) for each, other in operations)
    )
