"""Two logs of the same schedules: how far what is fast on one machine is fast on another."""

from tvmdbg_widgets.analysis.tuning.transfer.comparison import (
    MachineComparison as MachineComparison,
)
from tvmdbg_widgets.analysis.tuning.transfer.comparison import (
    compare_machines as compare_machines,
)

__all__ = ["MachineComparison", "compare_machines"]
