"""Schedule of one record: steps in words, loop nest, tiles, and Python that applies it."""

from __future__ import annotations

from collections.abc import Iterator as Yields
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from tvmdbg_widgets.analysis.tuning.schedules.forms import LoopVariable, RefusedError, text
from tvmdbg_widgets.analysis.tuning.schedules.infer import infer
from tvmdbg_widgets.analysis.tuning.schedules.nest import as_html, nest, print_state, with_factor
from tvmdbg_widgets.analysis.tuning.schedules.other_tuners import config_words
from tvmdbg_widgets.analysis.tuning.schedules.replaying import Replay, replay
from tvmdbg_widgets.analysis.tuning.schedules.stages import Ranges
from tvmdbg_widgets.analysis.tuning.schedules.te_schedule import StagedDag, normalize
from tvmdbg_widgets.analysis.tuning.schedules.working import ReplayError
from tvmdbg_widgets.analysis.tuning.step_words import step_words
from tvmdbg_widgets.analysis.tuning.structure import SplitsSeen, TileStructure, tile_structure
from tvmdbg_widgets.model.base.numbers import agree, counted, duration_text
from tvmdbg_widgets.model.base.text import one_line
from tvmdbg_widgets.model.tuning.measure_errors import MeasureError, Record
from tvmdbg_widgets.model.tuning.parts import Workload
from tvmdbg_widgets.model.tuning.steps import AnyStep, ComputeAt, Iterator, NestLine, Stage, State
from tvmdbg_widgets.model.tuning.trials import ComputeDag

if TYPE_CHECKING:
    import pandas as pd


__all__ = ["infer_bounds", "why_refused"]


_LINES_SHOWN = 60
_NS = 1e9
_NO_TILES = TileStructure((), ())


@dataclass(frozen=True, eq=False)
class Schedule:
    """How a record's workload is computed.

    Attributes
    ----------
    record : Record
    dag : ComputeDag or None
        None where nobody has it: the schedule then shows its steps alone.
    dag_problems : tuple of str
        Why DAG texts or modules that were given for the task cannot be used.
    """

    record: Record
    dag: ComputeDag | None = None
    dag_problems: tuple[str, ...] = ()

    @property
    def dag_source(self) -> str:
        """Source of the DAG, in words."""
        if self.dag is not None:
            return str(self.dag.source)
        return "not known: open the log with dag= to see names and all extents"

    @cached_property
    def _with_dag(self) -> _ReplayedSteps:
        return _ReplayedSteps() if self.dag is None else _replayed(self.dag, self.record.steps)

    @cached_property
    def _without_dag(self) -> _ReplayedSteps:
        return _replayed(None, self.record.steps)

    @property
    def _best_replay(self) -> _ReplayedSteps:
        return self._without_dag if self.state is None else self._with_dag

    @property
    def state(self) -> State | None:
        """The final state; None without a DAG or if a step is refused."""
        return self._with_dag.state

    @property
    def alone(self) -> State | None:
        """The final state from steps alone, without the DAG; None if a step is refused."""
        return self._without_dag.state

    @cached_property
    def inferred(self) -> State | None:
        """The state with inferred bounds as far as they follow; None without a state."""
        return None if self.state is None else infer_bounds(self.state)

    @property
    def refused(self) -> str:
        """Why the steps cannot be applied, empty if they can."""
        return (self._without_dag if self.dag is None else self._with_dag).refused

    @cached_property
    def _best_known(self) -> tuple[State | None, tuple[str, ...]]:
        if self.inferred is None or self.state is None:
            return self.alone, ()
        return best_known(self.inferred, self.state, self.alone)

    @property
    def shown(self) -> State | None:
        """The most informative state: bounds by the DAG, else from steps."""
        return self._best_known[0]

    @property
    def nest(self) -> list[NestLine]:
        """The loop nest of `shown`; empty for tuners without steps."""
        if not self.record.steps or self.shown is None:
            return []
        return nest(self.shown)

    def print(self, inferred: bool = False, hide_ones: bool = True) -> str:
        """Return the text of ``print(state)`` in TVM, or the nest from steps alone.

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
        """One sentence per step; for other tuners one line per knob or instruction."""
        if self.record.task.tuner != "ansor":
            return config_words(self.record)
        return self._best_replay.words

    @property
    def structure(self) -> TileStructure:
        """The tiles as a table; empty where the steps cannot be applied."""
        return self._best_replay.structure

    def to_dataframe(self) -> pd.DataFrame:
        """Return one row per tile."""
        return self.structure.to_dataframe()

    @property
    def python(self) -> str:
        """A program that applies the steps in TVM 0.8 to 0.19; empty for other tuners."""
        return python_code(self.record)

    @property
    def title(self) -> str:
        """Trial, workload and cost in one line."""
        record = self.record
        cost = duration_text(record.cost * _NS)
        if record.error is not MeasureError.NO_ERROR:
            cost = record.error.label
        return f"Schedule of trial {record.row:,} ({one_line(record.task.name)}): {cost}"

    @cached_property
    def notes(self) -> tuple[str, ...]:
        """Notes on the nest: sources of names, and unknowns."""
        if self.record.task.tuner != "ansor" or not self.record.steps:
            return ()
        notes = [f"DAG: {self.dag_source}", *self.dag_problems]
        if self.refused:
            notes.append(f"The steps cannot be applied: {self.refused}")
        elif self.state is not None and self.inferred is self.state:
            notes.append(f"Bounds are not inferred: {why_refused(self.state)}")
        return (*notes, *self._best_known[1])

    def __repr__(self) -> str:
        lines = [self.title, *(f"  {note}" for note in self.notes)]
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
            sentences=self.steps,
            structure=self.structure,
            python=self.python,
        )


@dataclass(frozen=True)
class _ReplayedSteps:
    state: State | None = None
    refused: str = ""
    words: tuple[str, ...] = ()
    structure: TileStructure = _NO_TILES


def _replayed(dag: ComputeDag | None, steps: Sequence[AnyStep]) -> _ReplayedSteps:
    splits, words = SplitsSeen(steps), list[str]()
    try:
        replaying = Replay(dag, steps)
        for step in steps:
            words.append(step_words(step, replaying.state()))
            splits.advance(replaying, step)
        state = replaying.end()
        return _ReplayedSteps(state, "", tuple(words), splits.structure(state))
    except ReplayError:  # described by numbers from here on; only its words may be refused
        told = (*words, *map(step_words, steps[len(words) :]))
    try:
        return _ReplayedSteps(replay(dag, steps), "", told, tile_structure(steps, dag))
    except ReplayError as problem:
        return _ReplayedSteps(None, str(problem), told)


def infer_bounds(state: State) -> State:
    """Return a state with the bounds of its loops (``ComputeDAG::InferBound``, compute_dag.cc)."""
    try:
        return _inferred(state)
    except RefusedError:
        return state


def why_refused(state: State) -> str:
    """Return why TVM infers no bounds of a state, nothing if it does."""
    try:
        _inferred(state)
    except RefusedError as problem:
        return str(problem)
    return ""


def _inferred(state: State) -> State:
    stages = StagedDag(state.dag, state.steps).stages
    loops = [tuple(stage.loops) for stage in stages]
    normalize(stages)
    ranges = infer(stages)
    pairs = zip(state.stages, loops, strict=True)
    return replace(state, stages=tuple(_bounded(stage, loops, ranges) for stage, loops in pairs))


def _bounded(stage: Stage, loops: Sequence[LoopVariable], ranges: Ranges) -> Stage:
    if stage.compute_at is ComputeAt.INLINED:
        return stage
    # TE has more loops for a stage that was split before it was cached.
    if len(loops) < len(stage.iterators) or any(loop not in ranges for loop in loops):
        raise RefusedError(f"the loops of {stage.name} are others than the schedule's")
    bounds = [ranges[loop] for loop, _ in zip(loops, stage.iterators, strict=False)]
    return replace(
        stage,
        iterators=tuple(
            replace(iterator, extent=bound.extent, symbol=bound.symbol, min=text(bound.min))
            for iterator, bound in zip(stage.iterators, bounds, strict=True)
        ),
    )


_LISTED = 3


def best_known(
    inferred: State, replayed: State, alone: State | None
) -> tuple[State, tuple[str, ...]]:
    """Return a state with extents that only its steps give, and notes on them."""
    if alone is None or len(alone.stages) > len(inferred.stages):
        return inferred, ()
    stages = list(inferred.stages)
    filled, differing = 0, []
    for number, (stage, other) in enumerate(zip(replayed.stages, alone.stages, strict=False)):
        iterators = list(stages[number].iterators)
        for place, loop, extent in _common_loops(stage, other):
            if iterators[place].extent is None and not iterators[place].symbol:
                iterators[place] = replace(iterators[place], extent=extent)
                filled += 1
            if loop.extent not in (None, extent):
                words = f"loop {loop.name} of {stage.name}: {loop.extent:,} by the DAG"
                differing.append(f"{words}, {extent:,} by the steps")
        stages[number] = replace(stages[number], iterators=tuple(iterators))
    notes = []
    if filled:
        verb = agree(filled, "is")
        notes.append(
            f"Extents of {counted(filled, 'loop')} {verb} from the steps, the DAG lacks them"
        )
    if differing:
        rest = len(differing) - _LISTED
        more = f", and {counted(rest, 'more loop')}" if rest > 0 else ""
        notes.append(f"The DAG contradicts the steps: {'; '.join(differing[:_LISTED])}{more}")
    return replace(inferred, stages=tuple(stages)), tuple(notes)


def _common_loops(stage: Stage, alone: Stage) -> Yields[tuple[int, Iterator, int]]:
    made = [_history(iterator) for iterator in alone.iterators]
    if made != [_history(iterator) for iterator in stage.iterators[: len(made)]]:
        return
    if not alone.is_open and len(made) != len(stage.iterators):
        return
    for place, each in enumerate(alone.iterators):
        loop = stage.iterators[place]
        if each.extent is not None and not loop.symbol:
            yield place, loop, each.extent


def _history(loop: Iterator) -> tuple[object, ...]:
    return loop.made_by, loop.annotation, loop.steps, loop.factor


_OLD_OPTION = " -link-params=0"
_APPLY = """
measured, _ = load_record_from_string(RECORD)
task = auto_scheduler.SearchTask(
    workload_key=measured.task.workload_key,
    target=measured.task.target,
    hardware_params=measured.task.hardware_params,
)
print(task.compute_dag.infer_bound_from_state(measured.state))
schedule, args = task.compute_dag.apply_steps_from_state(
    measured.state, layout_rewrite=measured.task.layout_rewrite_option
)
print(tvm.lower(schedule, args, simple_mode=True))
# module = tvm.build(schedule, args, task.target)
"""


def python_code(record: Record) -> str:
    """Return a program that applies the record's steps in TVM 0.8 to 0.19; empty if it has none."""
    if record.task.tuner != "ansor":
        return ""
    line = record.line.decode("utf-8", "surrogateescape")
    lines = [
        "import tvm",
        "from tvm import auto_scheduler",
        "from tvm.auto_scheduler.measure_record import load_record_from_string",
        "",
        *_registration(record.task.workload),
        "",
        f"RECORD = {line!a}",
    ]
    if _OLD_OPTION in line:
        lines.append("# TVM 0.10 and later know no option -link-params.")
        lines.append(f'RECORD = RECORD.replace("{_OLD_OPTION}", "")')
    return "\n".join(lines) + _APPLY


def _registration(workload: Workload) -> list[str]:
    if workload.is_hash:
        return [
            f"# {workload.name} is the hash of a compute DAG. Extracting the tasks of the model",
            "# that was tuned registers it, with the TVM that tuned it:",
            '# auto_scheduler.extract_tasks(mod["main"], params, target)',
        ]
    return [
        f"# First import what defines {ascii(workload.name)[:200]}",
        "# and registers it with @auto_scheduler.register_workload.",
    ]
