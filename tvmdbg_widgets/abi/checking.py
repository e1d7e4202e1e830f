"""Which layout sources and compiled code assume, and C++ that would have told."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from tvmdbg_widgets.model.base.slips import public

if TYPE_CHECKING:
    from tvmdbg_widgets.analysis.abi.layout_changes import IrLayout
    from tvmdbg_widgets.analysis.abi.source_check import SourceCheck
    from tvmdbg_widgets.model.dtype_layout import DTypeLayout
    from tvmdbg_widgets.sources.byte_source import ByteSource


@public
def check(folder: str | os.PathLike[str], dtype_layout: DTypeLayout | str) -> SourceCheck:
    """Find the places in TVM's sources that must change with ``DLDataType``, and check each.

    Parameters
    ----------
    folder : path
        Root of a source tree of any release; files are read, never run.
    dtype_layout : DTypeLayout or str
        That all places should have.

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
    """Return C++ that fails to compile where the layout is another.

    ``static_assert``s for the structs, and forms that take the widths by ``decltype``.

    Parameters
    ----------
    dtype_layout : DTypeLayout or str
    bits : int
        Of a pointer: 64 or 32.
    """
    from tvmdbg_widgets.analysis.abi.layout_changes import decltype_forms, static_assertions
    from tvmdbg_widgets.model.dtype_layout import dtype_layout as known_layout
    from tvmdbg_widgets.model.struct_layout import Machine

    return f"{static_assertions(known_layout(dtype_layout), Machine(bits))}\n{decltype_forms()}"


@public
def layout_of_ir(
    text: str | bytes | os.PathLike[str] | ByteSource, *dtype_layouts: DTypeLayout | str
) -> IrLayout:
    """Say which layout a module of LLVM IR was compiled for.

    Parameters
    ----------
    text : str, bytes, path or ByteSource
        The IR: ``lib.get_source("ll")``, from TVM v0.25 on ``lib.mod.inspect_source("ll")``; or
        ``pathlib.Path`` of a file, which is read in pieces.
    *dtype_layouts : DTypeLayout or str
        To be recognised beside narrow and wide.

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
