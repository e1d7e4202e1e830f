"""``TuningLog`` and functions that open one."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from tvmdbg_widgets.tuning.log import TuningLog as TuningLog
from tvmdbg_widgets.tuning.opening import open_tuning as open_tuning

if TYPE_CHECKING:
    from tvmdbg_widgets.formats.tuning.dag_text import parse_dag as parse_dag

__all__ = ["TuningLog", "open_tuning", "parse_dag"]


def __getattr__(name: str) -> object:
    if name == "parse_dag":
        from tvmdbg_widgets.formats.tuning.dag_text import parse_dag

        return parse_dag
    problem = f"module {__name__!r} has no attribute {name!r}"
    raise AttributeError(problem, name=name, obj=sys.modules[__name__])


def __dir__() -> list[str]:
    return sorted(__all__)
