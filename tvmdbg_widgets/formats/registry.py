"""Every format that can be read, told by content and never by name.

A format is one module with ``sniff(head) -> bool`` and a reader, and one line in :data:`FORMATS`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from tvmdbg_widgets.formats.collector import collector_paused
from tvmdbg_widgets.sources.byte_source import ByteSource

#: Bytes from the start of a file that a format is told by.
HEAD_BYTES = 64 * 1024


@dataclass(frozen=True)
class Format:
    """One readable format."""

    part: str
    what: str
    module: str
    reader: str

    def sniff(self, head: bytes) -> bool:
        """Whether a file that starts with these bytes is of this format."""
        found: bool = import_module(self.module).sniff(head)
        return found

    def read(self, source: ByteSource, **options: Any) -> Any:
        """Read the source; FormatError where it is not readable at all."""
        read: Callable[..., Any] = getattr(import_module(self.module), self.reader)
        with collector_paused():
            return read(source, **options)


_FORMATS = "tvmdbg_widgets.formats"
_RECORDING = "tvmdbg_widgets.formats.recording"
_TVM = "tvmdbg_widgets.formats.tvm"
_CHROME = "tvmdbg_widgets.formats.chrome"
_EXECUTORCH = "tvmdbg_widgets.formats.executorch"
_TUNING = "tvmdbg_widgets.formats.tuning"

FORMATS: tuple[Format, ...] = (
    Format("recording", "recording", f"{_RECORDING}.recording", "read_recording"),
    Format("recorded-times", "recorded times", f"{_RECORDING}.times", "read_recorded_times"),
    Format("ir", "IR text", f"{_RECORDING}.ir", "read_ir"),
    Format("etdump", "ETDump", f"{_EXECUTORCH}.etdump", "read_etdump"),
    Format("etrecord", "ETRecord", f"{_EXECUTORCH}.etrecord.etrecord", "read_etrecord"),
    Format("program", "ExecuTorch program", f"{_EXECUTORCH}.program.program", "read_program"),
    Format("bundled", "bundled program", f"{_EXECUTORCH}.program.bundled", "read_bundled_program"),
    Format("named-data", "named data", f"{_EXECUTORCH}.program.flat_tensor", "read_flat_tensor"),
    Format(
        "inspector-text",
        "table of ExecuTorch's Inspector",
        f"{_EXECUTORCH}.inspector_text",
        "read_inspector_text",
    ),
    Format("cache", "tensor cache", f"{_TVM}.tensor_cache.cache", "read_cache"),
    Format("library", "model library", f"{_TVM}.model_library", "read_metadata"),
    Format("capture", "network capture", f"{_FORMATS}.capture.capture", "read_capture"),
    Format("rpc-stream", "RPC stream", f"{_FORMATS}.rpc.connection", "read_stream_head"),
    Format("params", "params file", f"{_TVM}.params.file", "read_params"),
    Format("trace", "execution trace", f"{_TVM}.trace", "read_trace"),
    Format("chrome", "Chrome trace", f"{_CHROME}.trace", "read_chrome_trace"),
    Format("report", "profiling report", f"{_TVM}.report.report", "read_report"),
    Format("report", "VM profiler's table", f"{_TVM}.table.vm_table", "read_vm_table"),
    Format("times", "list of node times", f"{_TVM}.time_list", "read_time_list"),
    Format("graph", "graph JSON", f"{_TVM}.graph.graph_json", "read_graph"),
    Format("tuning-records", "tuning log", f"{_TUNING}.records", "read_records"),
    Format("tuning-dags", "file of DAG texts", f"{_TUNING}.dag_dump", "read_dag_dump"),
    Format("table", "printed table of node times", f"{_TVM}.table.table", "read_tables"),
    Format("tuning-output", "output of a tuning", f"{_TUNING}.outputs", "read_output"),
)
#: What is captured of a connection of TVM's RPC.
RPC = ("capture", "rpc-stream")
#: What a tuning leaves behind.
TUNING = tuple(each for each in FORMATS if each.part.startswith("tuning-"))


def head(source: ByteSource) -> bytes:
    """Return the bytes that a format is told by."""
    return source.read(0, min(HEAD_BYTES, source.size))


def identify(source: ByteSource, among: Sequence[Format] = FORMATS) -> Format | None:
    """Return the format of a source, None where no reader knows it."""
    start = head(source)
    return next((each for each in among if each.sniff(start)), None)


def tables_beside(source: ByteSource, found: Format) -> list[Format]:
    """Return what other tables of times a text holds beside the one that it was told by."""
    kinds = ("table", "report")
    start = head(source) if found.part in kinds else b""
    others = (each for each in FORMATS if each.part in kinds and each.part != found.part)
    return [each for each in others if start and each.sniff(start)][:1]


def suspect(source: ByteSource) -> Format | None:
    """Return the format that a source of no known format may be a broken file of."""
    start = head(source).replace(b"\0", b"")
    opened = re.match(rb'\W*?[{"]', start)
    for word, part in ((b"traceEvents", "chrome"), (b"nodes", "graph")):
        if opened and re.compile(b'"' + word + rb'\\?"').search(start, opened.end()):
            return format_of(part)
    return None


def format_for(part: str, source: ByteSource) -> Format:
    """Return the format of a source that its caller said gives a part of a run.

    Where several formats give it, the one that knows the content, else the first.
    """
    also = {"trace": ("trace", "chrome")}.get(part, (part,))
    fitting = [each for each in FORMATS if each.part in also]
    start = head(source) if len(fitting) > 1 else b""
    known = (each for each in fitting if len(fitting) > 1 and each.sniff(start))
    return next(known, format_of(part))


def format_of(part: str) -> Format:
    """Return the format that gives a part of a run."""
    return next(each for each in FORMATS if each.part == part)
