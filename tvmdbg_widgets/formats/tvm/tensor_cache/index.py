"""The index of a tensor cache, followed to its shards."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from tvmdbg_widgets.formats.json_fields import Fields
from tvmdbg_widgets.formats.limits import named_bytes
from tvmdbg_widgets.formats.tvm.tensor_cache.record import read_record
from tvmdbg_widgets.formats.tvm.tensor_cache.shard import MissingShard, Shard
from tvmdbg_widgets.model.base.errors import FormatError
from tvmdbg_widgets.model.base.issues import Issue, Severity
from tvmdbg_widgets.model.base.numbers import agree, counted
from tvmdbg_widgets.model.base.text import cut, one_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tvmdbg_widgets.formats.limits import Budget
    from tvmdbg_widgets.model.tensors.array_record import ArrayRecord
    from tvmdbg_widgets.sources.byte_source import ByteSource

#: Letters of a name in a message.
_LETTERS = 80
#: Issues of a rule that are told; the others are counted.
_TOLD = 25


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
        self._named: dict[str, Budget] = {}

    def read(self) -> None:
        """Read it; FormatError where it is no index, or nothing in it can be read."""
        document = Fields.of(self.source)
        if document.has("metadata"):
            self.metadata = document.plain("metadata")
        for i, item in enumerate(document.items("records")):
            try:
                self._shard(Fields(item, self.source.name, f"records[{i}]"))
            except FormatError as problem:
                self._problem("shard-unreadable", problem)
        for rule, count in self._told.items():
            if count > _TOLD:
                text = f"{counted(count - _TOLD, 'more issue')} of this kind"
                severity = next(each.severity for each in self.issues if each.rule == rule)
                self.issues.append(Issue(rule, severity, text, file=self.source.name))
        if self.error is not None and not self.records:
            raise self.error

    def _shard(self, fields: Fields) -> None:
        path, nbytes = fields.text("dataPath"), fields.integer("nbytes")
        form = fields.text("format") if fields.has("format") else "raw-shard"
        if form != "raw-shard":
            raise self._wrong(fields, "format", "raw-shard", repr(form[:40]))
        shard = self._opened.get(path)
        if shard is None:
            shard = self._opened[path] = self._open(fields, path, nbytes)
        else:
            text = f"{cut(one_line(path), _LETTERS)!r} is named by more than one record"
            self._tell("shard-repeated", Severity.WARNING, text)
        if shard.size != nbytes:
            self._wrong_size(fields, shard, nbytes)
        md5sum = fields.text("md5sum") if fields.has("md5sum") else ""
        if not isinstance(shard, MissingShard):
            self.shards.append(Shard(path, shard, nbytes, md5sum.lower()))
        named = self._named.get(shard.name)
        if named is None:
            named = self._named[shard.name] = named_bytes(shard)
        taken: list[tuple[int, int, str]] = []
        for i, item in enumerate(fields.items("records")):
            try:
                inner = Fields(item, self.source.name, f"{fields.path}.records[{i}]")
                record = read_record(inner, shard)
                named.spend(record.nbytes, inner.path)
            except FormatError as problem:
                self._problem("array-unreadable", problem)
            else:
                self.records.append(record)
                start = inner.integer("byteOffset")
                taken.append((start, start + inner.integer("nbytes"), record.key))
        self._check_overlaps(shard, taken)

    def _open(self, fields: Fields, path: str, nbytes: int) -> ByteSource:
        try:
            return self.source.sibling(path)
        except ValueError as problem:
            raise self._wrong(
                fields,
                "dataPath",
                "a file in the folder of the index",
                f"{path[:_LETTERS]!r}: {problem}",
            ) from None
        except OSError as problem:
            arrays = len(fields.items("records"))
            if nbytes < 0:
                raise self._wrong(fields, "nbytes", "0 or more", str(nbytes)) from None
            missing = FormatError(
                "a shard is missing",
                file=self.source.name,
                field=f"{fields.path}.dataPath",
                expected=f"the file {path[:_LETTERS]!r} beside the index, with "
                f"{counted(arrays, 'array')}",
                found=problem.strerror or type(problem).__name__,
                hint="Open the index by its path, with all of its shards in the same folder.",
            )
            self._problem("shard-unreadable", missing)
            return MissingShard(path, nbytes)

    def _wrong_size(self, fields: Fields, shard: ByteSource, nbytes: int) -> None:
        short = shard.size < nbytes
        problem = FormatError(
            "the shard is cut off" if short else "the shard is longer than the index says",
            file=shard.name,
            field=f"{fields.path}.nbytes",
            expected=counted(nbytes, "byte"),
            found=counted(shard.size, "byte"),
            hint="TVM says “Encountered an corrupted parameter shard”; copy or download it again.",
        )
        self._tell("shard-size", Severity.ERROR if short else Severity.WARNING, str(problem))
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
            self._tell("arrays-overlap", Severity.WARNING, text)

    def _problem(self, rule: str, problem: FormatError) -> None:
        self.error = self.error or problem
        self._tell(rule, Severity.ERROR, str(problem))

    def _tell(self, rule: str, severity: Severity, text: str) -> None:
        self._told[rule] += 1
        if self._told[rule] <= _TOLD:
            self.issues.append(Issue(rule, severity, text, file=self.source.name))

    def _wrong(self, fields: Fields, name: str, expected: str, found: str) -> FormatError:
        return FormatError(
            "the index of the tensor cache cannot be followed",
            file=self.source.name,
            field=f"{fields.path}.{name}",
            expected=expected,
            found=found,
        )
