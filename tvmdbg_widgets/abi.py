"""Structs that compiled code and TVM's runtime share, byte by byte.

>>> from tvmdbg_widgets import abi
>>> view = abi.struct("DLTensor", "narrow", "wide")
>>> [layout.size for layout in view.structs]
[48, 56]
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tvmdbg_widgets.model.base.slips import lazily, public, public_class

if TYPE_CHECKING:
    from tvmdbg_widgets.analysis.abi.decoding import Decoding
    from tvmdbg_widgets.analysis.abi.layout_changes import IrLayout
    from tvmdbg_widgets.analysis.abi.source_check import SourceCheck
    from tvmdbg_widgets.figures.raster import Figure
    from tvmdbg_widgets.formats.hexdump import HexDump
    from tvmdbg_widgets.model.dtype_layout import DTypeLayout
    from tvmdbg_widgets.model.struct_layout import STRUCTS, ByteOrder, Machine, StructLayout
    from tvmdbg_widgets.sources.byte_source import ByteSource

_LAZY = {
    "STRUCTS": "model.struct_layout",
    "DTypeLayout": "model.dtype_layout",
    "Machine": "model.struct_layout",
}

__all__ = [
    "STRUCTS",
    "DTypeLayout",
    "Machine",
    "StructView",
    "assertions",
    "check",
    "decode",
    "layout_of_ir",
    "struct",
]


@public_class
@dataclass(frozen=True, eq=False)
class StructView:
    """A struct in several layouts of ``DLDataType``, made by :func:`struct`.

    At the end of a notebook cell it shows them byte by byte, with their differences.

    Attributes
    ----------
    name : str
    dtype_layouts : tuple of DTypeLayout
    machines : tuple of Machine
    dump : HexDump or None
        The bytes that are decoded.
    offset : int
        Where in the dump the struct begins.
    order : str
        Byte order of the machine.
    """

    name: str
    dtype_layouts: tuple[DTypeLayout, ...]
    machines: tuple[Machine, ...]
    dump: HexDump | None = None
    offset: int = 0
    order: ByteOrder = "little"

    @property
    def structs(self) -> tuple[StructLayout, ...]:
        """Placed members, for every machine and layout."""
        from tvmdbg_widgets.model.struct_layout import struct_layout

        return tuple(
            struct_layout(self.name, layout, machine)
            for machine in self.machines
            for layout in self.dtype_layouts
        )

    @property
    def labels(self) -> tuple[str, ...]:
        """Names of the layouts, with the machine if there are several."""
        several = len(self.machines) > 1
        return tuple(
            f"{layout.name}, {machine}" if several else layout.name
            for machine in self.machines
            for layout in self.dtype_layouts
        )

    @cached_property
    def decodings(self) -> tuple[Decoding, ...]:
        """The dump decoded by all layouts; empty without a dump."""
        from tvmdbg_widgets.analysis.abi.decoding import decode as decoded

        if self.dump is None:
            return ()
        data = self.dump.data[self.offset :]
        return decoded(data, self.name, self.dtype_layouts, self.machines, order=self.order)

    @property
    def verdict(self) -> str:
        """Sentence on which layout fits the dump, and why others do not; "" without a dump."""
        from tvmdbg_widgets.analysis.abi.decoding import verdict

        return verdict(self.decodings) if self.decodings else ""

    def figure(self, width: float = 720, theme: str = "light") -> Figure:
        """Return the layouts as a picture.

        Parameters
        ----------
        width : float
            px.
        theme : str
            ``"light"``, ``"dark"`` or ``"auto"``.
        """
        from tvmdbg_widgets.figures.struct import struct_figure

        values = verdicts = None
        if self.dump is not None:
            values = [
                {value.leaf.path: (value.text, value.problem) for value in decoding.values}
                for decoding in self.decodings
            ]
            verdicts = [_sense(decoding) for decoding in self.decodings]
        return struct_figure(
            list(zip(self.labels, self.structs, strict=True)),
            hexdump=None if self.dump is None else self.dump.data[self.offset :],
            values=values,
            verdicts=verdicts,
            width=width,
            theme=theme,
        )

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the picture to a file that ends in ``.svg`` or ``.png``."""
        return self.figure().save(path)

    def to_dataframe(self) -> Any:
        """One row per member and layout (``pandas.DataFrame``); ImportError without pandas."""
        from tvmdbg_widgets.model.base.text import data_frame

        rows = [
            (label, leaf.path, leaf.type.name, leaf.offset, leaf.type.size)
            for label, placed in zip(self.labels, self.structs, strict=True)
            for leaf in placed.leaves()
        ]
        names = ("layout", "member", "type", "offset", "size")
        columns: dict[str, Any] = {name: [row[at] for row in rows] for at, name in enumerate(names)}
        if self.decodings:
            values = [value for decoding in self.decodings for value in decoding.values]
            columns["value"] = [value.text for value in values]
            columns["problem"] = [value.problem for value in values]
        return data_frame(columns)

    def _repr_mimebundle_(self, **_kwargs: object) -> dict[str, str]:
        return self.figure(theme="auto").bundle(repr(self))

    def __repr__(self) -> str:
        from tvmdbg_widgets.model.base.numbers import counted

        lines = [self.figure().text]
        if self.dump is not None:
            lines.append(f"{counted(len(self.dump.data), 'byte')}, read as {self.dump.form}")
            lines.append(self.verdict)
        return "\n".join(lines)


def _sense(decoding: Decoding) -> str:
    if decoding.makes_sense:
        what = f": {decoding.summary}" if decoding.summary else ""
        return f"makes sense{what}" if decoding.complete else f"may make sense{what}"
    first = decoding.problems[0]
    return f"cannot be: {first.leaf.path} is {first.text}, {first.problem}"


@public
def struct(
    name: str,
    *dtype_layouts: DTypeLayout | str,
    hex: str | bytes | None = None,  # noqa: A002 (what people call it)
    bits: int | None = None,
    int64_align: int = 8,
    offset: int = 0,
    order: ByteOrder = "little",
    words: bool | None = None,
) -> StructView:
    """Return the placed members of a struct, in one or several layouts of ``DLDataType``.

    Parameters
    ----------
    name : str
        ``"DLDataType"``, ``"DLTensor"``, ``"DLManagedTensor"``, ``"DLManagedTensorVersioned"``,
        ``"TVMValue"``, ``"TVMArgs"`` or ``"DLDevice"``.
    *dtype_layouts : DTypeLayout or str
        ``"narrow"`` (TVM's own, also ``"standard"``), ``"wide"`` (8 bytes, also ``"packed64"``),
        or a declaration such as ``"code:u8 bits:u8 lanes:u32"``. Default narrow and wide.
    hex : str or bytes, optional
        Memory as gdb, lldb, xxd or hexdump -C print it, or hex alone; bytes are the memory itself.
    bits : int, optional
        Width of a pointer, 64 or 32. Default 64; if a dump makes no sense with 64, both.
    int64_align : int
        Bytes: 8, or 4 for i386 on Linux.
    offset : int
        Offset of the struct in the dump.
    order : str
        Byte order, ``"little"`` or ``"big"``.
    words : bool, optional
        Whether groups of digits are words, as in ``xxd -e``; default by the form of the dump.

    Raises
    ------
    ValueError
        The struct or a layout is not known, or a number is none of those.
    FormatError
        The dump shows no bytes.

    Examples
    --------
    >>> abi.struct("DLTensor", "packed64", "standard")  # doctest: +SKIP
    >>> abi.struct("DLTensor", hex=pasted).verdict  # doctest: +SKIP
    """
    from tvmdbg_widgets.formats.hexdump import HexDump, read_hexdump
    from tvmdbg_widgets.model.base.slips import one_of
    from tvmdbg_widgets.model.dtype_layout import NARROW, WIDE, dtype_layout
    from tvmdbg_widgets.model.struct_layout import Machine, struct_layout

    one_of("byte order", order, ("little", "big"))
    chosen = tuple(dict.fromkeys(map(dtype_layout, dtype_layouts))) or (NARROW, WIDE)
    machine = Machine(bits or 64, int64_align)
    for layout in chosen:
        struct_layout(name, layout, machine)
    dump = HexDump(hex, None, "bytes") if isinstance(hex, bytes) else None
    if isinstance(hex, str):
        dump = read_hexdump(hex, order=order, words=words)
    if not 0 <= offset <= (len(dump.data) if dump else 0):
        raise ValueError(f"the dump has no byte {offset}")
    view = StructView(name, chosen, (machine,), dump, offset, order)
    if bits is None and dump and not any(decoding.makes_sense for decoding in view.decodings):
        both = (machine, Machine(32, int64_align))
        return StructView(name, chosen, both, dump, offset, order)
    return view


@public
def decode(
    data: bytes,
    name: str = "DLTensor",
    *dtype_layouts: DTypeLayout | str,
    bits: int = 64,
    int64_align: int = 8,
    order: ByteOrder = "little",
) -> tuple[Decoding, ...]:
    """Read memory as a struct in several layouts.

    Parameters
    ----------
    data : bytes
        From the first byte of the struct.
    name, *dtype_layouts, bits, int64_align, order
        As of :func:`struct`.

    Returns
    -------
    tuple of Decoding
        Value of every member, and impossible values.
    """
    view = struct(
        name, *dtype_layouts, hex=bytes(data), bits=bits, int64_align=int64_align, order=order
    )
    return view.decodings


@public
def check(folder: str | os.PathLike[str], dtype_layout: DTypeLayout | str) -> SourceCheck:
    """Find and check the places in TVM's sources that must change with ``DLDataType``.

    Parameters
    ----------
    folder : path
        Root of a source tree of any release; files are read, never run.
    dtype_layout : DTypeLayout or str
        Layout that all places should have.

    Raises
    ------
    FormatError
        This is no source tree of TVM.
    OSError
        The folder cannot be read.
    ValueError
        The text declares no layout.

    Examples
    --------
    >>> abi.check("tvm/", "code:u16 bits:u16 lanes:i32").disagreeing  # doctest: +SKIP
    """
    from tvmdbg_widgets.analysis.abi.source_check import check_source
    from tvmdbg_widgets.model.dtype_layout import dtype_layout as known_layout

    return check_source(folder, known_layout(dtype_layout))


@public
def assertions(dtype_layout: DTypeLayout | str, bits: int = 64) -> str:
    """Return C++ that fails to compile with another layout.

    It contains ``static_assert``s for the structs, and code that takes widths by ``decltype``.

    Parameters
    ----------
    dtype_layout : DTypeLayout or str
    bits : int
        Width of a pointer, 64 or 32.
    """
    from tvmdbg_widgets.analysis.abi.layout_changes import decltype_forms, static_assertions
    from tvmdbg_widgets.model.dtype_layout import dtype_layout as known_layout
    from tvmdbg_widgets.model.struct_layout import Machine

    return f"{static_assertions(known_layout(dtype_layout), Machine(bits))}\n{decltype_forms()}"


@public
def layout_of_ir(
    text: str | bytes | os.PathLike[str] | ByteSource, *dtype_layouts: DTypeLayout | str
) -> IrLayout:
    """Return the layout that a module of LLVM IR was compiled for.

    Parameters
    ----------
    text : str, bytes, path or ByteSource
        The IR: ``lib.get_source("ll")``, from TVM v0.25 on ``lib.mod.inspect_source("ll")``; or
        ``pathlib.Path`` of a file, which is read in pieces.
    *dtype_layouts : DTypeLayout or str
        Layouts to recognize beside narrow and wide.

    Raises
    ------
    FormatError
        It is bitcode.
    OSError
        The file cannot be read.
    """
    from tvmdbg_widgets.analysis.abi.layout_changes import layout_of_tensors
    from tvmdbg_widgets.formats.llvm_ir import read_tensor_types
    from tvmdbg_widgets.model.dtype_layout import NARROW, WIDE, dtype_layout
    from tvmdbg_widgets.sources.byte_source import ByteSource
    from tvmdbg_widgets.sources.file_source import FileSource

    known = tuple(dict.fromkeys((NARROW, WIDE, *map(dtype_layout, dtype_layouts))))
    if isinstance(text, (str, bytes, ByteSource)):
        return layout_of_tensors(read_tensor_types(text), known)
    source = FileSource(text)
    return layout_of_tensors(read_tensor_types(source, source.name), known)


__getattr__ = lazily(__name__, _LAZY)


def __dir__() -> list[str]:
    return sorted(__all__)
