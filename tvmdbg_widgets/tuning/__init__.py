"""``TuningLog`` and functions that open one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tvmdbg_widgets.model.base.slips import lazily
from tvmdbg_widgets.tuning.log import TuningLog as TuningLog
from tvmdbg_widgets.tuning.opening import open_tuning as open_tuning

if TYPE_CHECKING:
    from tvmdbg_widgets.formats.tuning.dag_text import parse_dag as parse_dag

__all__ = ["TuningLog", "open_tuning", "parse_dag"]


__getattr__ = lazily(__name__, {"parse_dag": "formats.tuning.dag_text"})


def __dir__() -> list[str]:
    return sorted(__all__)
