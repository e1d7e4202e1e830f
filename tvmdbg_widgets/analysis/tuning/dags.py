"""The compute DAG of a task, wherever it is known from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tvmdbg_widgets.formats.tuning.dag_text import parse_dag
from tvmdbg_widgets.model.tuning.dag import DagSource

if TYPE_CHECKING:
    from tvmdbg_widgets.model.tuning.dag import ComputeDag
    from tvmdbg_widgets.model.tuning.parts import TuningParts
    from tvmdbg_widgets.model.tuning.task import Task


def dag_of(parts: TuningParts, task: Task) -> ComputeDag | None:
    """Return the DAG of a task, None where it is not known."""
    for key, source in ((task.workload_key, DagSource.DUMP), (task.workload.name, DagSource.TEXT)):
        if key in parts.dags:
            return parse_dag(parts.dags[key], source=source)
    return None
