"""The run that a user holds: a room for what it answers, writes and shows each."""

from tvmdbg_widgets.run.debug_run import DebugRun, compare, compare_times
from tvmdbg_widgets.run.executorch.inspector import Inspector

Inspector.run_class = DebugRun

__all__ = ["DebugRun", "compare", "compare_times"]
