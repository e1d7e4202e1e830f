"""Runs of a method that logged the same events."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from tvmdbg_widgets.analysis.executorch.event_notes import notes_on_values
from tvmdbg_widgets.analysis.executorch.event_table import event_table
from tvmdbg_widgets.analysis.executorch.events import Event
from tvmdbg_widgets.analysis.executorch.logged_values import NOTHING_LOGGED, LoggedValues
from tvmdbg_widgets.analysis.executorch.time_scale import TimeScale
from tvmdbg_widgets.formats.executorch.debug_buffer import Inflated

if TYPE_CHECKING:
    import pandas as pd


@dataclass(eq=False)
class EventBlock:
    """Runs that logged the same events in the same order.

    Attributes
    ----------
    name : str
        ``"Default"`` for loading, ``"Execute"`` for running a method.
    events : list of Event
        In the order they first appear in a run.
    source_time_scale, target_time_scale : TimeScale
    bundled_input_index : int
        -1 where it is not set.
    runs : tuple of int
        Which runs of the dump these are.
    outputs : LoggedValues
        What the program returned, by run.
    reference_output : list of arrays and scalars, or None
    noted : list of str
        What of :attr:`deviations` is known without comparing values.
    compat : bool
        Whether this is the Inspector's own answer.
    """

    name: str
    events: list[Event] = field(default_factory=list)
    source_time_scale: TimeScale = TimeScale.NS
    target_time_scale: TimeScale = TimeScale.MS
    bundled_input_index: int = -1
    runs: tuple[int, ...] = ()
    outputs: LoggedValues = field(default=NOTHING_LOGGED, repr=False)
    reference_output: list[Any] | None = field(default=None, repr=False)
    noted: list[str] = field(default_factory=list, repr=False)
    compat: bool = field(default=False, repr=False)

    @property
    def run_output(self) -> list[Inflated]:
        """What the program returned in the first run of the block."""
        return self.outputs.first

    @property
    def run_output_by_run(self) -> list[list[Inflated]]:
        """What the program returned in each run of the block."""
        return [self.outputs.of_run(run) for run in range(len(self.outputs.runs))]

    @cached_property
    def deviations(self) -> tuple[str, ...]:
        """Where this differs from what ExecuTorch's Inspector says, in words.

        Logged values are compared over the runs the first time this is asked for.

        Raises
        ------
        FormatError
            The debug buffer does not hold them.
        """
        if self.compat:
            return tuple(self.noted)
        logged = [event.logged for event in self.events]
        return (*self.noted, *notes_on_values(self.outputs, logged, len(self.runs)))

    def to_dataframe(
        self, include_units: bool = False, include_delegate_debug_data: bool = False
    ) -> pd.DataFrame:
        """Return one row an event.

        Parameters
        ----------
        include_units
            Whether the names of time columns say the unit.
        include_delegate_debug_data
            Whether to add what :attr:`Event.delegate_debug_metadatas` holds: a column for lists,
            or a column for each key of dicts.

        Raises
        ------
        ValueError
            A metadata parser returned neither a list nor a dict.
        ImportError
            pandas is not installed.
        """
        units = self.target_time_scale if include_units else None
        return event_table(
            [(self.name, self.events)], units, metadata=include_delegate_debug_data
        ).to_dataframe()
