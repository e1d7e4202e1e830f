"""Memory or files printed as hex: the bytes, where they lay, and which tool printed them.

Forms: gdb ``x/…x``, lldb ``memory read``, WinDbg ``db``/``dd``/``dq``, ``xxd`` (also ``-e``, ``-i``
and ``-p``), ``hexdump`` (also ``-C``), ``od -x`` and ``od -t x1``, Python's ``b'…'`` and
``bytes.hex()``, C arrays.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tvmdbg_widgets.formats.hexdump_joined import join_lines
from tvmdbg_widgets.formats.hexdump_lines import SHOWN, dump_lines
from tvmdbg_widgets.formats.hexdump_plain import array, digits_alone, literal
from tvmdbg_widgets.model.base.errors import FormatError
from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.base.text import one_line

if TYPE_CHECKING:
    from tvmdbg_widgets.model.abi.struct_layout import ByteOrder

_MOST_CHARACTERS = 256 << 20


@dataclass(frozen=True)
class HexDump:
    """Bytes that were printed as hex."""

    data: bytes
    address: int | None
    form: str

    def __repr__(self) -> str:
        where = "" if self.address is None else f" at {self.address:#x}"
        return f"<HexDump: {counted(len(self.data), 'byte')}{where}, read as {self.form}>"


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
    body = text.strip()
    data = literal(body, name)
    if data is not None:
        return HexDump(data, None, "Python bytes")
    told = array(body, order, name)
    if told is not None:
        return HexDump(told[0], None, told[1])
    lines = [] if _is_plain(body) else dump_lines(text, name)
    if any(line.groups for line in lines):
        return HexDump(*join_lines(lines, order, words, name))
    told = digits_alone(text, order, words, name)
    if told is not None:
        return HexDump(told[0], None, told[1])
    raise FormatError(
        "no bytes are shown here",
        file=name,
        expected="a dump of gdb, lldb, xxd, hexdump or od, or bytes as hex",
        found=one_line(repr(body[:SHOWN])),
        hint="Paste the lines as printed, with their addresses, such as of `x/56xb &tensor`.",
    )


def _is_plain(body: str) -> bool:
    """Whether no word of a text can be an address: words of two digits, or lines of one word."""
    if all(len(word) == 2 for word in body.split()):
        return True
    return all(len(line.split()) == 1 for line in body.splitlines() if line.strip())
