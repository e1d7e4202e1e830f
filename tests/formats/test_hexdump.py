"""Hex dumps against the tools that print them."""

import re
import shutil
import subprocess
import tempfile
import textwrap

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tvmdbg_widgets.formats.hexdump import read_hexdump
from tvmdbg_widgets.model.base.text import FormatError

#: Letters that look like digits, zeros that are left out, and an odd length.
DATA = bytes.fromhex("02200100") + b"ab cd|x>12 34 beef" + bytes(70) + b"deadbeefcafe0"
TOOLS = {
    "xxd": ["xxd"],
    "xxd -g1": ["xxd", "-g1"],
    "xxd -g4 -c24": ["xxd", "-g4", "-c24"],
    "xxd -a": ["xxd", "-a"],
    "xxd -u": ["xxd", "-u"],
    "xxd -p": ["xxd", "-p"],
    "hexdump -C": ["hexdump", "-C"],
    "hexdump -Cv": ["hexdump", "-Cv"],
    "xxd -g0": ["xxd", "-g0"],
    "xxd -g3": ["xxd", "-g3"],
    "xxd -c64 -g2": ["xxd", "-c64", "-g2"],
    "xxd -c4 -g1": ["xxd", "-c4", "-g1"],
    "xxd -o": ["xxd", "-o", "0x7fff0000"],
}


@pytest.mark.parametrize("tool", TOOLS, ids=str)
@pytest.mark.parametrize("data", [DATA, DATA[:16], DATA[:5], b"\0" * 200], ids=len)
def test_hex_dump_of_a_tool_is_read_back(tool: str, data: bytes) -> None:
    printed = print_with(TOOLS[tool], data)
    assert read_hexdump(printed).data == data, printed


def print_with(command: list[str], data: bytes) -> str:
    if shutil.which(command[0]) is None:
        pytest.skip(f"no {command[0]} here")
    with tempfile.NamedTemporaryFile() as file:
        file.write(data)
        file.flush()
        done = subprocess.run([*command, file.name], capture_output=True, check=True, text=True)
    return done.stdout


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_first_line_is_read_whatever_the_encoding(encoding: str, newline: str) -> None:
    text = newline.join(["0x7ffe: 0x01 0x02", "0x8000: 0x03 0x04", ""])
    for pasted in (text, "\ufeff" + text, text.encode(encoding)):
        assert read_hexdump(pasted).data == bytes([1, 2, 3, 4])


#: Letters that are digits, gaps, and the marks of other tools' columns.
TRICKY = st.lists(
    st.sampled_from(list(b"  ||<>0123abef-:.*`\0\x80\xff")) | st.integers(0, 255),
    min_size=1, max_size=40,
).map(bytes)  # fmt: skip


@settings(max_examples=25, deadline=None)
@given(TRICKY)
@pytest.mark.parametrize("tool", TOOLS, ids=str)
def test_letters_are_never_read_as_digits(tool: str, data: bytes) -> None:
    printed = print_with(TOOLS[tool], data)
    assert read_hexdump(printed).data == data, printed


@settings(max_examples=25, deadline=None)
@given(TRICKY)
@pytest.mark.parametrize("size", [2, 4, 8])
def test_words_of_xxd_are_read_back(size: int, data: bytes) -> None:
    printed = print_with(["xxd", "-e", f"-g{size}"], data)
    assert read_hexdump(printed, words=True).data == data, printed
    assert read_hexdump(printed, words=True, order="big").data == data, printed


def shown(data: bytes) -> str:
    return "".join(chr(byte) if 0x20 <= byte < 0x7F else "." for byte in data)


@given(TRICKY)
def test_lldb_bytes_with_text_are_read(data: bytes) -> None:
    lines = []
    for at in range(0, len(data), 16):
        own = data[at : at + 16]
        lines.append(f"{0x16FDFF3A8 + at:#x}: {own.hex(' '):<47}  {shown(own)}")
    found = read_hexdump("(lldb) memory read &t\n" + "\n".join(lines))
    assert (found.data, found.address, found.form) == (data, 0x16FDFF3A8, "lldb's memory read")


@given(st.lists(st.integers(0, 2**32 - 1), min_size=1, max_size=9))
def test_words_without_addresses(numbers: list[int]) -> None:
    for order in ("little", "big"):
        data = b"".join(number.to_bytes(4, order) for number in numbers)
        items = ", ".join(f"{number:#010x}" for number in numbers)
        assert read_hexdump(items.replace(",", "\t"), order=order).data == data
    bare = " ".join(f"{number:08x}" for number in [*numbers, 0])
    with pytest.raises(FormatError, match="may be words of the machine, or bytes as they lie"):
        read_hexdump(bare)
    assert read_hexdump(bare, words=False).data == bytes.fromhex(bare)


def test_gdb_symbols_and_errors_are_ignored() -> None:
    symbols = (
        "0x404060 <std::vector<int>::x>:\t0x00404100\t0x00000000\n"
        "0x404068 <std::vector<int>::x+8>:\t0x00000002\t0x00200002\n"
    )
    told = bytes.fromhex("00414000 00000000 02000000 02002000")
    assert read_hexdump(symbols).data == told
    ended = symbols + "0x404070:\tCannot access memory at address 0x404070\n"
    assert read_hexdump(ended).data == told


@settings(max_examples=40)
@given(st.binary(min_size=1, max_size=80), st.sampled_from([1, 2, 4, 8]))
def test_debugger_words_are_read_in_their_byte_order(data: bytes, size: int) -> None:
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
def test_digits_alone_are_bytes(data: bytes) -> None:
    assert read_hexdump(data.hex()).data == data
    assert read_hexdump(data.hex(" ")).data == data
    assert read_hexdump(textwrap.fill(data.hex(), 20)).data == data


def test_lldb_words_are_read() -> None:
    words = "0x16fdff3a8: 0x00012002 0x64636261\n"
    assert read_hexdump(words).data == bytes.fromhex("02200100 61626364")


def test_xxd_groups_are_bytes_by_default() -> None:
    printed = "00000000: 02200100 61626364  . ..abcd\n"
    assert read_hexdump(printed).data == bytes.fromhex("02200100 61626364")
    words = read_hexdump("00000000: 00012002 64636261   . ..abcd\n", words=True)
    assert words.data == bytes.fromhex("02200100 61626364")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "no bytes are shown here"),
        ("hello", "no bytes are shown here"),
        ("02 20 0", "line 1, column 7: .* found '0'"),
        ("02 20\n00 zz", "line 2, column 4: .* found 'zz'"),
        ("0x40:\t0x01\t0x0g\n", "line 1, column 12: .* found '0x0g'"),
        ("0x40:\t0x01\n0x41:\t0xzz\n", "line 2, column 7"),
        ("0x40:\t0x01\n0x4g:\t0x02\n", "line 2.*no line of the dump"),
        ("00000000: 0220\n00000002: 0g20\n", "line 2, column 11"),
        (
            "00000000  02 20  |. |\n00000002  02  |. |\n",
            "line 2.*letters of this line are not those",
        ),
        ("0220010", "half a byte"),
        ("00000000: 64636261 68676665  abcdefgh\n", "line 1.*letters.*`xxd -e`.*words=True"),
        ("b'\\x02'", "no bytes are shown here.*xxd"),
        ("{0x02, 0x20}", "no bytes are shown here"),
        ("0000000 2002 0001\n0000004\n", "line 1, column 1: .* found '0000000'"),
        ("0000000 02 20 01 00\n0000004\n", "line 1, column 1"),
        ("00007ff6`12345678  02 20 01 00\n", "no bytes are shown here"),
        (
            "00000000: 0220 0100\n00000010: 0000 0000\n",
            "line 2.*addresses do not follow.*expected 0x4; found 0x10",
        ),
        ("00000000: 0220 0100\nnoise here\n00000004: 0000 0000\n", "line 2.*no line of the dump"),
        ("00000000  00 00 |..|\n*\nffffffff0  00 |.|\n", "more bytes than are read"),
    ],
)
def test_unreadable_hex_dump_is_refused_with_the_reason(text: str, told: str) -> None:
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
    for piece in (
        *("0", "0x", "<", " ", "00 ", "-00", "`", "* \n", "00000000: \n", "00  ", "\\", "b'"),
    ):
        try:
            read_hexdump(piece * (400_000 // len(piece)))
        except FormatError:
            continue
