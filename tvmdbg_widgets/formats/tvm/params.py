"""TVM's params list: `output_tensors.params` of the debugger, and any saved parameters.

``SaveParams`` and ``LoadParams``, src/runtime/file_utils.cc @ v0.5 to v0.26 (the bytes never
changed): u64 magic, u64 reserved, u64 n, n × (u64 length, name), u64 n, n × array.
"""

from __future__ import annotations

import struct
import warnings
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from tvmdbg_widgets.formats.tvm.foreign import foreign_file
from tvmdbg_widgets.formats.tvm.params_meaning import Float8, settle_types
from tvmdbg_widgets.formats.tvm.params_record import (
    ARRAY_MAGIC,
    HeaderReader,
    Layout,
)
from tvmdbg_widgets.model.array_record import ArrayRecord, storage_notes
from tvmdbg_widgets.model.errors import FormatError
from tvmdbg_widgets.model.issues import Issue, Issues, Severity
from tvmdbg_widgets.model.readahead import ReadAhead
from tvmdbg_widgets.model.sources import ByteSource, SourceLike, as_source

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np

    from tvmdbg_widgets.formats.tvm.params_record import RecordHeader
    from tvmdbg_widgets.model.dtypes import DataType

DTypeLayout: TypeAlias = Literal["auto", "narrow", "wide"]

LIST_MAGIC = 0xF7E58D4F05049CB7
_U64 = struct.Struct("<Q")
_NAMES_SHOWN = 5


@dataclass(frozen=True, slots=True, eq=False)
class ParamsFile:
    """What one params file holds.

    Attributes
    ----------
    records
        The arrays in file order; values are read on demand.
    layout
        ``"narrow"`` or ``"wide"``: how the file stores dtypes. ``"narrow"`` without arrays.
    issues
        What is odd or wrong about the file.
    truncated
        Whether the file breaks off or is damaged; ``records`` then holds what came before.
    error
        The break, where there is one.
    bare
        Whether the file is a single array without a list around it; its key is ``""``.
    file
        Name of the file.
    """

    records: tuple[ArrayRecord, ...]
    layout: Layout
    issues: Issues
    truncated: bool
    error: FormatError | None
    bare: bool
    file: str

    @property
    def keys(self) -> tuple[str, ...]:
        """Names in file order, duplicates included."""
        return tuple(record.key for record in self.records)

    def __repr__(self) -> str:
        total = sum(record.nbytes for record in self.records)
        state = ", incomplete" if self.truncated else ""
        return (
            f"ParamsFile({self.file!r}, {len(self.records)} arrays, {total:,} bytes, "
            f"{self.layout} dtypes{state}; {self.issues.summary()})"
        )


def sniff(head: bytes) -> bool:
    """Tell from the first 8 bytes whether a file is a params list or one bare array."""
    return len(head) >= 8 and _U64.unpack_from(head)[0] in (LIST_MAGIC, ARRAY_MAGIC)


def read_params(
    source: SourceLike,
    dtype_layout: DTypeLayout = "auto",
    float8: Float8 = "auto",
    dtypes: Mapping[str, DataType | str] | None = None,
) -> ParamsFile:
    """Read the headers of a params file; no values are read.

    Parameters
    ----------
    source
        Path, bytes, binary file object or byte source.
    dtype_layout
        ``"narrow"`` is TVM's own dtype field of 4 bytes, ``"wide"`` one of 8 (code u16, bits
        u16, lanes i32). ``"auto"`` decides by the first array; a file never mixes them.
    float8
        What type codes 6 and 7 mean: ``"current"`` (bool and float8_e3m4, as in TVM >= 0.21),
        ``"legacy"`` (float8_e4m3fn and float8_e5m2, TVM 0.13 to 0.20), or ``"auto"``: by the
        other types in the file, and legacy if code 6 comes with bytes other than 0 and 1.
    dtypes
        Types by name of array, which overrule both the file and ``float8``.

    Returns
    -------
    ParamsFile
        Of a damaged file the arrays before the damage, ``truncated`` set.

    Raises
    ------
    FormatError
        The file is something else, mixes layouts, or nothing in it can be read.
    ValueError
        An argument is none of those above.
    """
    if dtype_layout not in ("auto", "narrow", "wide"):
        raise ValueError(f"dtype_layout must be auto, narrow or wide, not {dtype_layout!r}")
    source = as_source(source)
    reader = _Reader(source, dtype_layout)
    reader.read()
    records = settle_types(reader.records, float8, dtypes or {})
    return ParamsFile(
        records=records,
        layout=reader.layout or ("wide" if dtype_layout == "wide" else "narrow"),
        issues=Issues([*reader.issues, *_survey(records, source.name)]),
        truncated=reader.error is not None,
        error=reader.error,
        bare=reader.bare,
        file=source.name,
    )


def load_params(
    data: SourceLike,
    *,
    dtype_layout: DTypeLayout = "auto",
    float8: Float8 = "auto",
    dtypes: Mapping[str, DataType | str] | None = None,
) -> dict[str, np.ndarray[Any, Any]]:
    """Load saved parameters as numpy arrays, as ``tvm.runtime.load_param_dict`` does.

    Parameters
    ----------
    data
        The bytes, or a path to them, or a binary file object.
    dtype_layout, float8, dtypes
        See ``read_params``.

    Returns
    -------
    dict of str to numpy array
        In file order; of several arrays of one name the last, as in TVM. Small floats, bfloat16
        and integers below 8 bits have ``ml_dtypes`` types. Where the file does not hold the
        values as declared (see ``ArrayRecord.notes``) a ``UserWarning`` says so.

    Raises
    ------
    FormatError
        The data is not a complete params file.
    """
    params = read_params(data, dtype_layout, float8, dtypes)
    if params.error is not None:
        raise params.error
    for record in params.records:
        for note in record.notes:
            warnings.warn(f"{record.key!r}: {note}", stacklevel=2)
    return {record.key: record.numpy() for record in params.records}


class _Reader:
    """One pass over the headers of a file."""

    def __init__(self, source: ByteSource, wanted: DTypeLayout) -> None:
        self.source = source
        self.file = source.name
        self.wanted = wanted
        self.layout: Layout | None = None if wanted == "auto" else wanted
        self.ahead = ReadAhead(source)
        self.headers = HeaderReader(self.ahead, source.name)
        self.records: list[ArrayRecord] = []
        self.issues: list[Issue] = []
        self.error: FormatError | None = None
        self.bare = False

    def read(self) -> None:
        magic = self._u64(0, "magic") if self.source.size >= 8 else None
        if magic == ARRAY_MAGIC:
            self.bare = True
            end = self._records([""], 0)
        elif magic == LIST_MAGIC:
            names, offset = self._names()
            end = self._records(names, offset)
        else:
            raise foreign_file(self.source)
        if self.error is None and end < self.source.size:
            extra = self.source.size - end
            self._note("trailing-bytes", Severity.NOTE, f"{extra} bytes follow the last array")

    def _names(self) -> tuple[list[str], int]:
        if self._u64(8, "reserved"):
            self._note("reserved-not-zero", Severity.NOTE, "the file's reserved field is not 0")
        count = self._u64(16, "number of names")
        offset = 24
        if count * 8 > self.source.size - offset:
            self._fail("number of names", 16, f"at most {(self.source.size - 24) // 8}", count)
        names = []
        for index in range(count):
            length = self._u64(offset, f"name {index}: length")
            rest = self.source.size - offset - 8
            if length > rest:
                self._fail(f"name {index}: length", offset, f"at most {rest}", length)
            names.append(self._text(self.ahead.bytes(offset + 8, length)))
            offset += 8 + length
        arrays = self._u64(offset, "number of arrays")
        if arrays != count:
            self._fail("number of arrays", offset, f"{count}, the number of names", arrays)
        return names, offset + 8

    def _text(self, name: bytes) -> str:
        try:
            return name.decode()
        except UnicodeDecodeError:
            text = name.decode(errors="backslashreplace")
            self._note("name-not-utf8", Severity.NOTE, f"a name is not UTF-8; shown as {text!r}")
            return text

    def _records(self, names: Sequence[str], offset: int) -> int:
        odd: Counter[str] = Counter()
        for index, key in enumerate(names):
            label = "the array" if self.bare else f"array {index} ({key!r})"
            try:
                header = self._header(offset, label, index)
            except FormatError as error:
                self._stop(error, len(names))
                break
            odd.update(header.odd)
            self.records.append(self._record(key, header))
            offset = header.offset + header.nbytes
        for what, count in odd.items():
            text = f"{what} in {count} of {len(names)} arrays, where TVM writes 0"
            self._note("reserved-not-zero", Severity.NOTE, text)
        return offset

    def _header(self, offset: int, label: str, index: int) -> RecordHeader:
        layout = self.layout or self.headers.detect_layout(offset, label)
        try:
            header = self.headers.read(offset, layout, label)
        except FormatError as error:
            if self._other_layout_fits(offset, layout, label):
                raise self._mixed(offset, layout, label, index) from error
            raise
        self.layout = layout
        return header

    def _other_layout_fits(self, offset: int, layout: Layout, label: str) -> bool:
        try:
            self.headers.read(offset, "wide" if layout == "narrow" else "narrow", label)
        except FormatError:
            return False
        return True

    def _mixed(self, offset: int, layout: Layout, label: str, index: int) -> FormatError:
        other = "wide" if layout == "narrow" else "narrow"
        place = {"file": self.file, "field": f"{label}: dtype"}
        if self.wanted != "auto" and index == 0:
            return _LayoutError(
                f"the dtype field is {other}",
                **place,
                offset=offset + 28,
                expected=f"the {layout} layout, as asked for",
                found=f"the {other} layout",
                hint=f"Read it with dtype_layout={other!r} or 'auto'.",
            )
        return _LayoutError(
            "the file mixes narrow and wide dtypes",
            **place,
            offset=offset + 28,
            expected=f"the {layout} layout, as in the arrays before",
            found=f"the {other} layout",
            hint="It was put together from two files; write it again with one version of TVM.",
        )

    def _record(self, key: str, header: RecordHeader) -> ArrayRecord:
        dtype, shape, nbytes, offset, _ = header
        notes = storage_notes(dtype, shape, nbytes)
        alternatives = dtype.alternatives
        return ArrayRecord(
            key, dtype, shape, nbytes, offset, self.source, notes, alternatives, dtype
        )

    def _stop(self, error: FormatError, count: int) -> None:
        if not self.records or isinstance(error, _LayoutError):
            raise error
        self.error = error
        read = len(self.records)
        self._note(
            "params-incomplete", Severity.ERROR, f"{read} of {count} arrays could be read. {error}"
        )

    def _u64(self, offset: int, field: str) -> int:
        if offset + 8 > self.source.size:
            rest = max(0, self.source.size - offset)
            self._fail(field, offset, "8 bytes", f"{rest} bytes", "The file is cut off.")
        position = self.ahead.locate(offset, 8)
        value: int = _U64.unpack_from(self.ahead.buffer, position)[0]
        return value

    def _fail(
        self, field: str, offset: int, expected: object, found: object, hint: str | None = None
    ) -> None:
        raise FormatError(
            "not a valid params file",
            file=self.file,
            field=field,
            offset=offset,
            expected=expected,
            found=found,
            hint=hint,
        )

    def _note(self, rule: str, severity: Severity, message: str) -> None:
        self.issues.append(Issue(rule, severity, message, file=self.file))


class _LayoutError(FormatError):
    """The other dtype layout fits where the file's own does not."""


def _survey(records: Sequence[ArrayRecord], file: str) -> list[Issue]:
    """Collect what the records say about themselves, one issue per kind."""
    issues = []
    counts = Counter(record.key for record in records)
    repeated = [key for key, count in counts.items() if count > 1]
    if repeated:
        text = f"{_list(repeated)} occur more than once; TVM keeps the last of each"
        issues.append(Issue("duplicate-name", Severity.WARNING, text, file=file))
    kinds: dict[str, list[ArrayRecord]] = {}
    for record in records:
        if record.notes:
            kinds.setdefault(_kind(record), []).append(record)
    for rule, found in kinds.items():
        severity = Severity.NOTE if rule == "no-numpy-type" else Severity.WARNING
        what = found[0].notes[-1] if len(found) == 1 else _KINDS[rule]
        text = f"{_list([record.key for record in found])}: {what}"
        issues.append(Issue(rule, severity, text, file=file))
    return issues


_KINDS = {
    "values-lost": "the file holds their shapes only, no values (TVM up to 0.7 with bool)",
    "lanes-left-out": "only the first 1/lanes of the values are stored, by a fault of TVM's writer",
    "below-one-byte": "less than 8 bits an element: read as packed, low bits first; bytes beyond "
    "the data may be stored too",
    "ambiguous-type-code": "their type code had several meanings; see the notes of each array",
    "no-numpy-type": "numpy has no such type: shown as bytes",
}


def _kind(record: ArrayRecord) -> str:
    if record.size and not record.nbytes:
        return "values-lost"
    if record.dtype.lanes > 1:
        return "lanes-left-out"
    if record.dtype.is_packed:
        return "below-one-byte"
    return "ambiguous-type-code" if record.alternatives else "no-numpy-type"


def _list(names: Sequence[str]) -> str:
    shown = ", ".join(repr(name) for name in names[:_NAMES_SHOWN])
    rest = len(names) - _NAMES_SHOWN
    return f"{shown} and {rest} more" if rest > 0 else shown
