"""The index of a tensor cache, followed to its shards."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import msgspec

from tvmdbg_widgets.formats.json_fields import Count, convert, read_json
from tvmdbg_widgets.formats.limits import WorkBudget, named_bytes
from tvmdbg_widgets.formats.tvm.tensor_cache.record import Array, read_record
from tvmdbg_widgets.formats.tvm.tensor_cache.shard import MissingShard, Shard
from tvmdbg_widgets.model.base.errors import FormatError
from tvmdbg_widgets.model.base.issues import Issue, IssueSeverity
from tvmdbg_widgets.model.base.numbers import agree, counted
from tvmdbg_widgets.model.base.text import cut, one_line
from tvmdbg_widgets.model.tensors.array_record import ArrayRecord
from tvmdbg_widgets.sources.byte_source import ByteSource

#: Letters of a name in a message.
_LETTERS = 80
#: Issues of a rule that are told; the others are counted.
_TOLD = 25


class Index(msgspec.Struct):
    """The file; its records are converted one by one, so that a wrong one is told alone."""

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
        self._told: Counter[str] = Counter()
        #: Shards by their paths, and what the arrays in each file may still name.
        self._opened: dict[str, ByteSource] = {}
        self._named: dict[str, WorkBudget] = {}

    def read(self) -> None:
        """Read it; FormatError where it is no index, or nothing in it can be read."""
        document = read_json(self.source, Index)
        self.metadata = document.metadata
        for i, item in enumerate(document.records):
            path = f"records[{i}]"
            try:
                self._shard(convert(item, StoredShard, self.source.name, path), path)
            except FormatError as problem:
                self._problem("shard-unreadable", problem)
        for rule, count in self._told.items():
            if count > _TOLD:
                text = f"{counted(count - _TOLD, 'more issue')} of this kind"
                severity = next(each.severity for each in self.issues if each.rule == rule)
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
            self._tell("shard-repeated", IssueSeverity.WARNING, text)
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
            found = f"{path[:_LETTERS]!r}: {problem}"
            raise self._wrong(field, "a file in the folder of the index", found) from None
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
        self._tell(
            "shard-size", IssueSeverity.ERROR if short else IssueSeverity.WARNING, str(problem)
        )
        if short:
            self.error = self.error or problem

    def _check_overlaps(self, shard: ByteSource, taken: Sequence[tuple[int, int, str]]) -> None:
        reached, name = 0, ""
        pairs = []
        for start, stop, key in sorted(each for each in taken if each[0] < each[1]):
            if start < reached:
                pairs.append((name, key))
            if stop > reached:
                reached, name = stop, key
        if pairs:
            first = " and ".join(repr(cut(each, _LETTERS)) for each in pairs[0])
            text = (
                f"{counted(len(pairs), 'array')} {agree(len(pairs), 'shares')} bytes with another "
                f"one in {shard.name}: {first}"
            )
            self._tell("arrays-overlap", IssueSeverity.WARNING, text)

    def _problem(self, rule: str, problem: FormatError) -> None:
        self.error = self.error or problem
        self._tell(rule, IssueSeverity.ERROR, str(problem))

    def _tell(self, rule: str, severity: IssueSeverity, text: str) -> None:
        self._told[rule] += 1
        if self._told[rule] <= _TOLD:
            self.issues.append(Issue(rule, severity, text, file=self.source.name))

    def _wrong(self, field: str, expected: str, found: str) -> FormatError:
        return FormatError(
            "the index of the tensor cache cannot be followed",
            file=self.source.name,
            field=field,
            expected=expected,
            found=found,
        )
