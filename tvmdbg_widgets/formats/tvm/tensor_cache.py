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
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tqdm.auto import tqdm

from tvmdbg_widgets.formats.collector import collector_paused
from tvmdbg_widgets.formats.json_fields import Fields
from tvmdbg_widgets.formats.tvm.params_meaning import settle_types
from tvmdbg_widgets.formats.tvm.params_survey import survey
from tvmdbg_widgets.formats.tvm.tensor_cache_record import HALVED, read_record
from tvmdbg_widgets.model.errors import FormatError
from tvmdbg_widgets.model.issues import Issue, Issues, Severity
from tvmdbg_widgets.model.text import one_line

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tvmdbg_widgets.formats.tvm.params_meaning import Float8
    from tvmdbg_widgets.model.array_record import ArrayRecord
    from tvmdbg_widgets.model.dtypes import DataType
    from tvmdbg_widgets.model.sources import ByteSource

_PIECE = 1 << 22
_TOLD = 25
_OWN = re.compile(r'"(?:dataPath|byteOffset|md5sum)"\s*:|"raw-shard"')


@dataclass(frozen=True, slots=True, eq=False)
class Shard:
    """One file of values.

    Attributes
    ----------
    path
        ``dataPath`` as the index gives it.
    source
        The file.
    nbytes
        Size the index gives.
    md5sum
        Hexadecimal digest the index gives; empty where it gives none.
    """

    path: str
    source: ByteSource
    nbytes: int
    md5sum: str


@dataclass(frozen=True, slots=True, eq=False)
class TensorCache:
    """What a tensor cache holds; like :class:`~tvmdbg_widgets.formats.tvm.params.ParamsFile`.

    Attributes
    ----------
    records
        The arrays in the order of the index; values are read on demand.
    shards
        The files of values that are there.
    metadata
        What the writer added, as parsed.
    issues
        What is odd or wrong about index and shards.
    truncated, error
        Whether something of it could not be read, and the first reason.
    file
        Name of the index.
    """

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
        """Read every shard once and compare it with its md5sum.

        Parameters
        ----------
        progress
            Show a bar when it takes more than a second.

        Returns
        -------
        Issues
            ``shard-damaged`` for each shard whose bytes are not those the index was written for;
            ``shard-not-summed`` for those without an md5sum.
        """
        found: list[Issue] = []
        total = sum(shard.source.size for shard in self.shards)
        with tqdm(
            total=total, desc="verifying", unit="B", unit_scale=True, delay=1, disable=not progress
        ) as bar:
            for shard in self.shards:
                issue = _verified(shard, bar)
                if issue is not None:
                    found.append(issue)
        return Issues(found)

    def __repr__(self) -> str:
        total = sum(record.nbytes for record in self.records)
        state = ", incomplete" if self.truncated else ""
        return (
            f"TensorCache({self.file!r}, {len(self.records)} arrays, {total:,} bytes in "
            f"{len(self.shards)} shards{state}; {self.issues.summary()})"
        )


def sniff(head: bytes) -> bool:
    """Whether a file that starts with these bytes is the index of a tensor cache."""
    text = head.decode(json.detect_encoding(head), errors="ignore").lstrip(" \t\r\n\ufeff")
    return text.startswith("{") and '"records"' in text and _OWN.search(text) is not None


def read_cache(
    source: ByteSource,
    float8: Float8 = "auto",
    dtypes: Mapping[str, DataType | str] | None = None,
) -> TensorCache:
    """Read the index of a tensor cache and find its shards; no values are read.

    Parameters
    ----------
    source
        The index. Shards are looked for beside it and never outside its folder.
    float8, dtypes
        As in :func:`~tvmdbg_widgets.formats.tvm.params.read_params`; the index names types in
        words, so that only `dtypes` changes anything.

    Raises
    ------
    FormatError
        It is no such index, or nothing in it can be read.
    """
    reader = _Reader(source)
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


class _Reader:
    """One pass over an index."""

    def __init__(self, source: ByteSource) -> None:
        self.source = source
        self.records: list[ArrayRecord] = []
        self.shards: list[Shard] = []
        self.issues: list[Issue] = []
        self.error: FormatError | None = None
        self.metadata: Any = None
        self._left_out = 0

    def read(self) -> None:
        document = Fields.of(self.source)
        if document.has("metadata"):
            self.metadata = document.plain("metadata")
        opened: dict[str, ByteSource] = {}
        for i, item in enumerate(document.items("records")):
            try:
                self._shard(Fields(item, self.source.name, f"records[{i}]"), opened)
            except FormatError as problem:
                self._problem("shard-unreadable", problem)
        if self._left_out > _TOLD:
            text = f"{self._left_out - _TOLD:,} more arrays could not be read either"
            self._tell("array-unreadable", Severity.ERROR, text)
        if self.error is not None and not self.records:
            raise self.error

    def _shard(self, fields: Fields, opened: dict[str, ByteSource]) -> None:
        path, nbytes = fields.text("dataPath"), fields.integer("nbytes")
        form = fields.text("format") if fields.has("format") else "raw-shard"
        if form != "raw-shard":
            raise self._wrong(fields, "format", "raw-shard", repr(form[:40]))
        shard = opened.get(path)
        if shard is None:
            shard = opened[path] = self._open(fields, path)
        else:
            text = f"{one_line(path)!r} is named by more than one record"
            self._tell("shard-repeated", Severity.WARNING, text)
        if shard.size != nbytes:
            self._wrong_size(fields, shard, nbytes)
        md5sum = fields.text("md5sum") if fields.has("md5sum") else ""
        self.shards.append(Shard(path, shard, nbytes, md5sum.lower()))
        taken: list[tuple[int, int, str]] = []
        for i, item in enumerate(fields.items("records")):
            try:
                inner = Fields(item, self.source.name, f"{fields.path}.records[{i}]")
                record = read_record(inner, shard)
            except FormatError as problem:
                self._left_out += 1
                self.error = self.error or problem
                if self._left_out <= _TOLD:
                    self._problem("array-unreadable", problem)
            else:
                self.records.append(record)
                start = inner.integer("byteOffset")
                taken.append((start, start + inner.integer("nbytes"), record.key))
        self._check_overlaps(shard, taken)

    def _open(self, fields: Fields, path: str) -> ByteSource:
        try:
            return self.source.sibling(path)
        except ValueError as problem:
            raise self._wrong(
                fields, "dataPath", "a file in the folder of the index", f"{path[:80]!r}: {problem}"
            ) from None
        except OSError as problem:
            arrays = len(fields.items("records"))
            raise FormatError(
                "a shard is missing",
                file=self.source.name,
                field=f"{fields.path}.dataPath",
                expected=f"the file {path[:80]!r} beside the index, with {arrays} arrays",
                found=problem.strerror or type(problem).__name__,
                hint="Open the index by its path, with all of its shards in the same folder.",
            ) from None

    def _wrong_size(self, fields: Fields, shard: ByteSource, nbytes: int) -> None:
        short = shard.size < nbytes
        problem = FormatError(
            "the shard is cut off" if short else "the shard is longer than the index says",
            file=shard.name,
            field=f"{fields.path}.nbytes",
            expected=f"{nbytes} bytes",
            found=f"{shard.size} bytes",
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
            first = " and ".join(map(repr, pairs[0]))
            text = f"{len(pairs)} arrays share bytes with another one in {shard.name}: {first}"
            self._tell("arrays-overlap", Severity.WARNING, text)

    def _problem(self, rule: str, problem: FormatError) -> None:
        self.error = self.error or problem
        self._tell(rule, Severity.ERROR, str(problem))

    def _tell(self, rule: str, severity: Severity, text: str) -> None:
        self.issues.append(Issue(rule, severity, text, file=self.source.name))

    def _wrong(self, fields: Fields, name: str, expected: str, found: str) -> FormatError:
        return FormatError(
            "the index of the tensor cache cannot be followed",
            file=self.source.name,
            field=f"{fields.path}.{name}",
            expected=expected,
            found=found,
        )


def _verified(shard: Shard, bar: Any) -> Issue | None:
    digest = hashlib.md5(usedforsecurity=False)
    for start in range(0, shard.source.size, _PIECE):
        piece = shard.source.read(start, min(_PIECE, shard.source.size - start))
        digest.update(piece)
        bar.update(len(piece))
    if not shard.md5sum:
        text = "the index gives no md5sum of this shard"
        return Issue("shard-not-summed", Severity.NOTE, text, file=shard.source.name)
    if digest.hexdigest() == shard.md5sum:
        return None
    text = f"md5sum: expected {one_line(shard.md5sum[:40])}; found {digest.hexdigest()}. "
    text += "The shard is damaged, or the index is that of another one."
    return Issue("shard-damaged", Severity.ERROR, text, file=shard.source.name)


def same_shards(kept: ByteSource, other: ByteSource) -> bool:
    """Whether two indices beside each other name the same bytes, and the first is to be read.

    The one with ``f32-to-bf16`` gives back float32, the other one (``-b16``) bfloat16.
    """
    try:
        first, second = (Fields.of(each).objects("records") for each in (kept, other))
        places = [
            [
                (shard.text("dataPath"), item.integer("byteOffset"), item.integer("nbytes"))
                for shard in shards
                for item in shard.objects("records")
            ]
            for shards in (first, second)
        ]
        forms = [
            {item.text("format") for shard in shards for item in shard.objects("records")}
            for shards in (first, second)
        ]
    except FormatError:
        return False
    folders = [each.name.rpartition("/")[0] for each in (kept, other)]
    return (
        folders[0] == folders[1]
        and places[0] == places[1]
        and (HALVED in forms[0])
        and HALVED not in forms[1]
    )
