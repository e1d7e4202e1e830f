"""TVM's tensor cache: an index in JSON and the shards beside it.

``tensor-cache.json`` (v0.22 on, ``dump_tensor_cache``) or ``ndarray-cache.json`` (v0.16 to v0.21,
``dump_ndarray_cache``), python/tvm/contrib/tvmjs.py; where floats were halved, a second index
``…-b16.json`` names the same bytes bfloat16::

    {"metadata": {…}, "records": [{"dataPath", "format": "raw-shard", "nbytes", "md5sum",
      "records": [{"name", "shape", "dtype", "format", "nbytes", "byteOffset"}]}]}
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tqdm.auto import tqdm

from tvmdbg_widgets.formats.collector import collector_paused
from tvmdbg_widgets.formats.json_fields import convert, read_json
from tvmdbg_widgets.formats.tvm.params.meaning import Float8, settle_types
from tvmdbg_widgets.formats.tvm.params.survey import survey
from tvmdbg_widgets.formats.tvm.tensor_cache.index import Index, IndexReader, StoredShard
from tvmdbg_widgets.formats.tvm.tensor_cache.record import HALVED, Array
from tvmdbg_widgets.formats.tvm.tensor_cache.shard import Shard, md5_of, verified
from tvmdbg_widgets.model.base.errors import FormatError
from tvmdbg_widgets.model.base.issues import Issue, Issues
from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.tensors.array_record import ArrayRecord
from tvmdbg_widgets.model.tensors.dtypes import DataType
from tvmdbg_widgets.sources.byte_source import ByteSource

_OWN = re.compile(r'"(?:dataPath|byteOffset|md5sum)"\s*:|"raw-shard"')


@dataclass(frozen=True, slots=True, eq=False)
class TensorCache:
    """Contents of a tensor cache; like :class:`ParamsFile`."""

    records: tuple[ArrayRecord, ...]
    shards: tuple[Shard, ...]
    metadata: Any
    issues: Issues
    truncated: bool
    error: FormatError | None
    file: str

    @property
    def keys(self) -> tuple[str, ...]:
        """Names in the order of the index, duplicates included."""
        return tuple(record.key for record in self.records)

    def verify(self, *, progress: bool = True) -> Issues:
        """Read every shard once and compare it with its md5sum."""
        found: list[Issue] = []
        files = {shard.source.name: shard.source for shard in self.shards}
        total = sum(source.size for source in files.values())
        with tqdm(
            total=total, desc="verifying", unit="B", unit_scale=True, delay=1, disable=not progress
        ) as bar:
            sums = {name: md5_of(source, bar) for name, source in files.items()}
            for shard in self.shards:
                issue = verified(shard, sums[shard.source.name])
                if issue is not None:
                    found.append(issue)
        return Issues(found)

    def __repr__(self) -> str:
        total = sum(record.nbytes for record in self.records)
        state = ", incomplete" if self.truncated else ""
        return (
            f"TensorCache({self.file!r}, {counted(len(self.records), 'array')}, "
            f"{counted(total, 'byte')} in "
            f"{counted(len(self.shards), 'shard')}{state}; {self.issues.summary()})"
        )


def sniff(head: bytes) -> bool:
    """Whether a file that starts with these bytes is the index of a tensor cache."""
    text = head.decode(json.detect_encoding(head), errors="ignore").lstrip(" \t\r\n\ufeff")
    return text.startswith("{") and '"records"' in text and _OWN.search(text) is not None


def read_cache(
    source: ByteSource, float8: Float8 = "auto", dtypes: Mapping[str, DataType | str] | None = None
) -> TensorCache:
    """Read the index of a tensor cache and find its shards; no values are read."""
    reader = IndexReader(source)
    with collector_paused():
        reader.read()
    records = settle_types(reader.records, "current" if float8 == "auto" else float8, dtypes or {})
    return TensorCache(
        records=records,
        shards=tuple(reader.shards),
        metadata=reader.metadata,
        issues=Issues([*reader.issues, *survey(records, source.name)]),
        truncated=reader.error is not None,
        error=reader.error,
        file=source.name,
    )


def superseded(indices: Sequence[ByteSource]) -> set[int]:
    """Return which of several indices name the same bytes as another one, which is to be read.

    The one with ``f32-to-bf16`` gives back float32, the other one (``-b16``) bfloat16.
    """
    named = [_named_bytes(each) for each in indices] if len(indices) > 1 else []
    halved = {found[0] for found in named if found is not None and found[1]}
    return {
        i
        for i, found in enumerate(named)
        if found is not None and not found[1] and found[0] in halved
    }


def _named_bytes(index: ByteSource) -> tuple[tuple[object, ...], bool] | None:
    """Return the bytes that an index names, in order, and whether some of them are halves."""
    try:
        shards = [
            convert(each, StoredShard, index.name) for each in read_json(index, Index).records
        ]
        items = [
            (shard.data_path, convert(each, Array, index.name))
            for shard in shards
            for each in shard.records
        ]
    except FormatError:
        return None
    places = [(path, item.byte_offset, item.nbytes) for path, item in items]
    forms = {item.format for _, item in items}
    return (index.name.rpartition("/")[0], *places), HALVED in forms
