"""Operations and bytes of each node, counted from the shapes in the graph; never measured."""

from tvmdbg_widgets.analysis.work.count import NodeWork, Work, work, work_of

__all__ = ["NodeWork", "Work", "work", "work_of"]
