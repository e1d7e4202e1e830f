"""The parts of one tuning."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from dataclasses import astuple, dataclass, field
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.model.base.text import Issues, one_line
from tvmdbg_widgets.model.tuning.trials import Trials
from tvmdbg_widgets.sources.byte_source import ByteSource

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class RefusedLine:
    """A line that is no record, its place and the reason."""

    source: int
    line: int
    offset: int
    why: str


@dataclass(frozen=True)
class ConsoleTask:
    """One row of a printed table of tasks; None for "-", "N/A" or missing columns."""

    id: int
    description: str
    latency_ms: float | None
    gflops: float | None
    trials: int | None
    flop: float | None = None
    weight: float | None = None


@dataclass(frozen=True)
class ConsoleTable:
    """The last table of captured output; AutoTVM's is made of its progress bars.

    Attributes
    ----------
    rows : tuple of ConsoleTask
    total_ms : float or None
        "Estimated total latency"; None where it says "-".
    trials : int or None
    used_s : float or None
    tuner : str
        Who printed it: ``"ansor"``, ``"autotvm"`` or ``"metaschedule"``.
    """

    rows: tuple[ConsoleTask, ...]
    total_ms: float | None = None
    trials: int | None = None
    used_s: float | None = None
    tuner: str = "ansor"


@dataclass(frozen=True, eq=False)
class LatencyCurve:
    """``total_latency.tsv``: R rounds (``LogEstimatedLatency``)."""

    elapsed_s: Floats
    latency_ms: Floats
    trials: Floats


@dataclass(frozen=True)
class ConsoleMessage:
    """The verbose output on one measurement."""

    number: int
    row: int
    error: int
    message: str
    glyphs: str = ""


@dataclass(frozen=True)
class TuningParts:
    """Records of one tuning, and its other files."""

    title: str
    tuner: Tuner | str
    tasks: tuple[Task, ...]
    trials: Trials
    sources: tuple[ByteSource, ...] = ()
    positions: tuple[tuple[int, int], ...] = ()
    beside: tuple[ByteSource, ...] = ()
    refused: tuple[RefusedLine, ...] = ()
    num_refused: int = 0
    undecoded: Mapping[str, int] = field(default_factory=dict)
    cut: bool = False
    dags: Mapping[str, str] = field(default_factory=dict)
    console: ConsoleTable | None = None
    latency: LatencyCurve | None = None
    messages: tuple[ConsoleMessage, ...] = ()
    glyphs: str = ""
    registered: tuple[str, ...] = ()
    issues: Issues = field(default_factory=Issues)


Tuner: TypeAlias = Literal["ansor", "autotvm", "metaschedule"]


@dataclass(frozen=True)
class Task:
    """One workload for one target; records are of the same task if both are equal.

    Attributes
    ----------
    index : int
        Place among the tasks of a log, by first appearance: ``log.tasks[index]``.
    tuner : str
        ``"ansor"``, ``"autotvm"`` or ``"metaschedule"``.
    workload : Workload
        The parsed workload key (AutoTVM: task name and arguments; MetaSchedule: structural hash).
    target : Target
    hardware : HardwareParams or None
        None where the log's version has none (Ansor v0.1, v0.2; other tuners).
    target_host : Target or None
        None where the log says nothing, or that there is none.
    layout_rewrite : int or None
        0 no rewrite, 1 insert a transform stage, 2 rewrite for pre-transformed; None where the
        version has no such field.
    input_names : tuple of str or None
        Inputs with special data (sparse tasks); None where the version has no such field.
    fields : int
        Length of the task array of the first record (2 to 6).
    """

    index: int
    tuner: Tuner
    workload: Workload
    target: Target
    hardware: HardwareParams | None = None
    target_host: Target | None = None
    layout_rewrite: int | None = None
    input_names: tuple[str, ...] | None = None
    fields: int = 0

    @property
    def workload_key(self) -> str:
        """The key as it stands in the log."""
        return self.workload.key

    @property
    def name(self) -> str:
        """A short name: ``"matmul_add 1024×1024×1024"``, or ``"05ea4bc9 [64, 16, 512, 512] …"``."""
        return self.workload.title

    def __repr__(self) -> str:
        return one_line(f"Task {self.index}: {self.name} on {self.target.kind}")


#: ``max_local_memory_per_block`` of targets where it is not checked.
UNCHECKED = 2**31 - 1
#: TVM's names of the eight parameters (``HardwareParams``, search_task.py), in the log's order.
HARDWARE_NAMES = (
    *("num_cores", "vector_unit_bytes", "cache_line_bytes", "max_shared_memory_per_block"),
    *("max_local_memory_per_block", "max_threads_per_block", "max_vthread_extent", "warp_size"),
)


@dataclass(frozen=True, repr=False)
class HardwareParams:
    """Limits a schedule must keep, in the order of the log (formats: ``hardware_params``).

    Attributes
    ----------
    num_cores : int
        Threads of the tuning process; -1 on GPUs.
    vector_unit_bytes, cache_line_bytes : int
    max_shared_memory_per_block : int
        Bytes.
    slot4 : int
        Two meanings: bytes of local memory a block may have (2147483647: unchecked), or, in logs
        written before 2020-12-05, registers a block may have; see `slot4_meaning`.
    max_threads_per_block, max_vthread_extent, warp_size : int
    """

    num_cores: int
    vector_unit_bytes: int
    cache_line_bytes: int
    max_shared_memory_per_block: int
    slot4: int
    max_threads_per_block: int
    max_vthread_extent: int
    warp_size: int

    @property
    def slot4_meaning(self) -> str:
        """``"registers"`` for 65536, which only the old meaning has on CUDA, else ``"bytes"``."""
        return "registers" if self.slot4 == 65536 else "bytes"

    @property
    def max_registers_per_block(self) -> int | None:
        """The old meaning of slot 4; None where it has the new one."""
        return self.slot4 if self.slot4_meaning == "registers" else None

    @property
    def max_local_memory_per_block(self) -> int | None:
        """The new meaning of slot 4, bytes; None where it has the old one."""
        return None if self.slot4_meaning == "registers" else self.slot4

    def to_list(self) -> list[int]:
        """The eight numbers as the log has them."""
        return list(astuple(self))

    def __repr__(self) -> str:
        is_old = self.slot4_meaning == "registers"
        names = [
            "max_registers_per_block" if is_old and name == "max_local_memory_per_block" else name
            for name in HARDWARE_NAMES
        ]
        fields = ", ".join(
            f"{name}={number}" for name, number in zip(names, self.to_list(), strict=True)
        )
        return f"HardwareParams({fields})"


#: Letters of a target with quotation marks; the longest real one has 500.
_LONGEST = 10_000


@dataclass(frozen=True)
class Target:
    """``"cuda -keys=cuda,gpu -max_num_threads=1024 -model=t4"`` in its parts.

    Attributes
    ----------
    text : str
        As in the log.
    kind : str
        ``"cuda"``, ``"llvm"``, …
    keys : tuple of str
    attrs : mapping of str to str
        All other options, as text.
    """

    text: str
    kind: str
    keys: tuple[str, ...] = ()
    attrs: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def parse(cls, text: str) -> Target:
        """Split a target string; parts that are no options stay in ``text`` alone."""
        try:
            words = shlex.split(text) if len(text) <= _LONGEST else text.split()
        except ValueError:  # a quotation mark without its partner
            words = text.split()
        kind = words[0] if words and not words[0].startswith("-") else ""
        attrs: dict[str, str] = {}
        for word in words[bool(kind) :]:
            name, _, value = word.lstrip("-").partition("=")
            if word.startswith("-") and name:
                attrs[name] = value
        keys = tuple(key for key in attrs.pop("keys", "").split(",") if key)
        return cls(text, kind, keys, attrs)

    @property
    def model(self) -> str:
        """The ``-model`` option, or ""."""
        model = self.attrs.get("model", "")
        return "" if model == "unknown" else model

    @property
    def is_gpu(self) -> bool:
        """Whether schedules bind blocks and threads."""
        return "gpu" in self.keys or self.kind in ("cuda", "rocm", "opencl", "vulkan", "metal")

    def __str__(self) -> str:
        return self.text


_HASH = re.compile(r"[0-9a-f]{32}")
_SHOWN = 48


@dataclass(frozen=True)
class Workload:
    """The computation of a task by its key.

    Attributes
    ----------
    key : str
        As in the log.
    name : str
        Function name, or the hash of the compute DAG.
    args : tuple or None
        Numbers, texts and shapes after the name; None if the key is no JSON list.
    """

    key: str
    name: str
    args: tuple[Any, ...] | None = None

    @classmethod
    def of(cls, key: str, decoded: object) -> Workload:
        """Make a workload of a key and its JSON; other values than lists count as none."""
        if isinstance(decoded, list) and decoded and isinstance(decoded[0], str):
            return cls(key, decoded[0], tuple(decoded[1:]))
        return cls(key, key)

    @property
    def is_hash(self) -> bool:
        """Whether the name is the md5 of a compute DAG, not of a function the user registered."""
        return _HASH.fullmatch(self.name) is not None

    @property
    def shapes(self) -> tuple[tuple[int, ...], ...]:
        """Shapes of inputs, then outputs; empty without any or flattened, as before 2021."""
        if self.args is None or not all(isinstance(item, list) for item in self.args):
            return ()
        nested = [item for item in self.args if all(isinstance(size, int) for size in item)]
        return tuple(map(tuple, nested)) if len(nested) == len(self.args) else ()

    @property
    def title(self) -> str:
        """A short name for tables and legends."""
        name = self.name[:8] if self.is_hash else self.name
        args = "" if self.args is None else " ".join(map(_argument, self.args))
        text = f"{name} {args}".strip()
        if len(text) <= _SHOWN:
            return text
        if self.args is None:  # names of functions often differ at their end alone
            return f"{text[: _SHOWN // 2]}…{text[1 + _SHOWN // 2 - _SHOWN :]}"
        return f"{text[: _SHOWN - 1]}…"


def _argument(value: object) -> str:
    match value:
        case ["TENSOR", list(sizes), str()]:  # as AutoTVM's serialize_args writes a placeholder
            return _argument(sizes)
        case list(sizes) if all(isinstance(size, int) for size in sizes):
            return "×".join(map(str, sizes)) or "scalar"
    return str(value)
