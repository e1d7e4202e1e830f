"""Hex dumps against the tools that print them."""

from __future__ import annotations

import re
import shutil
import subprocess
import textwrap
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tvmdbg_widgets.formats.hexdump import read_hexdump
from tvmdbg_widgets.model.errors import FormatError

if TYPE_CHECKING:
    from pathlib import Path

#: Letters that look like digits, zeros that are left out, and an odd length.
DATA = bytes.fromhex("02200100") + b"ab cd|x>12 34 beef" + bytes(70) + b"deadbeefcafe0"
TOOLS = {
    "xxd": ["xxd"],
    "xxd -g1": ["xxd", "-g1"],
    "xxd -g4 -c24": ["xxd", "-g4", "-c24"],
    "xxd -a": ["xxd", "-a"],
    "xxd -u": ["xxd", "-u"],
    "xxd -p": ["xxd", "-p"],
    "hexdump": ["hexdump"],
    "hexdump -C": ["hexdump", "-C"],
    "hexdump -Cv": ["hexdump", "-Cv"],
    "od -x": ["od", "-x"],
    "od -t x1": ["od", "-t", "x1"],
    "od -t x1z": ["od", "-t", "x1z"],
    "od -A x -t x4": ["od", "-A", "x", "-t", "x4"],
    "od -t x8": ["od", "-t", "x8"],
}


@pytest.mark.parametrize("tool", TOOLS, ids=str)
@pytest.mark.parametrize("data", [DATA, DATA[:16], DATA[:5], b"\0" * 200], ids=len)
def test_what_a_tool_prints_is_read_back(tool: str, data: bytes, tmp_path: Path) -> None:
    command = TOOLS[tool]
    if shutil.which(command[0]) is None:
        pytest.skip(f"no {command[0]} here")
    path = tmp_path / "data"
    path.write_bytes(data)
    printed = subprocess.run([*command, path], capture_output=True, check=True, text=True).stdout
    if tool == "od -x" and not any(data):
        with pytest.raises(FormatError, match="may be octal or hexadecimal"):
            read_hexdump(printed)
        return
    assert read_hexdump(printed).data == data, printed


@settings(max_examples=40)
@given(st.binary(min_size=1, max_size=80), st.sampled_from([1, 2, 4, 8]))
def test_debuggers_print_words_of_the_machine(data: bytes, size: int) -> None:
    data += bytes(-len(data) % size)
    for order in ("little", "big"):
        words = [int.from_bytes(data[at : at + size], order) for at in range(0, len(data), size)]
        per_line = 16 // size
        gdb = []
        for at in range(0, len(words), per_line):
            cells = [f"0x{word:0{2 * size}x}" for word in words[at : at + per_line]]
            where = 0x7FFC12340000 + at * size
            symbol = f" <tensor+{at * size}>" if at else " <tensor>"
            gdb.append(f"{where:#x}{symbol}:\t" + "\t".join(cells))
        found = read_hexdump("(gdb) x/8xw &tensor\n" + "\n".join(gdb), order=order)
        assert found.data == data
        assert found.address == 0x7FFC12340000


@given(st.binary(min_size=1, max_size=60))
def test_python_and_c_spell_bytes(data: bytes) -> None:
    assert read_hexdump(repr(data)).data == data
    assert read_hexdump(data.hex()).data == data
    assert read_hexdump(data.hex(" ")).data == data
    assert read_hexdump(textwrap.fill(data.hex(), 20)).data == data
    items = ", ".join(f"0x{byte:02x}" for byte in data)
    assert read_hexdump(f"{{{items}}};").data == data


def test_lldb_and_windbg() -> None:
    lldb = """\
(lldb) memory read &t
0x16fdff3a8: 02 20 01 00 61 62 63 64 00 00 00 00 00 00 00 00  . ..abcd........
0x16fdff3b8: 01 00 00 00 00 00 00 00                          ........
"""
    found = read_hexdump(lldb)
    assert found.data == bytes.fromhex("02200100 61626364") + bytes(8) + b"\1" + bytes(7)
    assert found.address == 0x16FDFF3A8
    words = "0x16fdff3a8: 0x00012002 0x64636261\n"
    assert read_hexdump(words).data == bytes.fromhex("02200100 61626364")
    windbg = (
        "00007ff6`12345678  02 20 01 00 61 62 63 64-00 00 00 00 00 00 00 00  . ..abcd........\n"
    )
    found = read_hexdump(windbg)
    assert found.data == bytes.fromhex("02200100 61626364") + bytes(8)
    assert found.address == 0x7FF612345678
    assert read_hexdump("00007ff6`12345678  00012002 64636261\n").data == found.data[:8]


def test_xxd_prints_bytes_unless_told_otherwise() -> None:
    printed = "00000000: 02200100 61626364  . ..abcd\n"
    assert read_hexdump(printed).data == bytes.fromhex("02200100 61626364")
    words = read_hexdump("00000000: 00012002 64636261   . ..abcd\n", words=True)
    assert words.data == bytes.fromhex("02200100 61626364")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "no bytes are shown here"),
        ("hello", "no bytes are shown here"),
        ("02 20 0", "no bytes are shown here"),
        ("0220010", "half a byte"),
        ("{0x02, 0x1ff}", "item 1"),
        (r"b'\xzz'", "no byte of a Python literal"),
        (
            "00000000: 0220 0100\n00000010: 0000 0000\n",
            "line 2.*addresses do not follow.*expected 0x4; found 0x10",
        ),
        (
            "00000000: 0220 0100\nnoise here\n00000004: 0000 0000\n",
            "line 2.*no line of the dump",
        ),
        ("00000000  00 00 |..|\n*\nffffffff0  00 |.|\n", "more bytes than are read"),
    ],
)
def test_what_shows_no_bytes_says_where(text: str, told: str) -> None:
    with pytest.raises(FormatError) as caught:
        read_hexdump(text)
    assert re.search(told, str(caught.value)), caught.value


@given(st.text(max_size=300) | st.binary(max_size=300))
def test_any_text_is_bytes_or_a_format_error(text: str | bytes) -> None:
    try:
        told = repr(read_hexdump(text))
    except FormatError as error:
        told = str(error)
    assert "\x1b" not in told


@given(
    st.lists(st.sampled_from(["00000000", ": ", "02", " ", "  ", "|", "\n", "*", "0x", "`", "<"]))
)
def test_pieces_of_dumps_are_bytes_or_a_format_error(pieces: list[str]) -> None:
    try:
        read_hexdump("".join(pieces))
    except FormatError:
        return


def test_hostile_lines_take_linear_time() -> None:
    for piece in ("0", "0x", "<", " ", "00 ", "-00", "`", "* \n", "00000000: \n"):
        try:
            read_hexdump(piece * (400_000 // len(piece)))
        except FormatError:
            continue
