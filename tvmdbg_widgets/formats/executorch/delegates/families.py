"""The backends whose payloads are known, and what is read of each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from tvmdbg_widgets.formats.executorch.delegates import vulkan_events, xnnpack_events
from tvmdbg_widgets.formats.executorch.delegates.vulkan import read_vulkan
from tvmdbg_widgets.formats.executorch.delegates.xnnpack import read_xnnpack
from tvmdbg_widgets.formats.executorch.program.tensors import NamedFile
from tvmdbg_widgets.formats.limits import named_bytes
from tvmdbg_widgets.model.base.errors import FormatError
from tvmdbg_widgets.model.base.issues import Issue, Issues, IssueSeverity
from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.executorch.delegate_alignment import Alignment
from tvmdbg_widgets.model.executorch.delegate_graph import DelegateConstant, DelegateGraph
from tvmdbg_widgets.model.executorch.program import Delegate, FileSpan, Program
from tvmdbg_widgets.model.executorch.vulkan_names import explain_name
from tvmdbg_widgets.sources.byte_source import ByteSource

#: Bytes of a payload that tell what it is.
_HEAD = 64
_SHOWN = 16


class PayloadReader(Protocol):
    """Reads the graph in a payload."""

    def __call__(
        self, source: ByteSource, payload: FileSpan, backend: str, *, file: str
    ) -> DelegateGraph:
        """Return the graph; FormatError where the payload is damaged."""


@dataclass(frozen=True)
class Family:
    """What is known of the payloads of a backend."""

    backend: str
    describe: Callable[[bytes, int], str]
    read: PayloadReader | None = None
    align: Callable[[DelegateGraph, Sequence[str]], Alignment] | None = None
    explain: Callable[[str], tuple[tuple[str, str], ...]] | None = None
    times: str = ""


def _told(
    what: str, magic: bytes | tuple[bytes, ...] = b"", at: int = 0
) -> Callable[[bytes, int], str]:
    """Return what describes payloads that start with some bytes, or that nothing else tells."""

    def describe(head: bytes, size: int) -> str:
        return f"{what}, {counted(size, 'byte')}" if head[at:].startswith(magic) else ""

    return describe


#: Delegates that are known, each a line; a backend whose payload holds a graph has a reader.
FAMILIES: tuple[Family, ...] = (
    Family(
        "XnnpackBackend",
        _told("XNNPACK graph", (b"XH00", b"XN00", b"XN01"), 4),
        read_xnnpack,
        xnnpack_events.align,
        xnnpack_events.explain_name,
    ),
    Family(
        "VulkanBackend",
        _told("Vulkan graph", b"VH00", 4),
        read_vulkan,
        vulkan_events.align,
        explain_name,
    ),
    Family(
        "CoreMLBackend",
        _told("Core ML package"),
        times="estimated: the time of a whole prediction, shared out by Core ML's estimate of what "
        "each operator costs",
    ),
    Family(
        "QnnBackend",
        _told("Qualcomm QNN context binary (closed)", 0x5678ABCD.to_bytes(4, "little")),
    ),
    Family("EthosUBackend", _told("Ethos-U command stream, vela_bin_stream", b"vela_bin_stream")),
    Family("VgfBackend", _told("VGF container")),
    Family("TOSABackend", _told("TOSA flatbuffer", b"TOSA", 4)),
    Family("NeutronBackend", _told("NXP Neutron program")),
    Family("MPSBackend", _told("MPS graph", b"MP00", 4)),
    Family("MLXBackend", _told("MLX graph", b"MLX0", 4)),
    Family("OpenvinoBackend", _told("OpenVINO model")),
    Family("EnnBackend", _told("Samsung ENN model (closed)")),
    Family("NeuropilotBackend", _told("MediaTek Neuron model (closed)")),
)
_BY_BACKEND = {family.backend: family for family in FAMILIES}


def family_of(backend: str) -> Family | None:
    """Return what is known of a backend's payloads, None where nothing is."""
    return _BY_BACKEND.get(backend)


def payload_text(source: ByteSource, delegate: Delegate) -> str:
    """Return what the payload of a delegate is, in a phrase; its first bytes where unknown."""
    offset, size = delegate.payload
    head = source.read(offset, min(size, _HEAD))
    family = family_of(delegate.id)
    told = "" if family is None else family.describe(head, size)
    if told or not size:
        return told or "empty payload"
    return f"unknown payload, {counted(size, 'byte')}, first {head[:_SHOWN].hex(' ')}"


def delegate_graph(
    program: Program, source: ByteSource, delegate: Delegate
) -> tuple[DelegateGraph | None, Issues]:
    """Return the graph of a delegate and what is wrong with its payload.

    There is none where the payload is damaged, and where it holds no graph that can be read.
    """
    family = family_of(delegate.id)
    if family is None or family.read is None:
        return None, Issues()
    try:
        graph = family.read(source, delegate.payload, delegate.id, file=program.file)
    except FormatError as problem:
        issue = Issue("delegate-payload", IssueSeverity.ERROR, str(problem), file=program.file)
        return None, Issues([issue])
    return graph, graph.issues


@dataclass(frozen=True, eq=False)
class ProgramGraphs:
    """The graphs of all delegates of a program; those that share a payload share a graph."""

    graphs: Mapping[tuple[str, FileSpan], DelegateGraph]
    issues: Issues

    def of(self, delegate: Delegate) -> DelegateGraph | None:
        """Return the graph of a delegate, None where none can be read."""
        return self.graphs.get((delegate.id, delegate.payload))


def graphs_of(program: Program, source: ByteSource) -> ProgramGraphs:
    """Read the graphs of all delegates of a program, each payload once."""
    graphs: dict[tuple[str, FileSpan], DelegateGraph] = {}
    issues: list[Issue] = []
    budget = named_bytes(source)
    delegates = (each for plan in program.plans for each in plan.delegates)
    for key, delegate in {(each.id, each.payload): each for each in delegates}.items():
        try:
            budget.spend(delegate.payload.size, "delegates", delegate.payload.offset)
        except FormatError as problem:
            text = str(problem)
            issues.append(Issue("delegate-payload", IssueSeverity.ERROR, text, file=program.file))
            break
        graph, own = delegate_graph(program, source, delegate)
        issues += own
        if graph is not None:
            graphs[key] = graph
    return ProgramGraphs(graphs, Issues(issues))


class ConstantBytes:
    """Where the bytes of the constants of a program's delegates lie."""

    def __init__(
        self, program: Program, source: ByteSource, named: Sequence[NamedFile] = ()
    ) -> None:
        self._source = source
        self._known: dict[str, tuple[ByteSource, FileSpan]] = {}
        for each in program.named_data:
            self._known.setdefault(each.key, (source, program.segments[each.segment_index]))
        for data, file in named:
            for tensor in data.tensors:
                self._known.setdefault(tensor.name, (file, FileSpan(tensor.offset, tensor.nbytes)))

    def of(self, constant: DelegateConstant) -> tuple[ByteSource, FileSpan] | None:
        """Return file and bytes of a constant, None where no file has them."""
        if constant.span is not None:
            return self._source, constant.span
        source, span = self._known.get(constant.key, (self._source, FileSpan(0, -1)))
        if not constant.key or constant.size > span.size:
            return None
        return source, FileSpan(span.offset, constant.size)
