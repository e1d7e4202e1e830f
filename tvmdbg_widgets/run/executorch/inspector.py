"""ExecuTorch's Inspector, without ExecuTorch."""

from __future__ import annotations

import logging
import os
from dataclasses import replace
from functools import cached_property
from typing import IO, TYPE_CHECKING, Any, ClassVar

from tvmdbg_widgets.model.base.slips import public_class

if TYPE_CHECKING:
    import pandas as pd

    from tvmdbg_widgets.analysis.executorch.event_block import EventBlock, EventTable
    from tvmdbg_widgets.analysis.executorch.events import Event, MetadataParser
    from tvmdbg_widgets.analysis.executorch.gap_rows import NumericGap
    from tvmdbg_widgets.analysis.executorch.metrics import Distance
    from tvmdbg_widgets.analysis.executorch.reference_graph import Reference
    from tvmdbg_widgets.analysis.executorch.time_scale import Converter, TimeScale
    from tvmdbg_widgets.model.executorch.etrecord import ETRecord, ExportedProgram
    from tvmdbg_widgets.model.executorch.event_nodes import ExecuTorchFiles
    from tvmdbg_widgets.model.parts import RunParts
    from tvmdbg_widgets.sources.byte_source import ByteSource
    from tvmdbg_widgets.sources.given import SourceLike


log = logging.getLogger(__name__)

#: Rows of the table at the end of a notebook cell.
_ROWS_SHOWN = 200


@public_class
class Inspector:
    """Events of an ETDump, matched with the operators of an ETRecord.

    It has the parameters and members of ``executorch.devtools.Inspector`` @ v1.4.1, and reads the
    files itself. Wrong or missing answers of that Inspector are corrected and listed in
    :attr:`deviations`, unless ``compat`` is set.

    ::

        inspector = Inspector(etdump_path="etdump.etdp", etrecord="etrecord.bin")
        inspector.print_data_tabular()

    Parameters
    ----------
    etdump_path : str or PathLike, optional
    etdump_data : bytes, optional
        The content instead.
    etrecord : str, PathLike, bytes or ETRecord, optional
    source_time_scale, target_time_scale : TimeScale or str
        Units of the dump's ticks, which no file says, and of durations: ``"ns"``, ``"us"``,
        ``"ms"``, ``"s"`` or, for both, ``"cycles"``.
    debug_buffer_path : str or PathLike, optional
    delegate_metadata_parser : callable, optional
        Takes the metadata of an event's runs, returns a list or a dict.
    delegate_time_scale_converter : callable, optional
        Takes the name and a tick of a delegate's event, returns a time in the target unit.
    enable_module_hierarchy : bool
        Without effect, as modules are known of every event: ``Event.module_hierarchy``.
    reference_graph_name : str
        The graph of the ETRecord whose operators the events have.
    buffer_path : str or PathLike, optional
        ``debug_buffer_path`` by the name that ExecuTorch's documentation uses.
    method : str, optional
        Of several methods in the ETRecord the one that was run; the dump does not say it.
    compat : bool
        Give the Inspector's own answers, errors included.

    Attributes
    ----------
    event_blocks : list of EventBlock

    Raises
    ------
    FormatError
        A file is damaged or of another kind.
    ValueError
        Not exactly one dump is given, or the ETRecord has several methods and none is named.
    RuntimeError
        Only one time scale is cycles.
    TypeError
        ``etrecord`` is nothing that can be read.
    KeyError
        The ETRecord has no graph of that name.
    """

    #: ``DebugRun``, set by :mod:`tvmdbg_widgets.run`, which imports this class.
    run_class: ClassVar[type[Any]]

    def __init__(  # noqa: PLR0917 (as ExecuTorch has it)
        self,
        etdump_path: str | os.PathLike[str] | None = None,
        etdump_data: bytes | ByteSource | None = None,
        etrecord: SourceLike | ETRecord | None = None,
        source_time_scale: TimeScale | str = "ns",
        target_time_scale: TimeScale | str = "ms",
        debug_buffer_path: str | os.PathLike[str] | ByteSource | None = None,
        delegate_metadata_parser: MetadataParser | None = None,
        delegate_time_scale_converter: Converter | None = None,
        enable_module_hierarchy: bool = False,  # noqa: ARG002 (as ExecuTorch has it)
        reference_graph_name: str = "edge_dialect_graph_module",
        *,
        buffer_path: str | os.PathLike[str] | None = None,
        method: str | None = None,
        compat: bool = False,
    ) -> None:
        from tvmdbg_widgets.analysis.executorch.event_blocks import event_blocks
        from tvmdbg_widgets.analysis.executorch.time_scale import TimeScale, scale_factor
        from tvmdbg_widgets.formats.executorch.etdump import read_etdump
        from tvmdbg_widgets.run.executorch.inspector_files import (
            opened_buffer,
            opened_record,
            sources_of,
        )
        from tvmdbg_widgets.sources.given import as_source

        source, target = TimeScale(source_time_scale), TimeScale(target_time_scale)
        scale_factor(source, target)
        self._compat = compat
        self.etrecord = opened_record(etrecord, compat=compat)
        given = [source for source in (etdump_path, etdump_data) if source is not None]
        if len(given) != 1:
            raise ValueError("Expecting exactly one of etdump_path or etdump_data to be specified.")
        source_of_dump = as_source(given[0])
        self.etdump = read_etdump(source_of_dump, strict=True)
        self.debug_buffer = opened_buffer(debug_buffer_path, buffer_path, compat=compat)
        self.event_blocks: list[EventBlock] = event_blocks(
            self.etdump,
            source_time_scale=source,
            target_time_scale=target,
            buffer=self.debug_buffer,
            metadata_parser=delegate_metadata_parser,
            converter=delegate_time_scale_converter,
            compat=compat,
        )
        self.sources = sources_of(
            self.etdump, source_of_dump, (self.etrecord, etrecord), self.debug_buffer
        )
        self.target_time_scale = target
        self.method = "forward" if method is None else method
        self._notes: list[str] = []
        if self.etrecord is not None:
            self._link(self.etrecord, method, reference_graph_name)

    def _link(self, record: ETRecord, method: str | None, graph_name: str) -> None:
        from tvmdbg_widgets.analysis.executorch.record_links import (
            chosen_method,
            link_record,
            link_record_as_inspector,
        )

        if self._compat:
            link_record_as_inspector(record, self.event_blocks, graph_name=graph_name)
            return
        self.method = chosen_method(record, method)
        self._notes = link_record(
            record, self.event_blocks, method=self.method, graph_name=graph_name
        )

    @cached_property
    def run(self) -> Any:
        """These files as a ``DebugRun``, whose ``inspector`` is this one."""
        from tvmdbg_widgets.formats.executorch.assemble import assemble
        from tvmdbg_widgets.formats.family import JoinOptions, Part

        parts = [Part(kind, *opened, None) for kind, opened in self.sources.items()]
        name = self.sources["etdump"][1].name
        title = name.replace("\\", "/").rpartition("/")[2]
        run = self.run_class(assemble(parts, (), JoinOptions(title, method=self.method)))
        run.inspector = self
        return run

    @property
    def deviations(self) -> tuple[str, ...]:
        """Sentences on answers that differ from ExecuTorch's Inspector."""
        blocks = [
            f"{block.name}: {deviation}"
            for block in self.event_blocks
            for deviation in block.deviations
        ]
        return (*self._notes, *blocks)

    def to_dataframe(
        self, include_units: bool = True, include_delegate_debug_data: bool = False
    ) -> pd.DataFrame:
        """Return one row per event of every block.

        Parameters
        ----------
        include_units
            Whether the names of time columns say the unit.
        include_delegate_debug_data
            Whether to add what the metadata of delegates' events were parsed to.

        Raises
        ------
        ImportError
            pandas is not installed.
        ValueError
            The metadata parser returned neither a list nor a dict; with ``compat``, there are no
            events.
        """
        return self._table(include_units, include_delegate_debug_data).to_dataframe()

    def print_data_tabular(
        self,
        file: IO[str] | None = None,
        include_units: bool = True,
        include_delegate_debug_data: bool = False,
    ) -> None:
        """Print the table without long columns and without the rows of ``OPERATOR_CALL``.

        Parameters
        ----------
        file
            Standard output, if left out.
        include_units, include_delegate_debug_data
            As of :meth:`to_dataframe`.
        """
        table = self._table(include_units, include_delegate_debug_data, printed=True)
        print(table.text(), file=file)

    def save_data_to_tsv(
        self,
        file: IO[str] | str | os.PathLike[str],
        include_units: bool = True,
        include_delegate_debug_data: bool = False,
    ) -> None:
        """Write what :meth:`print_data_tabular` prints as tab-separated values.

        Parameters
        ----------
        file
            A path, which is replaced atomically, or a file open for text with
            ``newline=""``.
        include_units, include_delegate_debug_data
            As of :meth:`to_dataframe`.
        """
        import io
        import os

        from tvmdbg_widgets.model.base.writing import replacing

        table = self._table(include_units, include_delegate_debug_data, printed=True)
        if isinstance(file, str | os.PathLike):
            with replacing(file) as opened:
                text = io.TextIOWrapper(opened, "utf-8", newline="")
                table.write_tsv(text)
                text.detach()
        else:
            table.write_tsv(file)

    def find_total_for_module(self, module_name: str) -> float:
        """Return the average time of a module's events in one run, in the target unit.

        Delegate calls and their inner events both count. A module matches if its key in
        ``nn_module_stack`` contains the name, as in the Inspector.
        """
        return sum(
            (
                event.total_a_run
                for block in self.event_blocks
                for event in block.events
                if event.name != "OPERATOR_CALL" and event.is_of_module(module_name)
            ),
            0.0,
        )

    def get_exported_program(self, graph: str | None = None) -> ExportedProgram | None:
        """Return a program of the ETRecord: the edge program, or one by its full name."""
        if self.etrecord is None:
            log.warning(
                "Exported program is only available when a valid etrecord_path was provided at "
                "the time of Inspector construction"
            )
            return None
        if graph is None:
            return self.etrecord.edge_programs.get(self.method)
        return self.etrecord.graph_map.get(graph)

    def get_op_list(
        self,
        event_block: str,  # noqa: ARG002 (as ExecuTorch has it)
        show_delegated_ops: bool = True,  # noqa: ARG002
    ) -> dict[str, list[Event]]:
        """Return nothing, as the Inspector does."""
        return {}

    def write_tensorboard_artifact(self, path: str) -> None:
        """Do nothing, as the Inspector does."""

    def calculate_numeric_gap(
        self,
        distance: str | Distance = "SNR",
        disable_debug_handle_valdiation: bool = False,
        reference_graph: str | None = None,
        *,
        reference: Reference | None = None,
    ) -> NumericGap:
        """Compare the logged values with a reference.

        Parameters
        ----------
        distance, reference
            As of :func:`tvmdbg_widgets.analysis.executorch.gap_rows.numeric_gap`.
        disable_debug_handle_valdiation
            Use the exported program even where not every handle leads to it (spelled as in
            ExecuTorch).
        reference_graph
            ``"exported_program"``, ``"edge_dialect_exported_program"`` or the name of another
            graph in the ETRecord.
        """
        from tvmdbg_widgets.analysis.executorch.gap_rows import numeric_gap
        from tvmdbg_widgets.analysis.executorch.reference_graph import record_of_method

        return numeric_gap(
            self.event_blocks,
            self.etrecord and record_of_method(self.etrecord, self.method),
            distance,
            reference=reference,
            disable_debug_handle_validation=disable_debug_handle_valdiation,
            reference_graph=reference_graph,
            compat=self._compat,
        )

    def _table(self, units: bool, metadata: bool, *, printed: bool = False) -> EventTable:
        from tvmdbg_widgets.analysis.executorch.event_block import event_table

        blocks = self.event_blocks
        if self._compat and not (blocks and all(block.events for block in blocks)):
            raise ValueError("No objects to concatenate")
        scale = self.target_time_scale if units else None
        named = [(block.name, block.events) for block in blocks]
        return event_table(named, scale, metadata=metadata, printed=printed)

    def _repr_html_(self) -> str:
        return self._table(units=True, metadata=False, printed=True).html(_ROWS_SHOWN)

    def __repr__(self) -> str:
        from tvmdbg_widgets.model.base.numbers import counted

        blocks = counted(len(self.event_blocks), "block")
        events = counted(sum(len(block.events) for block in self.event_blocks), "event")
        return f"Inspector({self.etdump!r}; {blocks} with {events})"


def inspector_of(parts: RunParts) -> Inspector:
    """Return the Inspector of a run's files."""
    files = parts.executorch
    dump = next((file.source for file in parts.files if file.part == "etdump"), None)
    if files is None or files.dump is None or dump is None:
        raise ValueError(
            "this run has no ETDump; tvmdbg_widgets.open(etdump, etrecord, debug_buffer) has"
        )
    return Inspector(
        etdump_data=dump, etrecord=files.record, debug_buffer_path=files.buffer, method=files.method
    )


def execution_parts(parts: RunParts, number: int) -> RunParts:
    """Return the parts with the values of another execution."""
    from tvmdbg_widgets.formats.executorch.assemble import with_execution

    _files(parts)
    return with_execution(parts, number)


def reference_parts(parts: RunParts) -> RunParts:
    """Return the parts with the ETRecord's reference outputs as tensors."""
    from tvmdbg_widgets.analysis.executorch.recorded_calls import reference_tensors

    files = _files(parts)
    if parts.graph is None:
        raise ValueError("this run has no graph: open the ETRecord with the ETDump")
    title = f"{parts.title} (reference)"
    tensors = reference_tensors(files, parts.graph)
    return replace(parts, title=title, tensors=tensors, timeline=None)


def _files(parts: RunParts) -> ExecuTorchFiles:
    if parts.executorch is None:
        raise ValueError("this run is none of ExecuTorch")
    return parts.executorch
