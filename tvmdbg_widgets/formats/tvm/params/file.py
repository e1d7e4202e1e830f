"""TVM's params list: `output_tensors.params` of the debugger, and any saved parameters.

``SaveParams`` and ``LoadParams``, src/runtime/file_utils.cc @ v0.5 to v0.26 (the bytes never
changed): u64 magic, u64 reserved, u64 n, n × (u64 length, name), u64 n, n × array.
"""

from __future__ import annotations

import os
import struct
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tvmdbg_widgets.formats.family import Kind, Limits
from tvmdbg_widgets.formats.tvm import cache as tensor_cache
from tvmdbg_widgets.formats.tvm.cache import TensorCache
from tvmdbg_widgets.formats.tvm.params.list import LIST_MAGIC, LayoutLike, ListReader
from tvmdbg_widgets.formats.tvm.params.record import ARRAY_MAGIC
from tvmdbg_widgets.formats.tvm.params.survey import Float8, settle_types, survey
from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.base.slips import public
from tvmdbg_widgets.model.base.text import (
    FormatError,
    Issue,
    Issues,
    IssueSeverity,
    is_url,
    listed,
    local_path,
)
from tvmdbg_widgets.model.dtype_layout import DTypeLayout
from tvmdbg_widgets.model.graph.graph import Graph
from tvmdbg_widgets.model.tensors.array_record import STORED_AS, ArrayRecord
from tvmdbg_widgets.model.tensors.dtypes import DataType
from tvmdbg_widgets.sources.byte_source import ByteSource
from tvmdbg_widgets.sources.folders import LocalTree, Tree, remote_tree
from tvmdbg_widgets.sources.given import SourceLike, as_source

if TYPE_CHECKING:
    import numpy as np


_HEAD = 64 << 10


@dataclass(frozen=True, slots=True, eq=False)
class ParamsFile:
    """The contents of one params file."""

    records: tuple[ArrayRecord, ...]
    dtype_layout: DTypeLayout
    layout_reason: str
    issues: Issues
    truncated: bool
    error: FormatError | None
    bare: bool
    file: str

    @property
    def layout(self) -> str:
        """``"narrow"``, ``"wide"``, or the declaration of another layout of the dtypes."""
        return self.dtype_layout.name

    @property
    def keys(self) -> tuple[str, ...]:
        """Names in file order, duplicates included."""
        return tuple(record.key for record in self.records)

    def __repr__(self) -> str:
        total = sum(record.nbytes for record in self.records)
        state = ", incomplete" if self.truncated else ""
        return (
            f"ParamsFile({self.file!r}, {counted(len(self.records), 'array')}, "
            f"{counted(total, 'byte')}, {self.layout} dtypes{state}; {self.issues.summary()})"
        )


def sniff(head: bytes) -> bool:
    """Return whether the first 8 bytes are those of a params list or of one bare array."""
    return head[:8] in (struct.pack("<Q", LIST_MAGIC), struct.pack("<Q", ARRAY_MAGIC))


def read_params(
    source: SourceLike,
    dtype_layout: LayoutLike = "auto",
    float8: Float8 = "auto",
    dtypes: Mapping[str, DataType | str] | None = None,
    graph: Graph | None = None,
) -> ParamsFile:
    """Read the headers of a params file; no values are read."""
    source = as_source(source)
    reader = ListReader(source, dtype_layout, graph)
    reader.read()
    records = settle_types(reader.records, float8, dtypes or {})
    unknown = sorted((dtypes or {}).keys() - {record.key for record in records})
    if unknown:
        text = f"dtypes names arrays that are not in this file: {listed(unknown)}"
        reader.issues.append(
            Issue("unknown-array-name", IssueSeverity.NOTE, text, file=source.name)
        )
    return ParamsFile(
        records=records,
        dtype_layout=reader.layout,
        layout_reason=reader.choice.reason if reader.choice else "",
        issues=Issues([*reader.issues, *survey(records, source.name)]),
        truncated=reader.error is not None,
        error=reader.error,
        bare=reader.bare,
        file=source.name,
    )


@public
def load_params(
    data: SourceLike,
    *,
    dtype_layout: LayoutLike = "auto",
    float8: Float8 = "auto",
    dtypes: Mapping[str, DataType | str] | None = None,
    follow_links: bool = False,
    verify: bool = False,
) -> dict[str, np.ndarray[Any, Any]]:
    """Load saved parameters as numpy arrays, as ``tvm.runtime.load_param_dict`` does.

    Parameters
    ----------
    data
        The bytes, or a path or URL of them, or a binary file object. Also a tensor cache: its
        folder, or its ``tensor-cache.json`` or ``ndarray-cache.json``.
    dtype_layout, float8, dtypes
        See ``read_params``.
    follow_links
        Whether to read the shards of a tensor cache through links out of its folder.
    verify
        Compare the shards of a tensor cache with their md5sums first.

    Returns
    -------
    dict of str to numpy array
        In file order; of several arrays of one name the last, as in TVM. Small floats, bfloat16
        and integers below 8 bits have ``ml_dtypes`` types. Where the file does not hold the
        values as declared (see ``ArrayRecord.notes``) a ``UserWarning`` says so.

    Raises
    ------
    FormatError
        The data is not a complete params file or tensor cache, or a shard is not what it was.
    """
    source = parameters_source(data, follow_links=follow_links)
    params: ParamsFile | TensorCache
    if tensor_cache.sniff(source.read(0, min(_HEAD, source.size))):
        params = tensor_cache.read_cache(source, float8, dtypes)
        if verify:
            for issue in params.verify().by_rule("shard-damaged"):
                raise FormatError(issue.message, file=issue.file)
    else:
        params = read_params(source, dtype_layout, float8, dtypes)
    if params.error is not None:
        raise params.error
    for record in params.records:
        for note in record.notes:
            if not note.startswith(STORED_AS):
                warnings.warn(f"{record.key!r}: {note}", stacklevel=2)
    return {record.key: record.numpy() for record in params.records}


def parameters_source(
    given: SourceLike, *, follow_links: bool = False, limits: Limits | None = None
) -> ByteSource:
    """Return the file to read: a folder's tensor cache, anything else as it is."""
    given, limits = local_path(given), limits or Limits()
    if isinstance(given, str | os.PathLike) and os.path.isdir(given):  # noqa: PTH112 (bytes paths)
        return _index(LocalTree(Path(os.fsdecode(given)), follow_links=follow_links), limits)
    if isinstance(given, str) and is_url(given) and (tree := remote_tree(given)) is not None:
        return _index(tree, limits)
    source = as_source(given, follow_links=follow_links)
    _check(source, limits)
    return source


def _check(source: ByteSource, limits: Limits) -> bool:
    """Whether a file is an index; FormatError where it is too large for one."""
    if not tensor_cache.KIND.sniff(source.read(0, min(_HEAD, source.size))):
        return False
    limits.check(source, tensor_cache.KIND)
    return True


def _index(tree: Tree, limits: Limits) -> ByteSource:
    indices = []
    issues: list[Issue] = []
    for entry in tree.files(issues):
        if len(entry.path.parts) == 1 and entry.path.suffix == ".json":
            source = entry.open()
            if _check(source, limits):
                indices.append(source)
    left = tensor_cache.superseded(indices)
    kept = [index for i, index in enumerate(indices) if i not in left]
    if len(kept) != 1:
        names = listed([index.name for index in kept])
        raise FormatError(
            "this folder holds several tensor caches" if kept else "no tensor cache in this folder",
            file=tree.name,
            expected="one index such as tensor-cache.json or ndarray-cache.json",
            found=names or listed(["none", *(issue.message for issue in issues)], "; "),
            hint="Name the file: load_params('…/tensor-cache.json') or load_params('….params').",
        )
    return kept[0]


KIND = Kind("params", "params file", sniff, read_params, has_tensors=True)
