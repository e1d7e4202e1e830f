"""What a file of named data (``.ptd``) holds: weights that stand outside of a program."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

from tvmdbg_widgets.model.base.choice import meant
from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.executorch.scalar_types import RUNTIME, runtime_dtype
from tvmdbg_widgets.model.tensors.dtypes import DataType


class TensorLayout(NamedTuple):
    """Number of the element type, sizes, and dimensions from the outermost to the innermost."""

    scalar_type: int
    sizes: tuple[int, ...]
    dim_order: tuple[int, ...]

    @property
    def nbytes(self) -> int:
        """Bytes of a dense tensor of this layout, 0 where the element type is unknown."""
        dtype = runtime_dtype(self.scalar_type)
        return 0 if dtype is None else math.prod(self.sizes) * dtype.itemsize


@dataclass(frozen=True, slots=True)
class NamedTensor:
    """A tensor, or bytes that are none, by name."""

    name: str
    offset: int
    nbytes: int
    layout: TensorLayout | None

    @property
    def dtype(self) -> DataType | None:
        """Element type, None where it is unknown or the bytes are no tensor."""
        return None if self.layout is None else runtime_dtype(self.layout.scalar_type)

    def __repr__(self) -> str:
        told = counted(self.nbytes, "byte")
        if self.layout is not None:
            number = self.layout.scalar_type
            told = f"{RUNTIME.get(number, (f'type {number}',))[0]} {list(self.layout.sizes)}"
        return f"<NamedTensor {self.name!r} {told}>"


@dataclass(frozen=True, slots=True)
class FlatTensor:
    """A file of named data; `tensors` are in the order of the file."""

    file: str
    version: int
    tensors: tuple[NamedTensor, ...]

    def tensor(self, name: str) -> NamedTensor:
        """Return the tensor of a name."""
        for tensor in self.tensors:
            if tensor.name == name:
                return tensor
        known = meant(name, [tensor.name for tensor in self.tensors])
        raise KeyError(f"no tensor {name!r:.200} in {self.file}{known}")
