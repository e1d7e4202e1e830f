"""Texts of compiled code and memory: LLVM IR, hex dumps, and the IR stages of a saved run.

Unoptimized modules have the struct type and address its members. From LLVM 19 on optimized ones
have only offsets in bytes (``getelementptr inbounds i8, ptr %A.handle, i64 20``): what
``lib.mod.inspect_source("ll")`` of TVM 0.27 prints.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import msgspec

from tvmdbg_widgets.formats.family import RECORDING_LIMIT, Kind
from tvmdbg_widgets.formats.json_fields import read_versioned
from tvmdbg_widgets.formats.llvm_ir_reads import (
    IrPlaces,
    IrRead,
    IrStruct,
    Reads,
    dtype_of,
    places_of,
    struct_type,
)
from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.base.text import FormatError, one_line, paired
from tvmdbg_widgets.model.struct_layout import ByteOrder
from tvmdbg_widgets.sources.byte_source import ByteSource, BytesSource

_BITCODE = (b"BC\xc0\xde", b"\xde\xc0\x17\x0b")
_LONGEST_LINE = 20_000
_CHUNK = 1 << 20
#: Reads that are kept of each struct; all are counted.
_MOST_READS = 1000


@dataclass(frozen=True)
class IrTensor:
    """What a module takes for ``DLTensor``."""

    name: str
    line: int
    text: str
    places: IrPlaces
    by_offset: bool
    reads: tuple[IrRead, ...]
    conflicts: tuple[IrRead, ...]
    read_count: int
    conflict_count: int


def read_tensor_types(
    text: str | bytes | ByteSource, name: str = "the module"
) -> tuple[IrTensor, ...]:
    """Return what a module takes for ``DLTensor``, each layout once."""
    structs: dict[str, IrStruct] = {}
    reads = Reads()
    found: dict[tuple[str, IrPlaces], _TensorReads] = {}
    started = False
    for number, line in enumerate(_lines(text, name), 1):
        if line.startswith("define"):
            if not started:
                started = True
                _recognize(structs, reads, found)
            reads.begin()
        elif started:
            if line.startswith("}"):
                _take(reads, found)
            else:
                reads.line(line, number)
        elif "type" in line:
            struct = struct_type(line, number)
            if struct is not None:
                structs[struct.name] = struct
        elif line.startswith("target datalayout"):
            reads.layout(line)
    if not started:
        _recognize(structs, reads, found)
    _take(reads, found)
    return tuple(each.tensor() for each in found.values())


class _TensorReads:
    """A tensor while its reads are collected."""

    def __init__(
        self, name: str, line: int, text: str, places: IrPlaces, *, by_offset: bool
    ) -> None:
        self._told = (name, line, text, places, by_offset)
        self._places = places
        self._reads: list[IrRead] = []
        self._conflicts: list[IrRead] = []
        self._counts = [0, 0]

    def add(self, reads: Iterable[IrRead]) -> None:
        for read in reads:
            kinds = [(0, self._reads)]
            if read.conflicts_with(self._places.widths):
                kinds.append((1, self._conflicts))
            for at, kept in kinds:
                self._counts[at] += 1
                if len(kept) < _MOST_READS:
                    kept.append(read)

    def tensor(self) -> IrTensor:
        return IrTensor(*self._told, tuple(self._reads), tuple(self._conflicts), *self._counts)


def _recognize(
    structs: dict[str, IrStruct], reads: Reads, found: dict[tuple[str, IrPlaces], _TensorReads]
) -> None:
    for struct in structs.values():
        dtype = dtype_of(struct, structs)
        if dtype is not None:
            places = places_of(dtype)
            found[struct.name, places] = _TensorReads(
                struct.name, dtype.line, str(dtype), places, by_offset=False
            )
            reads.know(struct.name, dtype.name)
            reads.keys[struct.name] = (struct.name, places)


def _take(reads: Reads, found: dict[tuple[str, IrPlaces], _TensorReads]) -> None:
    """Hand the reads of a function to the tensors they belong to."""
    for name, some in reads.of_structs():
        found[reads.keys[name]].add(some)
    for handle in reads.of_handles():
        key = ("", handle.places)
        if key not in found:
            found[key] = _TensorReads(
                handle.name,
                min(read.line for read in handle.reads),
                handle.text,
                handle.places,
                by_offset=True,
            )
        found[key].add(handle.reads)
    reads.begin()


def _lines(text: str | bytes | ByteSource, name: str) -> Iterator[str]:
    """Yield the lines, those that are too long as empty ones."""
    if isinstance(text, str):
        for line in text.split("\n"):
            yield line if len(line) <= _LONGEST_LINE else ""
        return
    rest = b""
    for piece in _pieces(text, name):
        *whole, rest = (rest + piece).split(b"\n")
        for each in whole:
            yield each.decode("utf-8", "replace") if len(each) <= _LONGEST_LINE else ""
        if len(rest) > _LONGEST_LINE:
            # Its end is as long as it is: nothing of it is looked at.
            rest = rest[: _LONGEST_LINE + 1]
    yield rest.decode("utf-8", "replace") if len(rest) <= _LONGEST_LINE else ""


def _pieces(text: bytes | ByteSource, name: str) -> Iterator[bytes]:
    size = len(text) if isinstance(text, bytes) else text.size
    for at in range(0, size, _CHUNK):
        length = min(_CHUNK, size - at)
        piece = text[at : at + length] if isinstance(text, bytes) else text.read(at, length)
        if at == 0 and piece[:4] in _BITCODE:
            raise FormatError(
                "this is LLVM bitcode, not its text",
                file=name,
                offset=0,
                expected="text such as `%0 = type { ptr, %1, i32, %2, ptr, ptr, i64 }`",
                found=piece[:4].hex(" "),
                hint="Turn it into text: llvm-dis module.bc -o module.ll",
            )
        yield piece


_ADDRESSED = re.compile(r"\s*(?:(0x)([0-9a-fA-F]{1,16})(\s?<.*?>)?|([0-9a-fA-F]{6,16})):(?=\s|$)")
_BARE = re.compile(r"\s*([0-9a-fA-F]{6,16})(?=\s|$)")
_TOKEN = re.compile(r"\S+")
_GROUP = re.compile(r"(?:0x)?((?:[0-9a-fA-F]{2})+)")
_DIGITS = r"(?:0x)?[0-9a-fA-F]+"
_PROMPTS = ("(gdb)", "(lldb)", "$", ">>>", "#", "%")
#: What gdb prints behind the address where memory ends.
_UNREADABLE = "Cannot access memory"
#: Characters that are read, and bytes that a dump may stand for, those of a ``*`` included.
_MOST_CHARACTERS, _MOST_BYTES = 32 << 20, 64 << 20
_SHOWN = 40
_GDB, _LLDB, _XXD, _HEXDUMP = "gdb's x", "lldb's memory read", "xxd", "hexdump -C"


@dataclass(frozen=True)
class HexDump:
    """Bytes that were printed as hex."""

    data: bytes
    address: int | None
    form: str

    def __repr__(self) -> str:
        where = "" if self.address is None else f" at {self.address:#x}"
        return f"<HexDump: {counted(len(self.data), 'byte')}{where}, read as {self.form}>"


class _Line(NamedTuple):
    """One line of a dump; a ``*`` has no address."""

    number: int
    address: int | None
    groups: list[str]
    letters: str
    form: str


def read_hexdump(
    text: str | bytes, *, order: ByteOrder = "little", words: bool | None = None, name: str = ""
) -> HexDump:
    """Read the bytes that a dump shows."""
    name = name or "hexdump"
    if len(text) > _MOST_CHARACTERS:
        raise FormatError(
            "the dump is too long", file=name, expected=f"at most {_MOST_CHARACTERS:,} characters",
            found=f"{len(text):,}",
        )  # fmt: skip
    if isinstance(text, bytes):
        text = text.decode("utf-8", "replace")
    found = _joined(_lines_hexdump(text, name), order, words, name) or _digits(
        text, order, words, name
    )
    if found is not None:
        return found
    raise FormatError(
        "no bytes are shown here", file=name,
        expected="a dump of gdb, lldb, xxd or hexdump -C, or bytes as hex",
        found=one_line(repr(text.strip()[:_SHOWN])),
        hint="Paste the lines as printed, with their addresses, such as of `x/56xb &tensor`; dumps "
        "of other tools can be printed again with `xxd` or `hexdump -C`.",
    )  # fmt: skip


def _lines_hexdump(text: str, name: str) -> list[_Line]:
    """Return the lines of a dump; what stands before the first is left out."""
    found: list[_Line] = []
    for number, line in enumerate(text.splitlines(), 1):
        stripped = line.strip()
        if not stripped or stripped.startswith(_PROMPTS):
            continue
        own = _line(line, number, name, _HEXDUMP if found and found[-1].form == _HEXDUMP else "")
        if own is None and found and _UNREADABLE not in line:
            raise FormatError(
                "this line is no line of the dump around it", file=name, field=f"line {number}",
                expected="an address and hex digits", found=one_line(repr(stripped[:_SHOWN])),
            )  # fmt: skip
        if own is not None and (found or own.groups):
            found.append(own)
    return found


def _line(line: str, number: int, name: str, before: str) -> _Line | None:
    if line.strip() == "*":
        return _Line(number, None, [], "", before)
    match = _ADDRESSED.match(line)
    if match and _UNREADABLE not in line:
        is_gdb = match[3] or line.startswith("\t", match.end())
        form = _XXD if match[4] else _GDB if is_gdb else _LLDB
        groups, end = _groups(line, match.end(), number, name, len(line))
        return _Line(number, int(match[2] or match[4], 16), groups, line[end:].strip(), form)
    if match := _BARE.match(line):
        ended, mark = line.rstrip(), line.find("|", match.end())
        if mark >= 0 and ended.endswith("|", mark + 1):
            groups, _ = _groups(line, match.end(), number, name, mark)
            letters = ended[mark + 1 : -1]
            return _Line(number, int(match[1], 16), groups, letters, _HEXDUMP)
        # hexdump ends with the address behind the last byte.
        if before and match.end() == len(ended):
            return _Line(number, int(match[1], 16), [], "", before)
    return None


def _groups(line: str, at: int, number: int, name: str, end: int) -> tuple[list[str], int]:
    """Return the groups of digits from a column on, and where they end: letters have a gap."""
    groups: list[str] = []
    size, before, stop = 0, at, min(end, len(line.rstrip()))
    for token in _TOKEN.finditer(line, at, end):
        if (
            groups
            and token.start() - before > 1
            and stop - token.start() <= size
            and end == len(line)
        ):
            return groups, token.start()
        match = _GROUP.fullmatch(token[0])
        if match is None:
            raise _wrong_digits(name, number, token)
        groups.append(match[1])
        size += len(match[1]) // 2
        before = token.end()
    return groups, end


def _wrong_digits(name: str, number: int, token: re.Match[str]) -> FormatError:
    return FormatError(
        "these are no hex digits of whole bytes", file=name,
        field=f"line {number}, column {token.start() + 1}",
        expected="two digits for each byte", found=one_line(repr(token[0][:_SHOWN])),
    )  # fmt: skip


def _joined(lines: list[_Line], order: ByteOrder, words: bool | None, name: str) -> HexDump | None:
    """Return the bytes of all lines, each where its address says."""
    if not lines:
        return None
    form, first = lines[0].form, lines[0].address or 0
    # Debuggers print words of the machine; of xxd, `-e` alone prints words, which it turns always.
    as_words = form in (_GDB, _LLDB) if words is None else words
    turned = as_words and form != _HEXDUMP and (order == "little" or form == _XXD)
    data, before, starred = bytearray(), b"", False
    for line in lines:
        if line.address is None:
            starred = True
            continue
        missing = line.address - first - len(data)
        if missing and not (
            starred and missing > 0 and before and not (line.groups and missing % len(before))
        ):
            raise FormatError(
                "the addresses do not follow each other", file=name, field=f"line {line.number}",
                expected=f"{first + len(data):#x}", found=f"{line.address:#x}",
                hint="A line may be missing, or be of another dump: decode each on its own.",
            )  # fmt: skip
        if len(data) + missing > _MOST_BYTES:
            raise FormatError(
                "the dump stands for more bytes than are read", file=name,
                expected=f"at most {_MOST_BYTES:,}", found=f"{len(data) + missing:,}",
            )  # fmt: skip
        data += (before * (missing // len(before) + 1))[:missing] if missing else b""
        own = b"".join(bytes.fromhex(each)[:: -1 if turned else 1] for each in line.groups)
        shown = "".join(chr(byte) if 0x20 <= byte < 0x7F else "." for byte in own)
        if line.letters and line.letters not in (shown, shown.strip()):
            raise FormatError(
                "the letters of this line are not those of its bytes", file=name,
                field=f"line {line.number}", expected=one_line(repr(shown)),
                found=one_line(repr(line.letters[:_SHOWN])),
                hint="If `xxd -e` printed it, pass words=True (`--words`); else copy it again.",
            )  # fmt: skip
        data += own
        before, starred = own or before, False
    return HexDump(bytes(data), lines[0].address, form)


def _digits(text: str, order: ByteOrder, words: bool | None, name: str) -> HexDump | None:
    """Return bytes that are written as digits alone."""
    found: list[tuple[int, re.Match[str]]] = []
    for number, line in enumerate(text.splitlines(), 1):
        found += [(number, token) for token in re.finditer(r"[^\s,;]+", line)]
    if not found or not re.fullmatch(_DIGITS, found[0][1][0]):
        return None
    prefixed = any(token[0].startswith("0x") for _, token in found)
    several = prefixed or len({number for number, _ in found}) < len(found)
    for number, token in found:
        if not re.fullmatch(_DIGITS, token[0]) or (several and len(token[0]) % 2):
            raise _wrong_digits(name, number, token)
    groups = [token[0].removeprefix("0x") for _, token in found]
    if not several or all(len(group) == 2 for group in groups):
        digits = "".join(groups)
        if len(digits) % 2:
            raise FormatError(
                "half a byte is left over", file=name, expected="an even number of digits",
                found=len(digits),
            )  # fmt: skip
        return HexDump(bytes.fromhex(digits), None, "plain hex")
    if words is None and not prefixed:
        raise FormatError(
            "the groups of digits may be words of the machine, or bytes as they lie", file=name,
            expected="addresses, or groups of two digits", found=one_line(repr(groups[0][:_SHOWN])),
            hint="Say which: words=True or words=False; `--words` or `--bytes` in a shell.",
        )  # fmt: skip
    as_words = prefixed if words is None else words
    step = -1 if as_words and order == "little" else 1
    data = b"".join(bytes.fromhex(group)[::step] for group in groups)
    return HexDump(data, None, "words" if as_words else "plain hex")


FORMAT, VERSION = "tvmdbg-ir", 1

_SNIFF = re.compile(rb'\s*\{\s*"format"\s*:\s*"tvmdbg-ir"')


class _IrStage(msgspec.Struct):
    name: str
    text: str


class _IrDocument(msgspec.Struct):
    stages: list[_IrStage]


def sniff(head: bytes) -> bool:
    """Tell whether a file holds IR text: ``format`` is its first field."""
    return _SNIFF.match(head) is not None


def read_ir(source: ByteSource) -> dict[str, ByteSource]:
    """Read IR text: one source a stage, by name, in the compiler's order."""
    found: dict[str, ByteSource] = {}
    for stage in read_versioned(source, _IrDocument, FORMAT, VERSION, halves=True).stages:
        name = paired(stage.name)
        try:
            text = stage.text.encode("utf-8", "surrogateescape")
        except UnicodeEncodeError:
            text = paired(stage.text).encode()
        found[name] = BytesSource(text, name)
    return found


def ir_document(ir: Mapping[str, ByteSource]) -> dict[str, Any]:
    """Return IR text as the JSON value of a file."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "stages": [{"name": name, "text": ir_text(source)} for name, source in ir.items()],
    }


def ir_text(source: ByteSource) -> str:
    """Return the text of a stage; bytes that are not UTF-8 survive being saved."""
    return source.read(0, source.size).decode("utf-8", "surrogateescape")


KIND = Kind("ir", "IR text", sniff, read_ir, RECORDING_LIMIT)
