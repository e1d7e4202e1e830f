"""TVM's tensor cache: an index in JSON and the shards beside it.

``tensor-cache.json`` (v0.22 on, ``dump_tensor_cache``) or ``ndarray-cache.json`` (v0.16 to v0.21,
``dump_ndarray_cache``), python/tvm/contrib/tvmjs.py; where floats were halved, a second index
``…-b16.json`` names the same bytes bfloat16::

    {"metadata": {…}, "records": [{"dataPath", "format": "raw-shard", "nbytes", "md5sum",
      "records": [{"name", "shape", "dtype", "format", "nbytes", "byteOffset"}]}]}
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
from tqdm.auto import tqdm

from tvmdbg_widgets.formats.family import Kind, collector_paused
from tvmdbg_widgets.formats.json_fields import Count, convert, read_json
from tvmdbg_widgets.formats.limits import WorkBudget, named_bytes
from tvmdbg_widgets.formats.tvm.foreign import HALVED, Array, read_record
from tvmdbg_widgets.formats.tvm.params.survey import Float8, settle_types, survey
from tvmdbg_widgets.model.base.numbers import agree, counted
from tvmdbg_widgets.model.base.text import FormatError, Issue, Issues, IssueSeverity, cut, one_line
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
        issues: list[Issue] = []
        files = {shard.source.name: shard.source for shard in self.shards}
        total = sum(source.size for source in files.values())
        with tqdm(
            total=total, desc="verifying", unit="B", unit_scale=True, delay=1, disable=not progress
        ) as bar:
            sums = {name: md5_of(source, bar) for name, source in files.items()}
            for shard in self.shards:
                issue = verified(shard, sums[shard.source.name])
                if issue is not None:
                    issues.append(issue)
        return Issues(issues)

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
    """Return the indices that name the same bytes as a preferred one, with ``f32-to-bf16``."""
    named = [_named_bytes(index) for index in indices] if len(indices) > 1 else []
    halved = {part[0] for part in named if part is not None and part[1]}
    return {
        i for i, part in enumerate(named) if part is not None and not part[1] and part[0] in halved
    }


def _named_bytes(index: ByteSource) -> tuple[tuple[object, ...], bool] | None:
    """Return the bytes that an index names, and whether some of them are halves."""
    try:
        shards = [
            convert(record, StoredShard, index.name) for record in read_json(index, Index).records
        ]
        items = [
            (shard.data_path, convert(record, Array, index.name))
            for shard in shards
            for record in shard.records
        ]
    except FormatError:
        return None
    places = [(path, item.byte_offset, item.nbytes) for path, item in items]
    forms = {item.format for _, item in items}
    return (index.name.rpartition("/")[0], *places), HALVED in forms


_LETTERS = 80
_LISTED = 25


class Index(msgspec.Struct):
    """The file; records are converted one by one, so that a wrong one is reported alone."""

    records: list[Any]
    metadata: dict[str, Any] | None = None


class StoredShard(msgspec.Struct, rename="camel"):
    """One record of the index."""

    data_path: str
    nbytes: Count
    records: list[Any]
    format: str | None = None
    md5sum: str | None = None


class IndexReader:
    """One pass over an index."""

    def __init__(self, source: ByteSource) -> None:
        self.source = source
        self.records: list[ArrayRecord] = []
        self.shards: list[Shard] = []
        self.issues: list[Issue] = []
        self.error: FormatError | None = None
        self.metadata: Any = None
        self._reported: Counter[str] = Counter()
        #: Shards by their paths, and what the arrays in each file may still name.
        self._opened: dict[str, ByteSource] = {}
        self._named: dict[str, WorkBudget] = {}

    def read(self) -> None:
        """Read the index; FormatError if nothing in it is readable."""
        document = read_json(self.source, Index)
        self.metadata = document.metadata
        for i, item in enumerate(document.records):
            path = f"records[{i}]"
            try:
                self._shard(convert(item, StoredShard, self.source.name, path), path)
            except FormatError as problem:
                self._problem("shard-unreadable", problem)
        for rule, count in self._reported.items():
            if count > _LISTED:
                text = f"{counted(count - _LISTED, 'more issue')} of this kind"
                severity = next(issue.severity for issue in self.issues if issue.rule == rule)
                self.issues.append(Issue(rule, severity, text, file=self.source.name))
        if self.error is not None and not self.records:
            raise self.error

    def _shard(self, stored: StoredShard, at: str) -> None:
        path, nbytes = stored.data_path, stored.nbytes
        if stored.format not in (None, "raw-shard"):
            raise self._wrong(f"{at}.format", "raw-shard", repr(stored.format[:40]))
        shard = self._opened.get(path)
        if shard is None:
            shard = self._opened[path] = self._open(stored, at)
        else:
            text = f"{cut(one_line(path), _LETTERS)!r} is named by more than one record"
            self._report("shard-repeated", IssueSeverity.WARNING, text)
        if shard.size != nbytes:
            self._wrong_size(at, shard, nbytes)
        if not isinstance(shard, MissingShard):
            self.shards.append(Shard(path, shard, nbytes, (stored.md5sum or "").lower()))
        named = self._named.get(shard.name)
        if named is None:
            named = self._named[shard.name] = named_bytes(shard)
        taken: list[tuple[int, int, str]] = []
        for i, item in enumerate(stored.records):
            inner = f"{at}.records[{i}]"
            try:
                array = convert(item, Array, self.source.name, inner)
                record = read_record(array, self.source.name, inner, shard)
                named.spend(record.nbytes, inner)
            except FormatError as problem:
                self._problem("array-unreadable", problem)
            else:
                self.records.append(record)
                start = array.byte_offset
                taken.append((start, start + array.nbytes, record.key))
        self._check_overlaps(shard, taken)

    def _open(self, stored: StoredShard, at: str) -> ByteSource:
        path, field = stored.data_path, f"{at}.dataPath"
        try:
            return self.source.sibling(path)
        except ValueError as problem:
            fault = f"{path[:_LETTERS]!r}: {problem}"
            raise self._wrong(field, "a file in the folder of the index", fault) from None
        except OSError as problem:
            missing = FormatError(
                "a shard is missing",
                file=self.source.name,
                field=field,
                expected=f"the file {path[:_LETTERS]!r} beside the index, with "
                f"{counted(len(stored.records), 'array')}",
                found=problem.strerror or type(problem).__name__,
                hint="Open the index by its path, with all of its shards in the same folder.",
            )
            self._problem("shard-unreadable", missing)
            return MissingShard(path, stored.nbytes)

    def _wrong_size(self, at: str, shard: ByteSource, nbytes: int) -> None:
        short = shard.size < nbytes
        problem = FormatError(
            "the shard is cut off" if short else "the shard is longer than the index says",
            file=shard.name,
            field=f"{at}.nbytes",
            expected=counted(nbytes, "byte"),
            found=counted(shard.size, "byte"),
            hint="TVM says “Encountered an corrupted parameter shard”; copy or download it again.",
        )
        self._report(
            "shard-size", IssueSeverity.ERROR if short else IssueSeverity.WARNING, str(problem)
        )
        if short:
            self.error = self.error or problem

    def _check_overlaps(self, shard: ByteSource, taken: Sequence[tuple[int, int, str]]) -> None:
        reached, name = 0, ""
        pairs = []
        for start, stop, key in sorted(item for item in taken if item[0] < item[1]):
            if start < reached:
                pairs.append((name, key))
            if stop > reached:
                reached, name = stop, key
        if pairs:
            first = " and ".join(repr(cut(item, _LETTERS)) for item in pairs[0])
            text = (
                f"{counted(len(pairs), 'array')} {agree(len(pairs), 'shares')} bytes with another "
                f"one in {shard.name}: {first}"
            )
            self._report("arrays-overlap", IssueSeverity.WARNING, text)

    def _problem(self, rule: str, problem: FormatError) -> None:
        self.error = self.error or problem
        self._report(rule, IssueSeverity.ERROR, str(problem))

    def _report(self, rule: str, severity: IssueSeverity, text: str) -> None:
        self._reported[rule] += 1
        if self._reported[rule] <= _LISTED:
            self.issues.append(Issue(rule, severity, text, file=self.source.name))

    def _wrong(self, field: str, expected: str, found: str) -> FormatError:
        return FormatError(
            "the index of the tensor cache cannot be followed",
            file=self.source.name,
            field=field,
            expected=expected,
            found=found,
        )


_PIECE = 1 << 22


@dataclass(frozen=True, slots=True, eq=False)
class Shard:
    """One file of values."""

    path: str
    source: ByteSource
    nbytes: int
    md5sum: str


class MissingShard(ByteSource):
    """A shard that is missing beside its index."""

    def __init__(self, path: str, nbytes: int) -> None:
        self.name = one_line(path)
        self.size = nbytes

    def trouble(self) -> FormatError:
        """Return why the values cannot be read."""
        return FormatError(
            f"the values are not here: shard {self.name} is missing",
            file=self.name,
            hint="Put it into the folder of the index and open that again.",
        )

    def _fill(self, offset: int, view: memoryview) -> None:  # noqa: ARG002
        raise self.trouble()


def md5_of(source: ByteSource, bar: Any) -> str:
    """Return the md5sum of a file of values; ``bar`` counts the bytes."""
    digest = hashlib.md5(usedforsecurity=False)
    for start in range(0, source.size, _PIECE):
        piece = source.read(start, min(_PIECE, source.size - start))
        digest.update(piece)
        bar.update(len(piece))
    return digest.hexdigest()


def verified(shard: Shard, md5sum: str) -> Issue | None:
    """Return the issue of a wrong md5sum, or None."""
    if not shard.md5sum:
        text = "the index gives no md5sum of this shard"
        return Issue("shard-not-summed", IssueSeverity.NOTE, text, file=shard.source.name)
    if md5sum == shard.md5sum:
        return None
    text = f"md5sum: expected {one_line(shard.md5sum[:40])}; found {md5sum}. "
    text += "The shard is damaged, or the index is that of another one."
    return Issue("shard-damaged", IssueSeverity.ERROR, text, file=shard.source.name)


#: Index of a tensor cache: 0.3 kB an array. Other parameters are never read whole.
KIND = Kind("cache", "tensor cache", sniff, read_cache, "params")
