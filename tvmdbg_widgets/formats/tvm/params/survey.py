"""Issues of the arrays of a params file by kind; conversion and writing of params files."""

from __future__ import annotations

import os
import struct
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import IO, Literal, TypeAlias

from tvmdbg_widgets.formats.tvm.params.list import LIST_MAGIC, LayoutLike, ListReader
from tvmdbg_widgets.formats.tvm.params.record import (
    ARRAY_MAGIC,
    CPU,
    DTYPE_AT,
    MAX_CODE,
    header_struct,
)
from tvmdbg_widgets.model.base.numbers import agree
from tvmdbg_widgets.model.base.slips import one_of
from tvmdbg_widgets.model.base.text import FormatError, Issue, IssueSeverity, cut, listed
from tvmdbg_widgets.model.base.writing import replacing
from tvmdbg_widgets.model.dtype_layout import DTypeLayout, dtype_layout
from tvmdbg_widgets.model.tensors.array_record import AMBIGUOUS, STORED_AS, ArrayRecord
from tvmdbg_widgets.model.tensors.dtypes import BOOL, CURRENT_ONLY, DataType
from tvmdbg_widgets.sources.byte_source import ByteSource

_NAMES_SHOWN, _LETTERS_SHOWN = 5, 80
#: Rules whose issues repeat notes of arrays.
KINDS = {
    "values-lost": "the file holds their shapes only, no values (TVM up to 0.7 with bool)",
    "lanes-left-out": "only the first 1/lanes of the values are stored, by a fault of TVM's writer",
    "below-one-byte": "less than 8 bits an element: read as packed, low bits first; TVM up to 0.20 "
    "has a byte for each, and in which order its kernels pack them is not known",
    "ambiguous-type-code": "their type code had several meanings; see the notes of each array",
    "stored-as": "float32 values stored as bfloat16 (f32-to-bf16), TVM's default for a tensor "
    "cache: their lower 16 bits were dropped when they were saved",
    "no-numpy-type": "numpy has no such type: shown as bytes",
}


def survey(records: Sequence[ArrayRecord], file: str) -> list[Issue]:
    """Collect repeated names, and the notes of the records by kind."""
    issues = []
    counts = Counter(record.key for record in records)
    repeated = [key for key, count in counts.items() if count > 1]
    if repeated:
        verb = agree(len(repeated), "occurs")
        text = f"{_list(repeated)} {verb} more than once; TVM keeps the last of each"
        issues.append(Issue("duplicate-name", IssueSeverity.WARNING, text, file=file))
    return issues + note_issues([(record, None) for record in records], file)


def note_issues(
    records: Sequence[tuple[ArrayRecord, tuple[int, int] | None]], file: str
) -> list[Issue]:
    """Collect the notes of records, one issue per kind."""
    kinds: dict[str, list[tuple[ArrayRecord, tuple[int, int] | None]]] = {}
    for record, entry in records:
        if record.notes:
            kinds.setdefault(_kind(record), []).append((record, entry))
    issues = []
    for rule, noted in kinds.items():
        harmless = rule in ("no-numpy-type", "stored-as")
        severity = IssueSeverity.NOTE if harmless else IssueSeverity.WARNING
        what = "; ".join(noted[0][0].notes) if len(noted) == 1 else KINDS[rule]
        text = f"{_list([record.key for record, _ in noted])}: {what}"
        entries = tuple(entry for _, entry in noted if entry is not None)
        nodes = tuple(dict.fromkeys(node for node, _ in entries))
        issues.append(Issue(rule, severity, text, nodes=nodes, entries=entries, file=file))
    return issues


def _kind(record: ArrayRecord) -> str:
    if any(note.startswith(STORED_AS) for note in record.notes):
        return "stored-as"
    if record.size and not record.nbytes:
        return "values-lost"
    if record.dtype.lanes > 1:
        return "lanes-left-out"
    if record.dtype.is_packed:
        return "below-one-byte"
    return "ambiguous-type-code" if record.alternatives else "no-numpy-type"


def _list(names: Sequence[str]) -> str:
    return listed([repr(cut(name, _LETTERS_SHOWN)) for name in names], most=_NAMES_SHOWN)


_CHUNK = 1 << 20


@dataclass(frozen=True, slots=True)
class Conversion:
    """A file with checked headers that fit the wanted layout, not written yet."""

    source: ByteSource
    layout: DTypeLayout
    to: DTypeLayout
    records: tuple[ArrayRecord, ...]

    @property
    def size(self) -> int:
        """Size of the converted file in bytes."""
        grown = self.to.size - self.layout.size
        return self.source.size + grown * len(self.records)

    def write(self, target: IO[bytes], progress: Callable[[int], object] | None = None) -> None:
        """Write the file in its new layout."""
        report = progress or (lambda _: None)
        old, new = self.layout, self.to
        done = 0
        for record in self.records:
            place = _dtype_offset(record, self.layout)
            for piece in _pieces(self.source, done, place):
                target.write(piece)
                report(len(piece))
            dtype = DataType(*old.unpack(self.source.read(place, old.size)))
            target.write(new.pack(dtype))
            report(new.size)
            done = place + old.size
        for piece in _pieces(self.source, done, self.source.size):
            target.write(piece)
            report(len(piece))


def conversion(
    source: ByteSource, to: DTypeLayout | str, layout: LayoutLike = "auto"
) -> Conversion:
    """Read all headers of a params file and check that the other layout can hold them."""
    new = dtype_layout(to)
    reader = ListReader(source, layout)
    try:
        reader.read()
        if reader.error is not None:
            raise reader.error
    except FormatError as error:
        raise _unknown_code(error) or error from None
    old = reader.choice.layout if reader.choice else new
    for index, record in enumerate(reader.records):
        dtype = record.stored_dtype or record.dtype
        if new.too_narrow_for(dtype):
            raise _too_wide(record, index, dtype, old, new)
    return Conversion(source, old, new, tuple(reader.records))


def _too_wide(
    record: ArrayRecord, index: int, dtype: DataType, old: DTypeLayout, new: DTypeLayout
) -> FormatError:
    values = {"code": dtype.code, "bits": dtype.bits, "lanes": dtype.lanes}
    field = next(
        item for item in new.fields if not item.lowest <= values[item.name] <= item.highest
    )
    return FormatError(
        f"this data type does not fit into the {new.name} layout",
        file=record.file,
        field=f"array {index} ({record.key!r}): dtype {field.name}",
        offset=_dtype_offset(record, old) + old.field(field.name).offset,
        expected=f"{field.lowest} to {field.highest}",
        found=values[field.name],
        hint="Nothing was written. Choose a layout with a wider field, or leave the array out.",
    )


def _unknown_code(error: FormatError) -> FormatError | None:
    """Return the error for unknown type codes: the file's layout must be given."""
    what = (error.field or "").rpartition(": ")[2]
    if what != "dtype code" or not isinstance(error.found, int) or error.found <= MAX_CODE:
        return None
    return FormatError(
        "no release of TVM has this type code",
        file=error.file,
        field=error.field,
        offset=error.offset,
        expected=error.expected,
        found=error.found,
        hint="Nothing was written. Give the layout that the file has, if its codes are your own.",
    )


def _dtype_offset(record: ArrayRecord, layout: DTypeLayout) -> int:
    """Return the offset of an array's dtype."""
    start = record.offset - 8 * (len(record.shape) + 1) - header_struct(layout).size
    return start + DTYPE_AT


def _pieces(source: ByteSource, start: int, end: int) -> Iterator[memoryview]:
    buffer = memoryview(bytearray(min(_CHUNK, max(0, end - start))))
    while start < end:
        piece = buffer[: min(len(buffer), end - start)]
        source.read_into(start, piece)
        yield piece
        start += len(piece)


Float8: TypeAlias = Literal["auto", "current", "legacy"]

_LOOKED_AT = 4096
_TOGETHER = 64


def settle_types(
    records: Sequence[ArrayRecord], float8: Float8, dtypes: Mapping[str, DataType | str]
) -> tuple[ArrayRecord, ...]:
    """Resolve ambiguous type codes of records, with a note on the reason."""
    one_of("float8", float8, ("auto", "current", "legacy"))
    settled = list(records)
    if any(record.alternatives for record in records):
        era, why = (float8, "as asked for") if float8 != "auto" else _guess(records)
        settled = [_settle(record, era == "legacy", why) for record in records]
    for index, record in enumerate(settled):
        if record.key in dtypes:
            asked = dtypes[record.key]
            settled[index] = record.with_dtype(
                DataType.parse(asked) if isinstance(asked, str) else asked
            )
    return tuple(settled)


def _guess(records: Sequence[ArrayRecord]) -> tuple[Float8, str]:
    if any(record.dtype.code in CURRENT_ONLY for record in records):
        return "current", "other type codes of the file are those of TVM >= 0.21"
    if any((record.dtype.code, record.dtype.bits) == (8, 4) for record in records):
        return "legacy", "code 8 with 4 bits in the file is that of TVM 0.20"
    bools = [record for record in records if record.dtype.code == BOOL and record.nbytes]
    for start in range(0, len(bools), _TOGETHER):
        some = bools[start : start + _TOGETHER]
        heads = some[0].source.read_ranges(
            [(record.offset, min(record.nbytes, _LOOKED_AT)) for record in some]
        )
        if any(head.strip(b"\0\1") for head in heads):
            return "legacy", "arrays of code 6 hold bytes other than 0 and 1"
    return "current", "nothing in the file speaks for TVM 0.13 to 0.20"


def _settle(record: ArrayRecord, legacy: bool, why: str) -> ArrayRecord:
    if not record.alternatives:
        return record
    stored = record.dtype
    old = stored.legacy()
    chosen = old if legacy else stored
    note = (
        f"{AMBIGUOUS}{stored.code} is {old} in TVM 0.13 to 0.20 and {stored} in later ones; read "
        f"as {chosen}, {why} (choose with float8= or with_dtype)"
    )
    return replace(
        record,
        dtype=chosen,
        notes=(*record.notes, note),
        alternatives=tuple(t for t in (stored, old) if t != chosen),
    )


def write_params(
    target: str | os.PathLike[str] | IO[bytes],
    records: Sequence[tuple[str, ArrayRecord]],
    *,
    layout: DTypeLayout | str = "narrow",
) -> None:
    """Write a params file of stored arrays."""
    fields = dtype_layout(layout)
    for name, record in records:
        problem = fields.too_narrow_for(record.stored_dtype or record.dtype)
        if problem:
            raise ValueError(f"{name!r}: {problem}")
    if isinstance(target, str | os.PathLike):
        with replacing(target) as file:
            _write(file, records, fields)
    else:
        _write(target, records, fields)


def _write(
    file: IO[bytes], records: Sequence[tuple[str, ArrayRecord]], layout: DTypeLayout
) -> None:
    count = struct.pack("<Q", len(records))
    file.write(struct.pack("<QQ", LIST_MAGIC, 0) + count)
    for name, _ in records:
        file.write(struct.pack("<Q", len(name.encode())) + name.encode())
    file.write(count)
    for _, record in records:
        ndim = len(record.shape)
        dtype = layout.pack(record.stored_dtype or record.dtype)
        file.write(struct.pack("<QQiii", ARRAY_MAGIC, 0, CPU, 0, ndim) + dtype)
        file.write(struct.pack(f"<{ndim + 1}q", *record.shape, record.nbytes))
        for piece in _pieces(record.source, record.offset, record.offset + record.nbytes):
            file.write(piece)
