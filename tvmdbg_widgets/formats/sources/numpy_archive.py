"""The arrays of a ``.npz`` or ``.npy`` file, each checked against the bytes there are."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.formats.sources.archives import ArchiveTree, open_archive
from tvmdbg_widgets.model.base.errors import FormatError
from tvmdbg_widgets.model.base.issues import Severity
from tvmdbg_widgets.model.base.numbers import counted

if TYPE_CHECKING:
    from tvmdbg_widgets.model.sources.byte_source import ByteSource

_MAGIC = b"\x93NUMPY"
#: ``_write_array_header`` of numpy/lib/format.py; keys are sorted.
_HEADER = re.compile(
    rb"\{'descr': '([<>|=]?[biufc]\d{1,2})', 'fortran_order': (True|False), "
    rb"'shape': \(((?:\d{1,19},(?: \d{1,19},)*(?: \d{1,19})?)?)\), \}\s*"
)
_MOST_HEADER = 1 << 16
_MOST_DIMENSIONS = 32


def read_numpy_archive(source: ByteSource) -> dict[str, npt.NDArray[Any]]:
    """Read every array of a ``.npz`` file, by name."""
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
    """Read one array of numbers as ``numpy.save`` writes it."""
    head = source.read(0, min(_MOST_HEADER, source.size))
    width = 2 if head[6:7] == b"\1" else 4
    start = 8 + width + int.from_bytes(head[8 : 8 + width], "little")
    told = _HEADER.fullmatch(head[8 + width : start])
    if not head.startswith(_MAGIC) or told is None:
        raise _refused(source, "an array of numbers with a header as numpy.save writes it")
    kind, by_column, sizes = (part.decode() for part in told.groups())
    try:
        dtype = np.dtype(kind)
    except TypeError:
        raise _refused(source, f"numbers of a known type, not {kind!r}") from None
    shape = tuple(int(size) for size in re.findall(r"\d+", sizes))
    if len(shape) > _MOST_DIMENSIONS:
        raise _refused(source, f"at most {_MOST_DIMENSIONS} dimensions, not {len(shape):,}")
    whole = math.prod(shape) * dtype.itemsize
    # numpy makes no array whose other dimensions are too large, though one of them is 0.
    if start + whole > source.size or math.prod(filter(None, shape)) * dtype.itemsize >> 63:
        raise _refused(source, f"shape {shape} to be of {counted(whole, 'byte')}")
    flat = np.frombuffer(source.read(start, whole), dtype)
    return flat.reshape(shape, order="F" if by_column == "True" else "C")


def _refused(source: ByteSource, expected: str) -> FormatError:
    return FormatError(
        "this array cannot be read",
        file=source.name,
        expected=expected,
        found=counted(source.size, "byte"),
        hint="Save it again with numpy.savez.",
    )
