"""The schedule of one record: steps in words, loop nest, tiles, and Python that applies it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from tvmdbg_widgets.analysis.tuning.bounds.infer_bounds import infer_bounds, why_refused
from tvmdbg_widgets.analysis.tuning.replay.errors import ReplayError
from tvmdbg_widgets.analysis.tuning.replay.nest import nest, print_state, with_factor
from tvmdbg_widgets.analysis.tuning.replay.replaying import Replay, replay
from tvmdbg_widgets.analysis.tuning.schedules.best_known import best_known
from tvmdbg_widgets.analysis.tuning.schedules.markup import as_html
from tvmdbg_widgets.analysis.tuning.schedules.other_tuners import config_words
from tvmdbg_widgets.analysis.tuning.schedules.python_code import python_code
from tvmdbg_widgets.analysis.tuning.step_words import step_words, steps_in_words
from tvmdbg_widgets.analysis.tuning.structure import SplitsSeen, TileStructure, tile_structure
from tvmdbg_widgets.model.base.numbers import counted, duration_text
from tvmdbg_widgets.model.base.text import one_line
from tvmdbg_widgets.model.tuning.dag import ComputeDag
from tvmdbg_widgets.model.tuning.measure_errors import MeasureError
from tvmdbg_widgets.model.tuning.record import Record
from tvmdbg_widgets.model.tuning.state import NestLine, State

if TYPE_CHECKING:
    import pandas as pd


_LINES_SHOWN = 60
_NS = 1e9
_NO_TILES = TileStructure((), ())


@dataclass(frozen=True, eq=False)
class Schedule:
    """What a record says of how its workload is computed.

    Attributes
    ----------
    record : Record
    dag : ComputeDag or None
        None where nobody has it: the schedule is then told from its steps alone.
    dag_problems : tuple of str
        Why DAG texts or modules that were given for the task cannot be used.
    """

    record: Record
    dag: ComputeDag | None = None
    dag_problems: tuple[str, ...] = ()

    @property
    def dag_source(self) -> str:
        """How the DAG is known, in words."""
        if self.dag is not None:
            return str(self.dag.source)
        return "not known: open the log with dag= to see names and all extents"

    @cached_property
    def _with_dag(self) -> _ReplayedSteps:
        return _ReplayedSteps() if self.dag is None else _told(self.dag, self.record)

    @cached_property
    def _without_dag(self) -> _ReplayedSteps:
        return _told(None, self.record)

    @property
    def _known(self) -> _ReplayedSteps:
        """What the replay tells that goes further."""
        return self._without_dag if self.state is None else self._with_dag

    @property
    def state(self) -> State | None:
        """The state after all steps; None where the DAG is not known or a step is refused."""
        return self._with_dag.state

    @property
    def alone(self) -> State | None:
        """What the steps alone tell, without the DAG; None where a step is refused."""
        return self._without_dag.state

    @cached_property
    def inferred(self) -> State | None:
        """The state with inferred bounds, as far as they follow; None where there is no state."""
        return None if self.state is None else infer_bounds(self.state)

    @property
    def refused(self) -> str:
        """Why the steps cannot be applied, empty where they can."""
        return (self._without_dag if self.dag is None else self._with_dag).refused

    @cached_property
    def _best_known(self) -> tuple[State | None, tuple[str, ...]]:
        if self.inferred is None or self.state is None:
            return self.alone, ()
        return best_known(self.inferred, self.state, self.alone)

    @property
    def shown(self) -> State | None:
        """The state that tells most: bounds by the DAG, and what only the steps tell of them."""
        return self._best_known[0]

    @property
    def nest(self) -> list[NestLine]:
        """The loop nest of `shown`; empty for tuners that record no steps."""
        if not self.record.steps or self.shown is None:
            return []
        return nest(self.shown)

    def print(self, inferred: bool = False, hide_ones: bool = True) -> str:
        """Return the text that ``print(state)`` gives in TVM, or what the steps alone tell.

        Parameters
        ----------
        inferred : bool
            With bounds, as ``dag.infer_bound_from_state(state)`` is printed.
        hide_ones : bool
            Leave out loops of extent 1.
        """
        state = self.inferred if inferred else self.state
        if state is not None:
            return print_state(state, hide_ones)
        if self.alone is None or not self.record.steps:
            return ""
        return "".join(f"{with_factor(line)}\n" for line in nest(self.alone, hide_ones))

    @cached_property
    def steps(self) -> tuple[str, ...]:
        """A sentence for each step; for other tuners a line for each knob or instruction."""
        if self.record.task.tuner != "ansor":
            return config_words(self.record)
        return self._known.words

    @property
    def structure(self) -> TileStructure:
        """The tiles as a table; empty where the steps cannot be applied."""
        return self._known.structure

    def to_dataframe(self) -> pd.DataFrame:
        """Return the tiles, a row each."""
        return self.structure.to_dataframe()

    @property
    def python(self) -> str:
        """A program that applies the steps in TVM 0.8 to 0.19; empty for other tuners."""
        return python_code(self.record)

    @property
    def title(self) -> str:
        """Which trial it is, of what, and what it cost."""
        record = self.record
        cost = duration_text(record.cost * _NS)
        if record.error is not MeasureError.NO_ERROR:
            cost = record.error.label
        return f"Schedule of trial {record.row:,} ({one_line(record.task.name)}): {cost}"

    @cached_property
    def notes(self) -> tuple[str, ...]:
        """What must be known to read the nest: where names are from, and what is not known."""
        if self.record.task.tuner != "ansor" or not self.record.steps:
            return ()
        found = [f"DAG: {self.dag_source}", *self.dag_problems]
        if self.refused:
            found.append(f"The steps cannot be applied: {self.refused}")
        elif self.state is not None and self.inferred is self.state:
            found.append(f"Bounds are not inferred: {why_refused(self.state)}")
        return (*found, *self._best_known[1])

    def __repr__(self) -> str:
        lines = [self.title, *(f"  {each}" for each in self.notes)]
        body = [with_factor(line) for line in self.nest] or list(self.steps)
        lines += body[:_LINES_SHOWN]
        if len(body) > _LINES_SHOWN:
            lines.append(
                f"… {counted(len(body) - _LINES_SHOWN, 'more line')}: print(schedule.print())"
            )
        if self.nest:
            lines.append("  .steps in words, .structure of its tiles, .python to apply it in TVM")
        return "\n".join(map(one_line, lines))

    def _repr_html_(self) -> str:
        return as_html(
            self.title,
            self.notes,
            lines=self.nest,
            said=self.steps,
            structure=self.structure,
            python=self.python,
        )


@dataclass(frozen=True)
class _ReplayedSteps:
    """What one replay of all steps tells; the state is None where one is refused."""

    state: State | None = None
    refused: str = ""
    words: tuple[str, ...] = ()
    structure: TileStructure = _NO_TILES


def _told(dag: ComputeDag | None, record: Record) -> _ReplayedSteps:
    """Replay all steps once, for the state, the sentences and the tiles together."""
    steps = record.steps
    try:
        replaying, splits, words = Replay(dag, steps), SplitsSeen(steps), []
        for step in steps:
            words.append(step_words(step, replaying.state()))
            splits.advance(replaying, step)
        state = replaying.end()
    except ReplayError:
        return _told_apart(dag, record)
    return _ReplayedSteps(state, "", tuple(words), splits.structure(state))


def _told_apart(dag: ComputeDag | None, record: Record) -> _ReplayedSteps:
    """Say what is refused where TVM refuses it, and of each step as much as is known."""
    words = steps_in_words(dag, record.steps)
    try:
        state = replay(dag, record.steps)
        return _ReplayedSteps(state, "", words, tile_structure(record.steps, dag))
    except ReplayError as problem:
        return _ReplayedSteps(None, str(problem), words)
