"""ExecuTorch's numbers for element types, tensors of named data and of ``torch.save``.

``devtools/etdump/scalar_type.fbs`` and ``schema/scalar_type.fbs`` @ v1.4.1 (ETDump, ``.pte``,
``.ptd``); ``exir/serde/schema.py`` @ v1.4.1 (programs in an ETRecord).
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.tensors.dtypes import DataType
from tvmdbg_widgets.sources.byte_source import ByteSource, BytesSource
from tvmdbg_widgets.sources.strided import StridedSource, byte_steps

_FILE: Final = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
#: Name and data type by number in the runtime's files; ``""`` without a numpy type.
RUNTIME: Final[Mapping[int, tuple[str, str]]] = {
    int(number): tuple(names) for number, names in _FILE["runtime"].items()
}
#: Data type by number in exported programs of an ETRecord.
EXPORTED: Final[Mapping[int, str]] = {
    int(number): name for number, name in _FILE["exported"].items()
}


def runtime_dtype(number: int) -> DataType | None:
    """Return the data type of a runtime number (ETDump, ``.pte``), or None."""
    known = RUNTIME.get(number)
    return DataType.parse(known[1]) if known and known[1] else None


def exported_dtype(number: int) -> DataType | None:
    """Return the data type of a number in an exported program, or None."""
    known = EXPORTED.get(number)
    return None if known is None else DataType.parse(known)


#: Numbers to write: quantized and raw types share their numpy types, complex ones are in no schema.
_WRITTEN: Final[Mapping[DataType, int]] = {
    DataType.parse(name): number
    for number, (label, name) in RUNTIME.items()
    if name and not label.startswith(("Q", "BITS", "COMPLEX"))
}


def runtime_number(dtype: DataType) -> int | None:
    """Return an ETDump's number of a data type, or None."""
    return _WRITTEN.get(dtype)


def dense_strides(sizes: Sequence[int], order: Sequence[int] | None = None) -> tuple[int, ...]:
    """Return strides in elements, dimensions in C order or the given one, the innermost being 1."""
    strides, step = [1] * len(sizes), 1
    for dim in reversed(range(len(sizes)) if order is None else order):
        strides[dim] = step
        step *= max(1, sizes[dim])
    return tuple(strides)


class TensorLayout(NamedTuple):
    """Number of the element type, sizes, and dimensions from the outermost to the innermost."""

    scalar_type: int
    sizes: tuple[int, ...]
    dim_order: tuple[int, ...]

    @property
    def nbytes(self) -> int:
        """Size of a dense tensor in bytes, 0 for unknown element types."""
        dtype = runtime_dtype(self.scalar_type)
        return 0 if dtype is None else math.prod(self.sizes) * dtype.itemsize


@dataclass(frozen=True, slots=True)
class NamedTensor:
    """A tensor, or other bytes, by name."""

    name: str
    offset: int
    nbytes: int
    layout: TensorLayout | None

    @property
    def dtype(self) -> DataType | None:
        """Element type, or None."""
        return None if self.layout is None else runtime_dtype(self.layout.scalar_type)

    def __repr__(self) -> str:
        content = counted(self.nbytes, "byte")
        if self.layout is not None:
            number = self.layout.scalar_type
            content = f"{RUNTIME.get(number, (f'type {number}',))[0]} {list(self.layout.sizes)}"
        return f"<NamedTensor {self.name!r} {content}>"


@dataclass(frozen=True, slots=True)
class FlatTensor:
    """A file of named data; `tensors` are in the order of the file."""

    file: str
    version: int
    tensors: tuple[NamedTensor, ...]


#: As many as numpy knows in all its releases.
MOST_DIMENSIONS = 32
_MOST_UNFOLDED = 1 << 30


@dataclass(frozen=True, eq=False, slots=True)
class TorchTensor:
    """One tensor."""

    dtype: DataType
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int
    storage: ByteSource
    big_endian: bool = False

    def __post_init__(self) -> None:
        self._numpy_dtype()
        if len(self.shape) != len(self.strides) or len(self.shape) > MOST_DIMENSIONS:
            raise ValueError(
                f"{counted(len(self.shape), 'size')} and {counted(len(self.strides), 'stride')}; "
                f"at most {MOST_DIMENSIONS} of both are read"
            )
        if min((self.offset, *self.shape, *self.strides)) < 0:
            raise ValueError("a size, a stride or the offset is negative")
        if math.prod(filter(None, self.shape)) * self._itemsize >> 63:
            raise ValueError("its sizes are larger than any array's")
        if self.nbytes > max(self.storage.size, _MOST_UNFOLDED):
            raise ValueError(
                f"it unfolds from {self.storage.size:,} to {counted(self.nbytes, 'byte')}"
            )
        end = (self.offset + self._span) * self._itemsize
        if self._span and end > self.storage.size:
            raise ValueError(f"it reaches to byte {end:,} of {self.storage.size:,} in its storage")

    @property
    def nbytes(self) -> int:
        """Size of the expanded values in bytes."""
        return math.prod(self.shape) * self._itemsize

    def numpy(self) -> npt.NDArray[Any]:
        """Read the values."""
        steps = byte_steps(self.shape, self.strides, self._itemsize)
        return np.lib.stride_tricks.as_strided(self._flat(), self.shape, steps, writeable=False)

    def source(self) -> StridedSource:
        """Return the values as little-endian bytes in C order, converted on demand."""
        stored, offset = self.storage, self.offset * self._itemsize
        if self.big_endian:
            stored, offset = BytesSource(self._stretch(), stored.name), 0
        return StridedSource(stored, offset, self.shape, self.strides, self._itemsize)

    def _stretch(self) -> bytes:
        """Read the storage between the first and last value of the view, little endian."""
        kind, size = self._numpy_dtype(), self._itemsize
        data = self.storage.read(self.offset * size, self._span * size)
        if not self.big_endian:
            return data
        number = size // 2 if kind.kind == "c" else size
        return np.frombuffer(data, np.uint8).reshape(-1, number)[:, ::-1].tobytes()

    def _flat(self) -> npt.NDArray[Any]:
        kind = self._numpy_dtype()
        if not self._span:
            return np.zeros(0, kind)
        data = self._stretch()
        if self.dtype.is_bool:
            return np.frombuffer(data, np.uint8).astype(np.bool_)
        return np.frombuffer(data, kind)

    def __array__(
        self, dtype: npt.DTypeLike | None = None, copy: bool | None = None
    ) -> npt.NDArray[Any]:
        values = self.numpy()
        return values.astype(values.dtype if dtype is None else dtype, copy=bool(copy))

    def _numpy_dtype(self) -> np.dtype[Any]:
        dtype = self.dtype.numpy_dtype
        if dtype is None:
            raise ValueError(f"values of type {self.dtype} cannot be read")
        return dtype

    @property
    def _itemsize(self) -> int:
        return self.dtype.itemsize

    @property
    def _span(self) -> int:
        """Number of storage elements from the first to the last of the view."""
        if 0 in self.shape:
            return 0
        return 1 + sum((n - 1) * s for n, s in zip(self.shape, self.strides, strict=True))

    def __repr__(self) -> str:
        return f"TorchTensor({self.dtype}, {self.shape})"
