"""The list of arrays in a params file: names, counts, and consecutive headers."""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple, TypeAlias

from tqdm.auto import tqdm

from tvmdbg_widgets.formats.tvm.foreign import foreign_file
from tvmdbg_widgets.formats.tvm.params.record import (
    ARRAY_MAGIC,
    DTYPE_AT,
    MAX_CODE,
    HeaderReader,
    PredictedAhead,
    RecordHeader,
)
from tvmdbg_widgets.model.base.numbers import agree, counted
from tvmdbg_widgets.model.base.ranges import GAP, LONGEST
from tvmdbg_widgets.model.base.text import FormatError, IssueLog
from tvmdbg_widgets.model.dtype_layout import NARROW, WIDE, DTypeLayout
from tvmdbg_widgets.model.graph.graph import Graph
from tvmdbg_widgets.model.tensors.array_record import ArrayRecord, storage_notes
from tvmdbg_widgets.sources.byte_source import ByteSource, ReadAhead

LIST_MAGIC = 0xF7E58D4F05049CB7
_U64 = struct.Struct("<Q")


class ListReader:
    """One pass over the headers of a file."""

    def __init__(self, source: ByteSource, wanted: LayoutLike, graph: Graph | None = None) -> None:
        self.source = source
        self.file = source.name
        self.among = layouts_to_try(wanted)
        self.choice: LayoutChoice | None = None
        self.predicted = PredictedAhead(source, graph) if source.far and graph else None
        self.ahead = self.predicted or ReadAhead(source)
        self.headers = HeaderReader(self.ahead, source.name, any_code=self.among != AUTO)
        self.records: list[ArrayRecord] = []
        self.issues = IssueLog(source.name)
        self.error: FormatError | None = None
        self.bare = False
        self._broken_names = 0

    def read(self) -> None:
        """Read everything but values."""
        magic = self._u64(0, "magic") if self.source.size >= 8 else None
        if magic == ARRAY_MAGIC:
            self.bare = True
            end = self._records([""], 0)
        elif magic == LIST_MAGIC:
            names, offset = self._names()
            end = self._records(names, offset)
        else:
            raise foreign_file(self.source)
        self.source.hold(self._headers())
        if self.error is None and end < self.source.size:
            extra = self.source.size - end
            self.issues.note(
                "trailing-bytes",
                f"{counted(extra, 'byte')} {agree(extra, 'follows')} the last array",
            )

    def _headers(self) -> Iterator[tuple[int, int]]:
        """Yield offset and length of names and headers, with the small values between them."""
        start = end = 0
        for record in self.records:
            if record.nbytes > GAP or record.offset - start > LONGEST:
                yield start, record.offset - start
                start = record.offset + record.nbytes
            end = record.offset + record.nbytes
        yield start, end - start

    def _names(self) -> tuple[list[str], int]:
        if self._u64(8, "reserved"):
            self.issues.note("reserved-not-zero", "the file's reserved field is not 0")
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
        if self._broken_names:
            text = (
                f"{counted(self._broken_names, 'name')} {agree(self._broken_names, 'is')} not "
                "UTF-8; odd bytes are shown as \\x.."
            )
            self.issues.note("name-not-utf8", text)
        arrays = self._u64(offset, "number of arrays")
        if arrays != count:
            self._fail("number of arrays", offset, f"{count}, the number of names", arrays)
        return names, offset + 8

    def _text(self, name: bytes) -> str:
        try:
            return name.decode()
        except UnicodeDecodeError:
            self._broken_names += 1
            return name.decode(errors="backslashreplace")

    def _records(self, names: Sequence[str], offset: int) -> int:
        odd: Counter[str] = Counter()
        far = self.source.far
        shown = tqdm(names, desc="headers", unit="array", delay=1, leave=False, disable=not far)
        for index, key in enumerate(shown):
            if self.predicted is not None:
                self._predict(index, names, offset)
            label = "the array" if self.bare else f"array {index} ({key!r})"
            try:
                header = self._header(offset, label, index)
            except FormatError as error:
                self._stop(error, len(names))
                break
            if header.odd:
                odd.update(header.odd)
            self.records.append(self._record(key, header))
            offset = header.offset + header.nbytes
        for what, count in odd.items():
            text = f"{what} in {count} of {counted(len(names), 'array')}, where TVM writes 0"
            self.issues.note("reserved-not-zero", text)
        return offset

    @property
    def layout(self) -> DTypeLayout:
        """Dtype layout of the file; the first candidate until an array decides."""
        return self.choice.layout if self.choice else self.among[0]

    def _predict(self, index: int, names: Sequence[str], offset: int) -> None:
        """Fetch the headers at their predicted offsets; the layout is known after the first."""
        given = len(self.among) == 1
        if self.predicted is None or (index == 0 and not given):
            return
        if index == (0 if given else 1):
            self.predicted.expect(names, self.layout)
        self.predicted.arrive(index, offset)

    def _header(self, offset: int, label: str, index: int) -> RecordHeader:
        choice = self.choice or choose_layout(self.headers, offset, label, self.among)
        try:
            header = self.headers.read(offset, choice.layout, label)
        except FormatError as error:
            other = self._other_that_fits(offset, choice.layout, label)
            if other is not None:
                raise self._mixed(offset, choice.layout, other, label, index) from error
            raise
        if header.dtype.code > MAX_CODE:
            other = self._other_that_fits(offset, choice.layout, label)
            if other is not None:
                raise self._mixed(offset, choice.layout, other, label, index)
        if self.choice is None and choice.also:
            others = ", ".join(layout.name for layout in choice.also)
            text = f"{label} fits other layouts of the dtype as well: {others}; read as "
            self.issues.warning("layout-ambiguous", text + choice.layout.name)
        self.choice = choice
        return header

    def _other_that_fits(self, offset: int, layout: DTypeLayout, label: str) -> DTypeLayout | None:
        for other in dict.fromkeys((*self.among, *AUTO)):
            if other == layout:
                continue
            try:
                self.headers.read(offset, other, label)
            except FormatError:
                continue
            return other
        return None

    def _mixed(
        self, offset: int, layout: DTypeLayout, other: DTypeLayout, label: str, index: int
    ) -> FormatError:
        is_asked = len(self.among) == 1 and index == 0
        problem, why = (
            f"the file mixes {layout.name} and {other.name} dtypes",
            "in the arrays before",
        )
        hint = "It was put together from two files; write it again with one version of TVM."
        if is_asked:
            problem, why = f"the dtype field is {other.name}", "asked for"
            hint = f"Read it with dtype_layout={other.name!r} or 'auto'."
        return _LayoutError(
            problem,
            file=self.file,
            field=f"{label}: dtype",
            offset=offset + DTYPE_AT,
            expected=f"the {layout.name} layout, as {why}",
            found=f"the {other.name} layout",
            hint=hint,
        )

    def _record(self, key: str, header: RecordHeader) -> ArrayRecord:
        dtype, shape, nbytes, offset, _ = header
        notes, other = storage_notes(dtype, shape, nbytes), dtype.alternatives
        return ArrayRecord(key, dtype, shape, nbytes, offset, self.source, notes, other, dtype)

    def _stop(self, error: FormatError, count: int) -> None:
        if not self.records or isinstance(error, _LayoutError):
            raise error
        self.error = error
        read = len(self.records)
        self.issues.error(
            "params-incomplete", f"{read} of {counted(count, 'array')} could be read. {error}"
        )

    def _u64(self, offset: int, field: str) -> int:
        if offset + 8 > self.source.size:
            rest = max(0, self.source.size - offset)
            self._fail(field, offset, "8 bytes", counted(rest, "byte"), "The file is cut off.")
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


class _LayoutError(FormatError):
    """Raised if the other dtype layout fits where the file's own does not."""


#: ``"auto"``, a layout, or several to choose from; text separates several by ``|``.
LayoutLike: TypeAlias = "str | DTypeLayout | Sequence[str | DTypeLayout]"

AUTO = (NARROW, WIDE)
#: The byte after the first of the dtype: ``bits`` (never 0) or the high byte of ``code``, which is
#: 0 for the type codes of every release.
_DECIDING_BYTE = DTYPE_AT + 1


class LayoutChoice(NamedTuple):
    """A layout and the reason for it."""

    layout: DTypeLayout
    reason: str
    also: tuple[DTypeLayout, ...] = ()


def layouts_to_try(given: LayoutLike) -> tuple[DTypeLayout, ...]:
    """Return the layouts that a file may have."""
    several = given.split("|") if isinstance(given, str) else given
    several = [several] if isinstance(several, DTypeLayout) else several
    layouts: list[DTypeLayout] = []
    for item in several:
        if isinstance(item, str) and item.strip() == "auto":
            layouts += AUTO
            continue
        try:
            layouts.append(item if isinstance(item, DTypeLayout) else DTypeLayout(item))
        except ValueError as problem:
            raise ValueError(f"dtype_layout: {problem}") from None
    if not layouts:
        raise ValueError("dtype_layout: no layout given; 'auto' chooses between narrow and wide")
    return tuple(dict.fromkeys(layouts))


def layout_text(given: LayoutLike) -> str:
    """Return an argument of :func:`layouts_to_try` as text."""
    if isinstance(given, str):
        return given
    return " | ".join(layout.name for layout in layouts_to_try(given))


def choose_layout(
    headers: HeaderReader, offset: int, label: str, among: Sequence[DTypeLayout]
) -> LayoutChoice:
    """Choose by the first record of a file."""
    if len(among) == 1:
        return LayoutChoice(among[0], "as asked for")
    names = f"{', '.join(known.name for known in among[:-1])} and {among[-1].name}"
    if tuple(among) == AUTO:
        deciding = headers.peek(offset, _DECIDING_BYTE + 1, f"{label}: header")[-1]
        chosen, other = (NARROW, WIDE) if deciding else (WIDE, NARROW)
        meaning = (
            "bits in narrow, where wide has the high byte of the type code, 0 in every release"
            if deciding
            else "the high byte of the type code in wide, where narrow has bits, which are never 0"
        )
        where = f"byte {offset + _DECIDING_BYTE} of {label} is {deciding:#04x}"
        return LayoutChoice(chosen, f"not {other.name}: {where}, {meaning}")
    fitting: list[DTypeLayout] = []
    odd: list[DTypeLayout] = []
    refused: dict[DTypeLayout, FormatError] = {}
    why: list[str] = []
    for layout in among:
        try:
            code = headers.read(offset, layout, label).dtype.code
        except FormatError as error:
            refused[layout] = error
            field = (error.field or "").removeprefix(f"{label}: ")
            would = f"{field} would be {error.found} (expected {error.expected})"
            why.append(f"{layout.name}: {would}")
            continue
        (fitting if code <= MAX_CODE else odd).append(layout)
        if code > MAX_CODE:
            why.append(f"{layout.name}: dtype code would be {code}, which no release has")
    fitting = fitting or odd
    if not fitting:
        raise FormatError(
            f"no layout among {names} fits",
            file=next(iter(refused.values())).file,
            field=f"{label}: dtype",
            offset=offset + DTYPE_AT,
            expected="a data type in one of them",
            found="; ".join(why),
            hint="Declare the layout of the build that wrote the file, or the file is damaged.",
        )
    chosen = fitting[0]
    because = f"among {names}: not {'; not '.join(why)}" if why else f"the first of {names}"
    return LayoutChoice(chosen, because, tuple(fitting[1:]))
