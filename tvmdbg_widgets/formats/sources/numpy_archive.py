"""The arrays of a ``.npz`` or ``.npy`` file, each checked against the bytes there are."""

from __future__ import annotations

import io
import math
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from numpy.lib import format as npy

from tvmdbg_widgets.formats.sources.archives import ArchiveTree, open_archive
from tvmdbg_widgets.model.errors import FormatError
from tvmdbg_widgets.model.issues import Severity

if TYPE_CHECKING:
    from tvmdbg_widgets.model.sources import ByteSource

_MOST_HEADER = 1 << 16


def read_numpy_archive(source: ByteSource) -> dict[str, npt.NDArray[Any]]:
    """Read every array of a ``.npz`` file, by name.

    Raises
    ------
    FormatError
        It is none, a member is no array, or one holds Python objects.
    """
    tree = open_archive(source)
    if not isinstance(tree, ArchiveTree):
        raise FormatError(
            "this is no .npz file", file=source.name, expected="arrays saved with numpy.savez"
        )
    broken = [issue for issue in tree.issues if issue.severity is Severity.ERROR]
    if broken:
        raise FormatError(broken[0].message, file=source.name)
    members = tree.members.items()
    return {str(path).removesuffix(".npy"): read_numpy_array(member) for path, member in members}


def read_numpy_array(source: ByteSource) -> npt.NDArray[Any]:
    """Read one array as ``numpy.save`` writes it.

    Raises
    ------
    FormatError
        It is none, holds Python objects, or ends early.
    """
    file = io.BytesIO(source.read(0, min(_MOST_HEADER, source.size)))
    try:
        version = npy.read_magic(file)
        read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
        shape, by_column, dtype = read(file)
    except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError) as problem:
        raise _refused(source, f"a header as numpy.save writes it ({problem})") from None
    count = math.prod(shape)
    whole = count * dtype.itemsize
    if dtype.hasobject or not dtype.itemsize or min(shape, default=0) < 0:
        raise _refused(source, "an array of numbers") from None
    if file.tell() + whole > source.size:
        raise _refused(source, f"{whole:,} bytes of values")
    flat = np.frombuffer(source.read(file.tell(), whole), dtype)
    return flat.reshape(shape, order="F" if by_column else "C")


def _refused(source: ByteSource, expected: str) -> FormatError:
    return FormatError(
        "this array cannot be read",
        file=source.name,
        expected=expected,
        found=f"{source.size:,} bytes",
        hint="Save it again with numpy.savez.",
    )
