"""Steps replayed to the loop nest that ``print(state)`` shows, without TVM."""

from tvmdbg_widgets.analysis.tuning.replay.errors import ReplayError as ReplayError
from tvmdbg_widgets.analysis.tuning.replay.nest import nest as nest
from tvmdbg_widgets.analysis.tuning.replay.nest import print_state as print_state
from tvmdbg_widgets.analysis.tuning.replay.replaying import Replay as Replay
from tvmdbg_widgets.analysis.tuning.replay.replaying import replay as replay

__all__ = ["Replay", "ReplayError", "nest", "print_state", "replay"]
