"""Events and event blocks with the attributes that ExecuTorch's Inspector gives them.

``Event`` and ``EventBlock`` in devtools/inspector/_inspector.py @ v1.4.1.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from tvmdbg_widgets.analysis.executorch.logged_values import NOTHING_LOGGED, LoggedValues
from tvmdbg_widgets.analysis.executorch.perf_data import PerfData
from tvmdbg_widgets.formats.executorch.debug_buffer import Inflated

#: Turns the metadata of an event's runs into a list, or into a dict with a column a key.
MetadataParser: TypeAlias = Callable[[list[Any]], Any]


@dataclass(eq=False, slots=True)
class Event:
    """One event of a block, over all runs of the block.

    Attributes
    ----------
    name : str
        The delegate debug identifier as text where there is one.
    perf_data : PerfData or None
        None where the event only logged values.
    op_types : list of str
        Operators of the event's handles: ``aten.addmm.default``. Repeated handles repeat them.
    delegate_debug_identifier : int, str or None
    debug_handles : int, list of int or None
    num_outputs : int
    stack_traces : dict of str to (str or None)
        By name of the operator's node, with ``_`` at its end as the Inspector has it.
    module_hierarchy : dict of str to (dict of str to (str, str), or None)
        Modules around each node, outermost first: path and type by key.
    is_delegated_op : bool or None
    delegate_backend_name : str or None
    raw_delegate_debug_metadatas : list of bytes or ""
        One item a duration; no items at all where no run has any.
    start_time : list of int or None
        In ticks as recorded, one a duration.
    instruction_id : int
    chain_index : int
        -1 for events of the framework.
    handle_trust : str
        How the handles were found, in words of
        :data:`tvmdbg_widgets.model.executorch.event_nodes.HOW`; empty without an ETRecord.
    occurrences : tuple of int
        How often it occurred in each run of the block.
    logged : LoggedValues
        What it logged, by run.
    """

    name: str
    perf_data: PerfData | None = None
    op_types: list[str] = field(default_factory=list)
    delegate_debug_identifier: int | str | None = None
    debug_handles: int | list[int] | None = None
    num_outputs: int = 1
    stack_traces: dict[str, str | None] = field(default_factory=dict)
    module_hierarchy: dict[str, dict[str, tuple[str, str]] | None] = field(default_factory=dict)
    is_delegated_op: bool | None = None
    delegate_backend_name: str | None = None
    raw_delegate_debug_metadatas: list[Any] = field(default_factory=list)
    start_time: list[int] | None = None
    instruction_id: int = -1
    chain_index: int = -1
    handle_trust: str = ""
    occurrences: tuple[int, ...] = ()
    logged: LoggedValues = field(default=NOTHING_LOGGED, repr=False)
    metadata_parser: MetadataParser | None = field(default=None, repr=False)
    _parsed: tuple[Any, ...] = field(default=(), init=False, repr=False)

    @property
    def _instruction_id(self) -> int:
        return self.instruction_id

    @property
    def debug_data(self) -> list[Inflated]:
        """Values logged in the first run of the block, in order.

        Raises
        ------
        FormatError
            The debug buffer does not hold them.
        """
        return self.logged.first

    @property
    def debug_data_by_run(self) -> list[list[Inflated]]:
        """Values logged in each run of the block, in order."""
        return [self.logged.of_run(run) for run in range(len(self.logged.runs))]

    @property
    def delegate_debug_metadatas(self) -> Any:
        """What the parser makes of the metadata; the metadata where none was given.

        The parser is called once, when this is first asked for, and only for delegated events:
        with an empty list where there is no metadata. What it raises is not caught.
        """
        if not self.is_delegated_op or self.metadata_parser is None:
            return self.raw_delegate_debug_metadatas
        if not self._parsed:
            self._parsed = (self.metadata_parser(self.raw_delegate_debug_metadatas),)
        return self._parsed[0]

    @property
    def handles(self) -> Sequence[int]:
        """The debug handles, in order; empty where there are none."""
        found = self.debug_handles
        return (found,) if isinstance(found, int) else found or ()

    def is_of_module(self, name: str) -> bool:
        """Tell whether the key of a module around one of its operators contains a name."""
        stacks = self.module_hierarchy.values()
        return any(name in key for stack in stacks if stack for key in stack)

    @property
    def total_a_run(self) -> float:
        """Time that it takes in one run on average, 0 where it has no durations."""
        if self.perf_data is None:
            return 0.0
        if max(self.occurrences, default=1) <= 1:
            return self.perf_data.avg
        return float(sum(self.perf_data.raw)) / len(self.occurrences)
