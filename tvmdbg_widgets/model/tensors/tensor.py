"""One tensor of a run: the stored array of one entry, read when asked for."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from tvmdbg_widgets.model.base.errors import why_unread
from tvmdbg_widgets.model.base.issues import Issues
from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.base.trust import Trust
from tvmdbg_widgets.model.tensors.array_record import ArrayRecord
from tvmdbg_widgets.model.tensors.array_values import ArrayValues
from tvmdbg_widgets.model.tensors.dequantise import dequantised
from tvmdbg_widgets.model.tensors.dtypes import DataType
from tvmdbg_widgets.model.tensors.layouts import Layout
from tvmdbg_widgets.model.tensors.readings import Reading
from tvmdbg_widgets.model.tensors.tensor_statistics import Counted
from tvmdbg_widgets.model.tensors.unfolded import Unfolded
from tvmdbg_widgets.model.tensors.windows import Selection

if TYPE_CHECKING:
    import numpy as np


#: When values were read.
Captured: TypeAlias = Literal["node", "later", "file", "unknown"]


class Tensor(Counted):
    """What one entry ``(node, output)`` held. Values are read from the file when asked for.

    Parameters
    ----------
    record
        The array as the file stores it.
    node, output
        The entry it belongs to.
    name
        Name of the node.
    trust
        How far the array is known to belong to that entry.
    notes
        Warnings of the join, shown after those of the record.
    issues
        Issues of the file that concern this tensor.
    captured
        ``"node"`` where the values were read as the node had run, ``"later"`` where after the
        whole run, when buffers had been reused; ``"file"`` for a constant that the model's file
        holds; ``"unknown"`` where nothing tells.
    """

    __slots__ = (
        "captured",
        "issues",
        "name",
        "node",
        "notes",
        "output",
        "trust",
    )

    def __init__(
        self,
        record: ArrayRecord,
        node: int,
        output: int,
        *,
        name: str,
        trust: Trust = Trust.EXACT,
        notes: Iterable[str] = (),
        issues: Issues | None = None,
        captured: Captured = "unknown",
    ) -> None:
        super().__init__(record)
        self.node = node
        self.output = output
        self.name = name
        self.trust = trust
        self.notes: tuple[str, ...] = (*record.notes, *notes)
        self.issues = Issues() if issues is None else issues
        self.captured: Captured = captured

    @property
    def key(self) -> str:
        """Name of the array in its file."""
        return self.record.key

    @property
    def dtype(self) -> DataType:
        """TVM's data type."""
        return self.record.dtype

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape as declared in the file."""
        return self.record.shape

    @property
    def view_shape(self) -> tuple[int, ...]:
        """Shape of ``numpy()``: the declared one, or ``(stored,)`` where values are left out."""
        return self.record.view_shape

    @property
    def size(self) -> int:
        """Elements declared by the shape."""
        return self.record.size

    @property
    def nbytes(self) -> int:
        """Bytes stored in the file."""
        return self.record.nbytes

    @property
    def offset(self) -> int:
        """Where the bytes start in the file."""
        return self.record.offset

    @property
    def file(self) -> str:
        """Name of the file."""
        return self.record.file

    @property
    def complete(self) -> bool:
        """Whether the file holds every declared value."""
        return self.record.complete

    @property
    def readings(self) -> tuple[Reading, ...]:
        """The readings that views offer, their default first; none where there is but one.

        ``"packed"`` and ``"bytes"`` below 8 bits, the faces of complex numbers, and
        ``"as <dtype>"`` for each meaning of an ambiguous type code.
        """
        return self.record.readings

    def values(self, reading: Reading | None = None) -> ArrayValues:
        """Return the values under a reading, to be read in windows, chunks or whole.

        Parameters
        ----------
        reading
            One of ``readings``. Default: packed below 8 bits, but bool one a byte; complex
            numbers as such.

        Raises
        ------
        ValueError
            The values cannot be read so.
        """
        return self.record.values(reading)

    def numpy(self, reading: Reading | None = None) -> np.ndarray[Any, Any]:
        """Read all values as a new array of ``view_shape``.

        Parameters
        ----------
        reading
            See ``values``.

        Raises
        ------
        FormatError
            The file changed since it was opened.
        """
        if not self.complete:
            warnings.warn(f"{self.name!r}: {'; '.join(self.notes)}", stacklevel=2)
        return self.record.numpy(reading)

    def __array__(
        self, dtype: np.dtype[Any] | None = None, copy: bool | None = None
    ) -> np.ndarray[Any, Any]:
        if copy is False:
            raise ValueError("a tensor is read from its file, so numpy cannot avoid a copy")
        array = self.numpy()
        return array if dtype is None else array.astype(dtype, copy=False)

    def raw(self) -> np.ndarray[Any, np.dtype[np.uint8]]:
        """Read the stored bytes, ``uint8[nbytes]``."""
        return self.record.raw()

    def chunks(self, nbytes: int = 1 << 19) -> Iterator[np.ndarray[Any, Any]]:
        """Yield all values in C order as 1-D arrays of at most ``nbytes`` bytes."""
        return self.record.chunks(nbytes)

    def window(self, selection: Selection, reading: Reading | None = None) -> np.ndarray[Any, Any]:
        """Read what basic indexing of ``numpy()`` would give, and little more than that.

        Parameters
        ----------
        selection
            An int, a slice with a positive step, ``...``, or a tuple of them.
        """
        return self.record.window(selection, reading)

    def __getitem__(self, selection: Selection) -> np.ndarray[Any, Any]:
        return self.window(selection)

    def unfold(
        self,
        layout: str | Layout,
        sizes: Mapping[str, int] | None = None,
        reading: Reading | None = None,
    ) -> Unfolded:
        """Return the logical array that a layout describes, without copying anything.

        ``tensor.unfold("NCHW8c")[0, 3]`` reads channel 3 of the first image.

        Parameters
        ----------
        layout
            As TVM spells them: ``"NCHW8c"``, ``"OIHW4i8o"``, ``"NHWC"``.
        sizes
            Logical sizes by letter that hide padding, ``{"C": 12}``; others show all of it.
        reading
            See ``values``.

        Raises
        ------
        ValueError
            The text is no layout, it does not fit ``view_shape``, a size is of no axis or too
            large, or the values cannot be read so.
        """
        parsed = Layout.parse(layout) if isinstance(layout, str) else layout
        return Unfolded(self.values(reading), parsed, sizes)

    def dequantised(
        self, scale: Any, zero_point: Any = 0, axis: int | None = None
    ) -> np.ndarray[Any, np.dtype[np.float64]]:
        """Return the real numbers that quantised values stand for, ``(x - zero_point) * scale``.

        In float64, which is exact here for values of up to 16 bits with a float32 scale.

        Parameters
        ----------
        scale, zero_point
            Scalars, or one number for each index of ``axis``.
        axis
            The axis of ``view_shape`` that scales and zero points belong to.

        Raises
        ------
        ValueError
            Several numbers without an axis, or not as many as the axis is long.
        """
        return dequantised(self.numpy(), scale, zero_point, axis)

    def with_dtype(self, dtype: DataType) -> Tensor:
        """Return the same bytes read as another type of the same width (ValueError if not)."""
        own = self.notes[len(self.record.notes) :]
        return Tensor(
            self.record.with_dtype(dtype),
            self.node,
            self.output,
            name=self.name,
            trust=self.trust,
            notes=own,
            issues=self.issues,
            captured=self.captured,
        )

    def __repr__(self) -> str:
        text = f"Tensor({self.name!r}, node {self.node}, output {self.output}: {self.dtype}"
        text += f"{list(self.shape)}, {counted(self.nbytes, 'byte')}"
        if self.trust is not Trust.EXACT:
            text += f", {self.trust.label}"
        text += "".join(f"; {note}" for note in self.notes)
        problem = self.record.source.trouble()
        return text + ("" if problem is None else f"; cannot be read: {why_unread(problem)}") + ")"
