"""Lines of a hex dump put behind each other, by their addresses."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tvmdbg_widgets.formats.hexdump_lines import shown_as
from tvmdbg_widgets.model.base.errors import FormatError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tvmdbg_widgets.formats.hexdump_lines import DumpLine
    from tvmdbg_widgets.model.abi.struct_layout import ByteOrder

#: Bytes that a dump may stand for, those of a ``*`` included.
_MOST_BYTES = 64 << 20
#: Digits of an address of ``od -A x``; without it they are octal.
_OD_HEX_DIGITS = 6
_BASES = {8: "octal", 10: "decimal", 16: "hexadecimal"}
#: Bytes of a word of ``od -x`` and of plain ``hexdump``, which print alike but for addresses.
_SHORT = 2
#: Prints words as a little-endian machine has them, on any.
_LITTLE_ENDIAN = "xxd -e"


class _Step(NamedTuple):
    """What one line adds."""

    line: DumpLine
    repeated: int
    cut: int


class _Jump(NamedTuple):
    line: DumpLine
    expected: int
    found: int


class _Walk(NamedTuple):
    """A dump read with addresses of one base."""

    first: int | None
    steps: list[_Step]
    size: int
    jump: _Jump | None

    @property
    def repeated(self) -> int:
        """Bytes that stand for a ``*``."""
        return sum(step.repeated for step in self.steps)


def join_lines(
    lines: Sequence[DumpLine], order: ByteOrder, words: bool | None, name: str
) -> tuple[bytes, int | None, str]:
    """Return the bytes of all lines, the address of the first, and what printed them."""
    walk = _walk(lines, name)
    form = next(line.form for line in lines if line.groups)
    as_words, form = _words(lines, form, words)
    data = bytearray()
    before = b""
    for line, repeated, cut in walk.steps:
        del data[len(data) - cut :]
        if repeated:
            data += (before * (repeated // len(before) + 1))[:repeated]
        own = b"".join(map(bytes.fromhex, line.groups))
        if as_words and (order == "little" or form == _LITTLE_ENDIAN):
            own = b"".join(bytes.fromhex(group)[::-1] for group in line.groups)
        data += own
        before = own or before
    return bytes(data), walk.first, form


def _words(lines: Sequence[DumpLine], form: str, given: bool | None) -> tuple[bool, str]:
    """Tell whether groups are words of the machine, or bytes as they lie."""
    if max(line.width for line in lines) < _SHORT:
        return False, form
    if form != "xxd":
        return (form != "hexdump -C") if given is None else given, form
    as_words = _letters_say_words(lines) if given is None else given
    return as_words, _LITTLE_ENDIAN if as_words else "xxd, bytes as they lie"


def _letters_say_words(lines: Sequence[DumpLine]) -> bool:
    """Whether the letters of ``xxd`` are those of the words turned round, as ``-e`` prints."""
    lettered = [line for line in lines if line.letters]

    def agree(step: int) -> bool:
        return all(
            line.letters
            == shown_as(b"".join(bytes.fromhex(each)[::step] for each in line.groups)).strip()
            for line in lettered
        )

    return bool(lettered) and not agree(1) and agree(-1)


def _walk(lines: Sequence[DumpLine], name: str) -> _Walk:
    """Read the addresses in the base that makes them follow each other."""
    jumps: list[_Jump] = []
    fitting: dict[int, _Walk] = {}
    for bases in _bases(lines):
        walks = {base: _in_base(lines, base) for base in bases}
        jumps += [walk.jump for walk in walks.values() if walk.jump is not None]
        fitting = fitting or {base: walk for base, walk in walks.items() if walk.jump is None}
    if not fitting:
        raise _jumped(name, max(jumps, key=lambda jump: jump.line.number))
    walk = next(iter(fitting.values()))
    if len({each.repeated for each in fitting.values()}) > 1:
        starred = next(step.line for step in walk.steps if step.repeated)
        raise FormatError(
            f"the addresses may be {' or '.join(_BASES[base] for base in fitting)}", file=name,
            field=f"line {starred.number}", expected="a second line before the first *",
            found=starred.address, hint="Print it without *: `od -v` or `hexdump -v`.",
        )  # fmt: skip
    if walk.size > _MOST_BYTES:
        raise FormatError(
            "the dump stands for more bytes than are read", file=name,
            expected=f"at most {_MOST_BYTES:,}", found=f"{walk.size:,}",
        )  # fmt: skip
    return walk


def _bases(lines: Sequence[DumpLine]) -> list[tuple[int, ...]]:
    """Return the bases that a tool writes addresses in, those that it prefers first."""
    first = next(line for line in lines if line.groups)
    digits = set().union(*(line.address or "" for line in lines))
    bases: tuple[tuple[int, ...], ...] = ((16,),)
    if first.form == "xxd":
        bases = ((16, 10),)
    elif "od" in first.form and len(first.address or "") != _OD_HEX_DIGITS:
        bases = ((8, 16, 10),) if first.width == _SHORT else ((8, 10), (16,))
    return [
        tuple(base for base in each if base == 16 or digits <= set("0123456789"[:base]))
        for each in bases
    ]


def _in_base(lines: Sequence[DumpLine], base: int) -> _Walk:
    steps: list[_Step] = []
    first: int | None = None
    size = before = width = 0
    starred = False
    for line in lines:
        if line.address is None:
            starred = True
            continue
        address = int(line.address.replace("`", ""), base)
        first = address if first is None else first
        missing = address - first - size
        filled = not line.groups and -width < missing < 0
        is_even = before and missing % before == 0
        is_last = base == 16 and before and not line.groups
        repeats = starred and missing > 0 and (is_even or is_last)
        if not repeats if starred else missing and not filled:
            return _Walk(first, steps, size, _Jump(line, first + size, address))
        steps.append(_Step(line, max(missing, 0), max(-missing, 0)))
        size += missing + line.size
        before = line.size or before
        width = line.width
        starred = False
    return _Walk(first, steps, size, None)


def _jumped(name: str, jump: _Jump) -> FormatError:
    line, expected, found = jump
    return FormatError(
        "the addresses do not follow each other", file=name, field=f"line {line.number}",
        expected=f"{expected:#x}", found=f"{found:#x}",
        hint="A line may be missing, or belong to another dump: decode each piece on its own.",
    )  # fmt: skip
