"""Every format that can be read, told by content and never by name.

A format is one module with ``sniff(head) -> bool`` and a reader, and one line in :data:`FORMATS`.
"""

from __future__ import annotations

import gc
import re
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from tvmdbg_widgets.sources.byte_source import ByteSource

_lock = threading.Lock()
_pauses = 0
_was_enabled = False


@contextmanager
def collector_paused() -> Iterator[None]:
    """Pause the cycle collector; it runs again when the last of nested or parallel pauses ends.

    Parsed JSON holds no cycles, yet each generation the collector walks all of it: half of the
    time of reading a large graph.
    """
    global _pauses, _was_enabled  # noqa: PLW0603
    with _lock:
        if _pauses == 0:
            _was_enabled = gc.isenabled()
            gc.disable()
        _pauses += 1
    try:
        yield
    finally:
        with _lock:
            _pauses -= 1
            if _pauses == 0 and _was_enabled:
                gc.enable()


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
    Format("recording", "recording", "tvmdbg_widgets.formats.json_fields", "read_recording"),
    Format(
        "recorded-times", "recorded times", "tvmdbg_widgets.formats.writer", "read_recorded_times"
    ),
    Format("ir", "IR text", "tvmdbg_widgets.formats.llvm_ir", "read_ir"),
    Format("etdump", "ETDump", f"{_EXECUTORCH}.etdump", "read_etdump"),
    Format("etrecord", "ETRecord", f"{_EXECUTORCH}.etrecord", "read_etrecord"),
    Format("program", "ExecuTorch program", f"{_EXECUTORCH}.program.program_file", "read_program"),
    Format(
        "bundled",
        "bundled program",
        f"{_EXECUTORCH}.program.instruction_sources",
        "read_bundled_program",
    ),
    Format(
        "named-data", "named data", f"{_EXECUTORCH}.program.instruction_steps", "read_flat_tensor"
    ),
    Format(
        "inspector-text",
        "table of ExecuTorch's Inspector",
        f"{_EXECUTORCH}.inspector_events",
        "read_inspector_text",
    ),
    Format("cache", "tensor cache", f"{_TVM}.cache", "read_cache"),
    Format("library", "model library", f"{_TVM}.foreign", "read_metadata"),
    Format("capture", "network capture", f"{_FORMATS}.rpc.desync", "read_capture"),
    Format("rpc-stream", "RPC stream", f"{_FORMATS}.rpc.connection", "read_stream_head"),
    Format("params", "params file", f"{_TVM}.params.file", "read_params"),
    Format("trace", "execution trace", f"{_TVM}.trace", "read_trace"),
    Format("chrome", "Chrome trace", f"{_CHROME}.trace", "read_chrome_trace"),
    Format("report", "profiling report", f"{_TVM}.report.report", "read_report"),
    Format("report", "VM profiler's table", f"{_TVM}.versions", "read_vm_table"),
    Format("times", "list of node times", f"{_TVM}.times_text", "read_time_list"),
    Format("graph", "graph JSON", f"{_TVM}.graph.graph_json", "read_graph"),
    Format("tuning-records", "tuning log", f"{_TUNING}.record", "read_records"),
    Format("tuning-dags", "file of DAG texts", f"{_TUNING}.gather", "read_dag_dump"),
    Format("table", "printed table of node times", f"{_TVM}.table", "read_tables"),
    Format("tuning-output", "output of a tuning", f"{_TUNING}.console", "read_output"),
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
