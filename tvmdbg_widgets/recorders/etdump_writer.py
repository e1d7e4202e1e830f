"""Writer of ETDumps and debug buffers from recorded events."""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import ml_dtypes
import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.model.executorch.etdump import DebugTensor, DebugValue, ValueType
from tvmdbg_widgets.model.executorch.scalar_types import dense_strides, runtime_number
from tvmdbg_widgets.model.tensors.dtypes import from_numpy

_IDENTIFIER: Final = b"ED00"
_VERSION: Final = 0
_UINT64: Final = 2**64 - 1
#: Members of ``Value`` by scalar: the id, and the builder's name of the type.
_SCALARS: Final[Mapping[int, tuple[int, str]]] = {
    ValueType.INT: (3, "Int64"),
    ValueType.FLOAT: (4, "Float32"),
    ValueType.DOUBLE: (5, "Float64"),
    ValueType.BOOL: (6, "Bool"),
}


@dataclass(frozen=True, slots=True)
class RecordedEvent:
    """A profile event, or a debug event if it has a value."""

    chain_index: int
    instruction_id: int
    name: str | None = None
    delegate_debug_id: int | str | None = None
    start: int = 0
    end: int = 0
    metadata: bytes | None = None
    value: DebugValue | None = None


@dataclass(frozen=True, slots=True)
class RecordedBlock:
    """An event block (``RunData``) with its events in the order in which they ended."""

    name: str
    bundled_input_index: int = -1
    events: list[RecordedEvent] = field(default_factory=list)


def etdump_bytes(blocks: Iterable[RecordedBlock]) -> bytes:
    """Return a size-prefixed ETDump with the identifier ``ED00``."""
    writer = _FlatBufferWriter()
    runs = [writer.block(block) for block in blocks]
    return writer.finished(
        writer.table((0, "Uint32", _VERSION, 0), (1, _REF, writer.references(runs), 0))
    )


_REF: Final = "UOffsetTRelative"


class _FlatBufferWriter:
    """Tables of the schema; children are written before their parents."""

    def __init__(self) -> None:
        try:
            flatbuffers = importlib.import_module("flatbuffers")
        except ImportError as error:
            raise ImportError(
                "writing an ETDump needs flatbuffers, which is not installed: "
                "pip install flatbuffers"
            ) from error
        self._builder: Any = flatbuffers.Builder(1024)

    def finished(self, root: int) -> bytes:
        self._builder.FinishSizePrefixed(root, _IDENTIFIER)
        return bytes(self._builder.Output())

    def table(self, *members: tuple[int, str, Any, Any]) -> int:
        """Write a table of members as id, type, value and default."""
        self._builder.StartObject(max(id_ for id_, _, _, _ in members) + 1)
        for id_, type_, value, default in members:
            getattr(self._builder, f"Prepend{type_}Slot")(id_, value, default)
        return int(self._builder.EndObject())

    def references(self, offsets: Sequence[int]) -> int:
        self._builder.StartVector(4, len(offsets), 4)
        for offset in reversed(offsets):
            self._builder.PrependUOffsetTRelative(offset)
        return int(self._builder.EndVector())

    def block(self, block: RecordedBlock) -> int:
        name = self._text(block.name)
        events = [self._event(event) for event in block.events]
        index = (1, "Int32", block.bundled_input_index, -1)
        # Without any event the runtime begins no vector of them.
        events_at = self.references(events) if events else 0
        return self.table((0, _REF, name, 0), index, (3, _REF, events_at, 0))

    def _event(self, event: RecordedEvent) -> int:
        if event.value is not None:
            return self.table((2, _REF, self._debug_event(event, event.value), 0))
        return self.table((0, _REF, self._profile_event(event), 0))

    def _profile_event(self, event: RecordedEvent) -> int:
        name = self._text(event.name)
        number, text = self._delegate_id(event)
        metadata = 0 if event.metadata is None else self._builder.CreateByteVector(event.metadata)
        return self.table(
            (0, _REF, name, 0),
            (1, "Int32", event.chain_index, 0),
            (2, "Int32", event.instruction_id, -1),
            (3, "Int32", number, -1),
            (4, _REF, text, 0),
            (5, _REF, metadata, 0),
            (6, "Uint64", event.start, 0),
            (7, "Uint64", event.end, 0),
        )

    def _debug_event(self, event: RecordedEvent, value: DebugValue) -> int:
        number, text = self._delegate_id(event)
        entry = self._value(value)
        return self.table(
            (0, "Uint64", event.chain_index & _UINT64, 0),
            (1, "Int32", event.instruction_id, -1),
            (2, _REF, entry, 0),
            (3, "Int32", number, -1),
            (4, _REF, text, 0),
        )

    def _delegate_id(self, event: RecordedEvent) -> tuple[int, int]:
        """Return the number (-1 for none) and the offset of the text (0 for none)."""
        if isinstance(event.delegate_debug_id, int):
            return event.delegate_debug_id, 0
        return -1, self._text(event.delegate_debug_id)

    def _value(self, value: DebugValue) -> int:
        if value.type in _SCALARS:
            member, type_ = _SCALARS[value.type]
            held = self.table((0, type_, value.value, 0))
        elif isinstance(value.value, DebugTensor):
            member, held = 1, self._tensor(value.value)
        elif isinstance(value.value, tuple):
            tensors = self.references([self._tensor(tensor) for tensor in value.value])
            member, held = 2, self.table((0, _REF, tensors, 0))
        else:
            raise TypeError(f"there is no value of type {value.type} to write")
        output = 0 if value.output is None else self.table((0, "Bool", value.output, 0))
        return self.table((0, "Int8", value.type, 0), (member, _REF, held, 0), (7, _REF, output, 0))

    def _tensor(self, tensor: DebugTensor) -> int:
        sizes, strides = self._longs(tensor.sizes), self._longs(tensor.strides)
        return self.table(
            (0, "Int8", tensor.scalar_type, 0),
            (1, _REF, sizes, 0),
            (2, _REF, strides, 0),
            (3, "Int64", tensor.offset, 0),
        )

    def _longs(self, numbers: Sequence[int]) -> int:
        self._builder.StartVector(8, len(numbers), 8)
        for number in reversed(numbers):
            self._builder.PrependInt64(number)
        return int(self._builder.EndVector())

    def _text(self, text: str | None) -> int:
        return 0 if text is None else int(self._builder.CreateString(text))


_ALIGNMENT: Final = 64
_INT64: Final = range(-(2**63), 2**63)


class DebugBufferWriter:
    """Bytes of logged tensors, each from a multiple of 64 on, as ``BufferDataSink``."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self.size = 0

    def add(self, value: Any, *, output: bool | None = None) -> DebugValue:
        """Add the bytes of a value and return its entry in a debug event."""
        if isinstance(value, bool | np.bool_):
            return DebugValue(ValueType.BOOL, bool(value), output)
        if isinstance(value, int | np.integer):
            if int(value) not in _INT64:
                raise ValueError(f"an ETDump has ints of 64 bits, found {value!s:.40}")
            return DebugValue(ValueType.INT, int(value), output)
        if isinstance(value, float | np.floating):
            return DebugValue(ValueType.DOUBLE, float(value), output)
        if isinstance(value, list | tuple) and all(hasattr(item, "shape") for item in value):
            typed = [_typed(item) for item in value]
            tensors = tuple(self._append(*item) for item in typed)
            return DebugValue(ValueType.TENSOR_LIST, tensors, output)
        return DebugValue(ValueType.TENSOR, self._append(*_typed(value)), output)

    def to_bytes(self) -> bytes:
        """Return the content of the file."""
        return b"".join(self._parts)

    def _append(self, array: npt.NDArray[Any], number: int) -> DebugTensor:
        sizes, strides = array.shape, dense_strides(array.shape)
        if not array.size:
            return DebugTensor(number, sizes, strides, -1)
        padding = -self.size % _ALIGNMENT
        offset = self.size + padding
        self._parts += [bytes(padding), array.tobytes()]
        self.size = offset + array.nbytes
        return DebugTensor(number, sizes, strides, offset)


def _typed(value: Any) -> tuple[npt.NDArray[Any], int]:
    """Return an array, little endian, and the number of its type."""
    array = _array(value)
    try:
        number = runtime_number(from_numpy(array.dtype))
    except ValueError:
        number = None
    if number is None:
        raise TypeError(
            "a logged value is a bool, an int, a float, an array or a list of arrays; an ETDump "
            f"has no type for {type(value).__name__} of {array.dtype}"
        )
    return array.astype(array.dtype.newbyteorder("<"), copy=False), number


def _array(value: Any) -> npt.NDArray[Any]:
    if hasattr(value, "detach"):  # a tensor of torch, with its gradients and on its device
        value = value.detach().cpu()
        if str(value.dtype) == "torch.bfloat16":  # which numpy does not know
            bits = value.contiguous().view(importlib.import_module("torch").int16)
            return np.asarray(bits.numpy()).view(ml_dtypes.bfloat16)
    return np.asarray(value)
