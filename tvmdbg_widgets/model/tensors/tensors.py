"""The tensors of a run: one stored array per entry of the graph."""

from __future__ import annotations

import warnings
from collections.abc import Callable, ItemsView, Iterable, Iterator, Mapping, ValuesView
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeGuard

from tvmdbg_widgets.model.base.numbers import Trust, counted
from tvmdbg_widgets.model.base.slips import meant, public_class
from tvmdbg_widgets.model.base.text import Issues, data_frame, more_text, one_line, why_unread
from tvmdbg_widgets.model.tensors.array_record import ArrayRecord, Counted
from tvmdbg_widgets.model.tensors.dtypes import DataType
from tvmdbg_widgets.model.tensors.layouts import Layout, dequantized
from tvmdbg_widgets.model.tensors.planes import ArrayValues, Reading
from tvmdbg_widgets.model.tensors.values import Selection, Unfolded

if TYPE_CHECKING:
    import numpy as np


__all__ = ["ArrayRecord", "Captured", "Tensor", "TensorKey", "Tensors"]

TensorKey: TypeAlias = tuple[int, int] | int | str | tuple[str, int]

_LINES_SHOWN = 20
Captured: TypeAlias = Literal["node", "later", "file", "unknown"]


@public_class
class Tensor(Counted):
    """The tensor of one entry ``(node, output)``. Values are read from the file on demand.

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

    __slots__ = ("captured", "issues", "name", "node", "notes", "output", "trust")

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
        """Offset of the bytes in the file."""
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
        """The readings that views offer, default first; empty if there is only one.

        ``"packed"`` and ``"bytes"`` below 8 bits, the faces of complex numbers, and
        ``"as <dtype>"`` for meanings of an ambiguous type code.
        """
        return self.record.readings

    def values(self, reading: Reading | None = None) -> ArrayValues:
        """Return the values under a reading, to be read in windows, chunks or completely.

        Parameters
        ----------
        reading
            One of ``readings``. Default: packed below 8 bits, but bool one per byte; complex
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
            warnings.warn(f"{self.name!r}: {'; '.join(self.notes)}", stacklevel=3)
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

    def dequantized(
        self, scale: Any, zero_point: Any = 0, axis: int | None = None
    ) -> np.ndarray[Any, np.dtype[np.float64]]:
        """Return the real numbers of quantised values, ``(x - zero_point) * scale``.

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
        return dequantized(self.numpy(), scale, zero_point, axis)

    dequantised = dequantized

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
        return f"Tensor({self.name!r}, node {self.node}, output {self.output}: {_facts(self)})"


@public_class
class Tensors(Mapping[tuple[int, int], Tensor]):
    """The tensors of a run by entry, in node order.

    ``tensors[12, 1]`` is output 1 of node 12, ``tensors[12]`` its output 0, ``tensors["conv"]``
    and ``tensors["conv", 1]`` the same by node name.

    Parameters
    ----------
    tensors
        At most one per entry; a later one of the same entry replaces an earlier one.
    """

    def __init__(self, tensors: Iterable[Tensor] = ()) -> None:
        by_entry = {(tensor.node, tensor.output): tensor for tensor in tensors}
        self._items = {entry: by_entry[entry] for entry in sorted(by_entry)}
        self._graph: Any = None
        self._title: Callable[[Tensor, Any], str] = _title_by_name

    def titled(self, title: Callable[[Tensor, Any], str], graph: object) -> Tensors:
        """Return the same tensors, listed by titles that a graph gives them."""
        if graph is self._graph:
            return self
        tensors = Tensors(self._items.values())
        tensors._graph, tensors._title = graph, title
        return tensors

    @cached_property
    def _nodes(self) -> dict[str, tuple[int, ...]]:
        nodes: dict[str, dict[int, None]] = {}
        for (node, _), tensor in self._items.items():
            nodes.setdefault(tensor.name, {})[node] = None
        return {name: tuple(ids) for name, ids in nodes.items()}

    @property
    def names(self) -> tuple[str, ...]:
        """Distinct names of nodes with tensors, in node order."""
        return tuple(self._nodes)

    def __getitem__(self, key: TensorKey) -> Tensor:
        if _is_entry(key) and (held := self._items.get(key)) is not None:
            return held
        item, output = key if isinstance(key, tuple) and len(key) == 2 else (key, 0)
        if not _is_number(output) or not (isinstance(item, str) or _is_number(item)):
            raise KeyError(f"{key!r} is no node id, name, (node id, output) or (name, output)")
        node = self._node(item) if isinstance(item, str) else item
        tensor = self._items.get((node, output))
        if tensor is None:
            raise KeyError(self._missing(node, output))
        return tensor

    def _missing(self, node: int, output: int) -> str:
        outputs = [j for i, j in self._items if i == node]
        if outputs:
            return f"node {node} has no tensor of output {output}; its outputs are {outputs}"
        ids = sorted({node for node, _ in self._items})
        if not ids:
            return f"no tensor of node {node}; there are none"
        some = ", not all of them" if len(ids) <= ids[-1] - ids[0] else ""
        return f"no node {node} with a tensor; ids are {ids[0]} to {ids[-1]}{some}"

    def _node(self, name: str) -> int:
        nodes = self._nodes.get(name, ())
        if len(nodes) > 1:
            raise KeyError(
                f"{counted(len(nodes), 'node')} are named {name!r}; take one by id: {nodes}"
            )
        if not nodes:
            raise KeyError(f"no tensor of a node named {name!r:.200}{meant(name, self._nodes)}")
        return nodes[0]

    def __contains__(self, key: object) -> bool:
        if _is_entry(key):
            return key in self._items
        try:
            self[key]  # type: ignore[index]
        except KeyError:
            return False
        return True

    def __iter__(self) -> Iterator[tuple[int, int]]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def items(self) -> ItemsView[tuple[int, int], Tensor]:
        """Entries with their tensors."""
        return self._items.items()

    def values(self) -> ValuesView[Tensor]:
        """The tensors."""
        return self._items.values()

    def to_dataframe(self) -> Any:
        """Return one row per tensor as a ``pandas.DataFrame`` (headers only, no values read)."""
        items = list(self._items.values())
        return data_frame(
            {
                "node": [t.node for t in items],
                "output": [t.output for t in items],
                "name": [t.name for t in items],
                "dtype": [t.dtype.name for t in items],
                "shape": [t.shape for t in items],
                "nbytes": [t.nbytes for t in items],
                "trust": [t.trust.label for t in items],
                "notes": ["; ".join(t.notes) for t in items],
            }
        )

    def __repr__(self) -> str:
        items = list(self._items.values())
        total = sum(tensor.nbytes for tensor in items)
        nodes = len({node for node, _ in self._items})
        lines = [f"Tensors: {len(items)} of {counted(nodes, 'node')}, {counted(total, 'byte')}"]
        shown = items[:_LINES_SHOWN]
        lines += [f"{one_line(self._title(each, self._graph))}: {_facts(each)}" for each in shown]
        return "\n  ".join([*lines, *more_text(len(items), _LINES_SHOWN)])


def _facts(tensor: Tensor) -> str:
    """Return type, size and notes: ``"float32[1, 8], 32 bytes, by order"``."""
    text = f"{tensor.dtype}{list(tensor.shape)}, {counted(tensor.nbytes, 'byte')}"
    if tensor.trust is not Trust.EXACT:
        text += f", {tensor.trust.label}"
    text += "".join(f"; {note}" for note in tensor.notes)
    problem = tensor.record.source.trouble()
    return text + ("" if problem is None else f"; cannot be read: {why_unread(problem)}")


def _title_by_name(tensor: Tensor, _graph: object) -> str:
    return f"#{tensor.node}{f':{tensor.output}' if tensor.output else ''} {tensor.name}"


def _is_number(value: object) -> bool:
    return hasattr(value, "__index__") and type(value).__name__ not in ("bool", "bool_")


def _is_entry(key: object) -> TypeGuard[tuple[int, int]]:
    return type(key) is tuple and len(key) == 2 and type(key[0]) is int and type(key[1]) is int
