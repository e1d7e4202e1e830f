"""The contents of a program file (``.pte``), after ``schema/program.fbs`` @ v1.4.1."""

from __future__ import annotations

import codecs
import enum
import math
from collections import Counter
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.base.slips import meant
from tvmdbg_widgets.model.base.text import listed
from tvmdbg_widgets.model.executorch.program_instructions import Chain, kind_of
from tvmdbg_widgets.model.executorch.scalar_types import RUNTIME, dense_strides, runtime_dtype
from tvmdbg_widgets.model.tensors.dtypes import DataType

_UTF8 = codecs.getincrementaldecoder("utf-8")


class FileSpan(NamedTuple):
    """A byte range of the file."""

    offset: int
    size: int


@dataclass(frozen=True, slots=True)
class ProgramHeader:
    """The extended header (``schema/extended_header.h`` @ v1.4.1)."""

    length: int
    program_size: int
    segment_base_offset: int
    segment_data_size: int | None


class Subsegments(NamedTuple):
    """Starts of tensors in one segment, by ``data_buffer_idx``; item 0 is reserved."""

    segment_index: int
    offsets: tuple[int, ...]


class NamedData(NamedTuple):
    """A segment that delegates ask for by a key."""

    key: str
    segment_index: int


class OperatorName(NamedTuple):
    """An operator by name (``aten::add``) and overload, which is empty for the default one."""

    name: str
    overload: str

    @property
    def full_name(self) -> str:
        """As in ``aten.add.out``; the default overload is left out, as ETDumps do."""
        return ".".join(filter(None, (self.name.replace("::", "."), self.overload)))


class CompileSpec(NamedTuple):
    """An option of a backend with bytes in its own encoding."""

    key: str
    value: bytes

    def text(self, most: int = 1000) -> str:
        """Return the value as printable text, else its length and bytes in hex."""
        # Specs are shown for every delegate call: of long ones only the start is checked.
        head = self.value[: 4 * most]
        try:
            text = _UTF8().decode(head, final=len(head) == len(self.value)).removesuffix("\0")
        except UnicodeDecodeError:
            text = ""
        if text and text.isprintable():
            if len(text) <= most and len(head) == len(self.value):
                return text
            return f"{text[:most]}… ({counted(len(self.value), 'byte')})"
        shown = self.value[:64]
        more = " …" if len(self.value) > len(shown) else ""
        return (
            f"{counted(len(self.value), 'byte')}: {shown.hex(' ')}{more}" if self.value else "empty"
        )


class DataLocation(enum.IntEnum):
    """``DataLocation``: whether a delegate's payload is in the program or in a segment."""

    INLINE = 0
    SEGMENT = 1


@dataclass(frozen=True, slots=True)
class Delegate:
    """A lowered part of a method.

    Attributes
    ----------
    id : str
        Of the backend, such as ``XnnpackBackend``.
    compile_specs : tuple of CompileSpec
    location : int
        :class:`DataLocation` of the payload.
    index : int
        Of the inline data or the segment.
    payload : Span
        Its bytes in the file.
    """

    id: str
    compile_specs: tuple[CompileSpec, ...]
    location: int
    index: int
    payload: FileSpan

    def __repr__(self) -> str:
        return f"<Delegate {self.id!r}, payload of {counted(self.payload.size, 'byte')}>"


class BufferDevice(NamedTuple):
    """The device of a planned buffer; unlisted ones lie in CPU memory."""

    buffer_idx: int
    device_type: int
    device_index: int


@dataclass(frozen=True, eq=False, slots=True)
class Plan:
    """A method: values, and instructions over them.

    Attributes
    ----------
    name : str
    encoded_inputs, encoded_outputs : str
        Pytree specifications as JSON, empty where the file has none.
    values : tuple of Value
    inputs, outputs : tuple of int
        Indexes of values.
    chains : tuple of Chain
    operators : tuple of Operator
    delegates : tuple of Delegate
    buffer_sizes : tuple of int
        Bytes of planned memory by ``memory_id``; item 0 is reserved.
    buffer_devices : tuple of BufferDevice
    """

    name: str
    encoded_inputs: str
    encoded_outputs: str
    values: tuple[Value, ...]
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    chains: tuple[Chain, ...]
    operators: tuple[OperatorName, ...]
    delegates: tuple[Delegate, ...]
    buffer_sizes: tuple[int, ...]
    buffer_devices: tuple[BufferDevice, ...]

    def __repr__(self) -> str:
        calls = Counter(kind_of(step) for chain in self.chains for step in chain.instructions)
        kinds = ", ".join(f"{count} {kind}" for kind, count in calls.items()) or "no instructions"
        backends = listed(sorted({delegate.id for delegate in self.delegates}))
        return (
            f"<Plan {self.name!r}: {kinds}; {counted(len(self.values), 'value')}, "
            f"{counted(len(self.inputs), 'input')}, "
            f"{counted(len(self.outputs), 'output')}, {counted(sum(self.buffer_sizes), 'byte')} "
            f"planned{f'; delegates to {backends}' if backends else ''}>"
        )


@dataclass(frozen=True, eq=False, slots=True)
class Program:
    """A program as read; segments stay in the file.

    Attributes
    ----------
    file : str
    file_size : int
        In bytes.
    version : int
    header : ProgramHeader or None
        None where no segment holds a byte.
    plans : tuple of Plan
        One for each method.
    segments : tuple of Span
        In the file.
    constant_buffer : tuple of Span
        Constants as files before 0.4 hold them.
    constants : Subsegments or None
    mutable_data : tuple of Subsegments
        Start values of mutable buffers.
    inline_data : tuple of Span
        Payloads of delegates that stand in the program.
    named_data : tuple of NamedData
    """

    file: str
    file_size: int
    version: int
    header: ProgramHeader | None
    plans: tuple[Plan, ...]
    segments: tuple[FileSpan, ...]
    constant_buffer: tuple[FileSpan, ...]
    constants: Subsegments | None
    mutable_data: tuple[Subsegments, ...]
    inline_data: tuple[FileSpan, ...]
    named_data: tuple[NamedData, ...]

    @property
    def methods(self) -> tuple[str, ...]:
        """Names of the methods, in the order of the file."""
        return tuple(plan.name for plan in self.plans)

    def plan(self, method: str = "forward") -> Plan:
        """Return the plan of a method.

        Raises
        ------
        KeyError
            There is no such method; tells which there are.
        """
        for plan in self.plans:
            if plan.name == method:
                return plan
        raise KeyError(f"no method {method!r:.200}{meant(method, self.methods)}")

    def data_of(self, tensor: TensorValue) -> FileSpan | None:
        """Return where the file holds a tensor's constant data or its start value.

        None where it holds none, and where the element type is unknown
        (``runtime/executor/tensor_parser_exec_aten.cpp`` @ v1.4.1, ``getTensorDataPtr``).
        """
        index, size = tensor.data_buffer_idx, tensor.nbytes
        if tensor.is_external or index == 0 or size is None:
            return None
        if tensor.allocation is not None:
            return self._in_segment(self.mutable_data[0], index, size)
        if self.constants is None or not self.constants.offsets:
            return FileSpan(self.constant_buffer[index].offset, size)
        return self._in_segment(self.constants, index, size)

    def _in_segment(self, part: Subsegments, index: int, size: int) -> FileSpan:
        return FileSpan(self.segments[part.segment_index].offset + part.offsets[index], size)

    def __repr__(self) -> str:
        lines = [f"Program({self.file!r}, {counted(self.file_size, 'byte')})"]
        lines += [f"  {plan!r}" for plan in self.plans]
        return "\n".join(lines)


@dataclass(frozen=True, eq=False, slots=True)
class BundledProgram:
    """A program with inputs to test it on (``.bpte``)."""

    program: Program
    offset: int


class ValueKind(enum.IntEnum):
    """``KernelTypes`` of ``schema/program.fbs`` @ v1.4.1."""

    NONE = 0
    NULL = 1
    INT = 2
    BOOL = 3
    DOUBLE = 4
    TENSOR = 5
    STRING = 6
    INT_LIST = 7
    DOUBLE_LIST = 8
    BOOL_LIST = 9
    TENSOR_LIST = 10
    OPTIONAL_TENSOR_LIST = 11


#: Lists whose items are indexes of values.
VALUE_LISTS = (ValueKind.INT_LIST, ValueKind.TENSOR_LIST, ValueKind.OPTIONAL_TENSOR_LIST)


class ShapeDynamism(enum.IntEnum):
    """``TensorShapeDynamism``: whether sizes are fixed, upper bounds, or unknown."""

    STATIC = 0
    DYNAMIC_BOUND = 1
    DYNAMIC_UNBOUND = 2


class TensorLocation(enum.IntEnum):
    """``TensorDataLocation``: whether a tensor's data are in the program or in a ``.ptd``."""

    SEGMENT = 0
    EXTERNAL = 1


@dataclass(frozen=True, slots=True)
class PlannedPlace:
    """A place in planned memory."""

    memory_id: int
    offset: int


@dataclass(frozen=True, slots=True)
class ExtraTensorInfo:
    """Additional fields of some tensors from 0.4 on."""

    mutable_data_segments_idx: int
    fully_qualified_name: str
    location: int
    device_type: int
    device_index: int


@dataclass(frozen=True, slots=True)
class TensorValue:
    """A tensor as the program declares it."""

    scalar_type: int
    sizes: tuple[int, ...]
    dim_order: tuple[int, ...]
    storage_offset: int
    requires_grad: bool
    data_buffer_idx: int
    allocation: PlannedPlace | None
    layout: int
    shape_dynamism: int
    extra: ExtraTensorInfo | None

    @property
    def dtype(self) -> DataType | None:
        """Element type, or None."""
        return runtime_dtype(self.scalar_type)

    @property
    def nbytes(self) -> int | None:
        """Size of a dense tensor in bytes, None for unknown element types."""
        dtype = self.dtype
        if dtype is None or self.shape_dynamism == ShapeDynamism.DYNAMIC_UNBOUND:
            return None
        return math.prod(self.sizes) * dtype.itemsize

    @property
    def strides(self) -> tuple[int, ...]:
        """Strides in elements of a dense tensor in this dim order, the innermost being 1."""
        return dense_strides(self.sizes, self.dim_order)

    @property
    def is_external(self) -> bool:
        """Whether a ``.ptd`` holds its data, under :attr:`name`."""
        return self.extra is not None and self.extra.location == TensorLocation.EXTERNAL

    @property
    def is_constant(self) -> bool:
        """Whether its data come from a file and never change."""
        return self.allocation is None and (self.is_external or self.data_buffer_idx > 0)

    @property
    def name(self) -> str:
        """Fully qualified name, empty where the file has none."""
        return "" if self.extra is None else self.extra.fully_qualified_name

    def __repr__(self) -> str:
        type_name = RUNTIME.get(self.scalar_type, (f"type {self.scalar_type}",))[0]
        sizes = "×".join(map(str, self.sizes)) or "scalar"
        where = "given at run time"
        if self.is_external:
            where = f"external {self.name!r}"
        elif self.is_constant:
            where = f"constant {self.data_buffer_idx}"
        elif self.allocation is not None:
            where = f"memory {self.allocation.memory_id} at {self.allocation.offset:,}"
        return f"<TensorValue {type_name} {sizes}, {where}>"


@dataclass(frozen=True, slots=True)
class ScalarValue:
    """An Int, Bool, Double or String; instructions may overwrite the first three."""

    kind: ValueKind
    value: int | float | bool | str


@dataclass(frozen=True, slots=True)
class ListValue:
    """A list of any kind."""

    kind: ValueKind
    items: tuple[int | float | bool, ...]

    @property
    def value_indexes(self) -> tuple[int, ...]:
        """Indexes of the values in the list without None; empty for literal lists."""
        if self.kind not in VALUE_LISTS:
            return ()
        return tuple(int(item) for item in self.items if item >= 0)


@dataclass(frozen=True, slots=True)
class NoValue:
    """None (kind 1), or a value of an unknown kind (its number)."""

    kind: int


Value: TypeAlias = TensorValue | ScalarValue | ListValue | NoValue
