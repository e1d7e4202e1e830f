"""``DebugRun``, the run that a user holds, and comparisons of runs."""

from tvmdbg_widgets.run.debug_run import DebugRun, compare, compare_times
from tvmdbg_widgets.run.executorch.inspector import Inspector

Inspector.run_class = DebugRun

__all__ = ["DebugRun", "compare", "compare_times"]
