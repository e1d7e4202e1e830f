"""Figures of structs and of bytes: facts, looks, and names that mean harm."""

import struct
from html.parser import HTMLParser
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.figures.figure_checks import assert_sound, root_of, texts
from tvmdbg_widgets.analysis.abi.layout_changes import layout_changes
from tvmdbg_widgets.figures.byte_map import byte_map_figure, byte_map_html
from tvmdbg_widgets.figures.struct import struct_figure
from tvmdbg_widgets.model.base.numbers import ByteField
from tvmdbg_widgets.model.dtype_layout import NARROW, WIDE, DTypeLayout
from tvmdbg_widgets.model.struct_layout import STRUCTS, Machine, StructLayout, struct_layout

HOSTILE = "</title></svg><script>alert(1)</script>\"'&\x1b[31m\u202e\x00\n" + "w" * 400
DECLARED = DTypeLayout("code:u8 lanes:u32 bits:u8")
MACHINES = (Machine(), Machine(32), Machine(32, 4))
MOST_BYTES = 120 * 1024
#: A DLTensor of float32 in a build with the wide layout.
DUMP = struct.pack("<QiiiHHi4xQQQ", 0x55D0C8A3F2C0, 1, 0, 2, 2, 32, 1, 0x55D0C8A40010, 0, 0)
PALE = [{"dtype.bits": ("0", "no type has 0 bits")}, {"dtype.bits": ("32", "")}]
VERDICTS = ["makes no sense: bits is 0", "makes sense: float32"]
#: CallFunc(handle, DataType float32) with a length before it.
PACKET = bytes.fromhex(
    "1c00000000000000 03000000 8877665544332211 01000000 05000000 0220010000000000"
)


def layouts(
    name: str, *dtypes: DTypeLayout, machine: Machine | None = None
) -> list[tuple[str, StructLayout]]:
    return [(dtype.name, struct_layout(name, dtype, machine)) for dtype in dtypes]


def packet_fields() -> ByteField:
    dtype = (
        ByteField("code", 28, 1, "number", "2 (float)"),
        ByteField("bits", 29, 1, "number", "32"),
        ByteField("lanes", 30, 2, "number", "1"),
    )
    return ByteField(
        "CallFunc",
        0,
        36,
        "group",
        "",
        "",
        (
            ByteField("packet_nbytes", 0, 8, "number", "28"),
            ByteField("code", 8, 4, "number", "3 (CallFunc)"),
            ByteField("handle", 12, 8, "pointer", "0x1122334455667788"),
            ByteField("num_args", 20, 4, "number", "1"),
            ByteField("type_code", 24, 4, "number", "5 (DataType)"),
            ByteField("DataType", 28, 4, "group", "float32", "", dtype),
            ByteField("padding", 32, 4, "padding", "", "the receiver takes it for a length"),
        ),
    )


@pytest.mark.parametrize("name", STRUCTS)
@pytest.mark.parametrize("machine", MACHINES, ids=str)
def test_struct_figures_are_legible_and_cover_every_byte(name: str, machine: Machine) -> None:
    given = layouts(name, NARROW, WIDE, DECLARED, machine=machine)
    for theme in ("light", "dark"):
        figure = struct_figure(given, theme=theme)
        assert_sound(figure, MOST_BYTES)
    for (_, layout), told in zip(given, figure.description["layouts"], strict=True):
        parts = [part for section in told["sections"] for part in section["parts"]]
        values = {part["path"]: part for part in parts if part["path"]}
        assert list(values) == [leaf.path for leaf in layout.leaves()]
        for leaf in layout.leaves():
            part = values[leaf.path]
            assert (part["offset"], part["size"], part["type"]) == (
                leaf.offset,
                leaf.type.size,
                leaf.type.name,
            )
            assert leaf.path in figure.text
        padding = [(part["offset"], part["size"]) for part in parts if not part["path"]]
        if not layout.is_union:
            assert sorted(padding) == list(layout.padding)
            assert sum(part["size"] for part in parts) == layout.size


def test_fields_moved_by_wide_layout_are_marked() -> None:
    figure = struct_figure(layouts("DLTensor", NARROW, WIDE))
    narrow, wide = figure.description["layouts"]
    assert (narrow["size"], wide["size"]) == (48, 56)
    assert narrow["changes"] == []
    assert "8 bytes later: shape, strides, byte_offset" in wide["changes"]
    marks = {part["path"]: part["mark"] for part in wide["sections"][0]["parts"] if part["mark"]}
    assert {path: marks[path] for path in ("shape", "strides", "byte_offset")} == dict.fromkeys(
        ("shape", "strides", "byte_offset"), "+8"
    )
    assert set(marks) == {"dtype.code", "dtype.bits", "dtype.lanes", *figure.description["moves"]}
    row = next(line for line in figure.text.splitlines() if line.startswith("shape"))
    assert row.split() == [
        *("shape", "|", "24", "8", "int64_t", "*", "|", "32", "8", "int64_t", "*", "≠", "+8"),
    ]
    assert figure.description["beside"] == 2
    assert struct_figure(layouts("DLTensor", NARROW, WIDE), width=300).description["beside"] == 1


def test_identical_layouts_are_reported_as_equal() -> None:
    named = [
        ("mine", struct_layout("DLTensor", NARROW)),
        ("theirs", struct_layout("DLTensor", NARROW)),
    ]
    _, theirs = struct_figure(named).description["layouts"]
    assert theirs["changes"] == ["every value lies where it does in mine"]


def test_dump_is_shown_in_every_layout_with_invalid_values() -> None:
    given = layouts("DLTensor", NARROW, WIDE)
    figure = struct_figure(given, hexdump=DUMP, values=PALE, verdicts=VERDICTS, theme="dark")
    assert_sound(figure, MOST_BYTES)
    said = texts(figure)
    assert said.count("d0") == 4
    assert "dtype.bits is 0: no type has 0 bits" in said
    assert set(VERDICTS) <= set(said)
    assert [each["sense"] for each in figure.description["layouts"]] == ["no", "yes"]
    assert "narrow: ✗ dtype.bits is 0: no type has 0 bits" in figure.text
    assert "wide: makes sense: float32" in figure.text
    assert "c0 f2 a3 c8 d0 55 00 00" in figure.text


@pytest.mark.parametrize("length", [0, 1, 20, 47, 500])
def test_a_dump_of_any_length(length: int) -> None:
    figure = struct_figure(layouts("DLTensor", NARROW, WIDE), hexdump=DUMP.ljust(500)[:length])
    assert_sound(figure, MOST_BYTES)
    shown = min(length, 48) + min(length, 56)
    assert texts(figure).count("··") == (48 + 56 - shown if length else 0)


def test_hostile_names_and_values_stay_text() -> None:
    layout = struct_layout("DLTensor", NARROW)
    values = {leaf.path: (HOSTILE, HOSTILE) for leaf in layout.leaves()}
    for theme in ("light", "dark", "auto"):
        figure = struct_figure(
            [(HOSTILE, layout), ("", layout)],
            hexdump=DUMP,
            values=[values, values],
            verdicts=[HOSTILE, HOSTILE],
            theme=theme,
        )
        assert "<script" not in figure.svg + figure.html
        assert "\x1b" not in figure.text + figure.html
        if theme != "auto":
            assert_sound(figure, MOST_BYTES)


def test_invalid_struct_figure_arguments_raise() -> None:
    given = layouts("DLTensor", NARROW)
    with pytest.raises(ValueError, match="px wide"):
        struct_figure(given, width=10)
    with pytest.raises(ValueError, match="no theme 'blue'"):
        struct_figure(given, theme="blue")
    for wrong in ({"values": []}, {"verdicts": ["", ""]}):
        with pytest.raises(ValueError, match="zip"):
            struct_figure(given, **wrong)
    with pytest.raises(ValueError, match="no layout"):
        struct_figure([])


fields = st.permutations(["code", "bits", "lanes"])
kinds = st.lists(st.sampled_from(["u8", "u16", "u32", "u64", "i16", "i64"]), min_size=3, max_size=3)


@st.composite
def declarations(draw: st.DrawFn) -> DTypeLayout:
    pairs = zip(draw(fields), draw(kinds), strict=True)
    return DTypeLayout(" ".join(f"{name}:{kind}" for name, kind in pairs))


@settings(max_examples=25)
@given(declarations(), declarations(), st.sampled_from(STRUCTS), st.sampled_from(MACHINES))
def test_layout_changes_turn_first_layout_into_second(
    one: DTypeLayout, other: DTypeLayout, name: str, machine: Machine
) -> None:
    before, after = (struct_layout(name, dtype, machine) for dtype in (one, other))
    changes = layout_changes(before, after)
    for old, new in zip(before.leaves(), after.leaves(), strict=name != "DLDataType"):
        if old.path == new.path:
            assert old.offset + changes.moved.get(old.path, 0) == new.offset
            assert (old.type == new.type) == (old.path not in changes.retyped)
    assert bool(changes.lines()) == (before != after)
    assert_sound(struct_figure([("one", before), ("other", after)], width=400), MOST_BYTES)


def test_a_byte_map_shows_fields_and_bytes() -> None:
    for theme in ("light", "dark"):
        figure = byte_map_figure("Packet 1", packet_fields(), PACKET, theme=theme)
        assert_sound(figure, MOST_BYTES)
    assert [row["name"] for row in figure.description["rows"]] == [
        *("CallFunc", "packet_nbytes", "code", "handle", "num_args", "type_code", "DataType"),
        *("code", "bits", "lanes", "padding"),
    ]
    assert figure.description["rest"] == figure.description["missing"] == 0
    assert "001c      code: 2 (float)  [02]" in figure.text
    assert "! the receiver takes it for a length" in figure.text
    said = texts(figure)
    assert [said.count(each) for each in ("88", "77", "20")] == [1, 1, 1]
    assert any("bits: byte at 29" in each.text for each in figure.hover)


@pytest.mark.parametrize("width", [300, 720])
def test_long_payload_is_shortened(width: int) -> None:
    count = 1 << 20
    data = b"\x07" * 8 + bytes(count) + b"\x09" * 8
    root = ByteField(
        "packet",
        0,
        len(data),
        "group",
        children=(
            ByteField("head", 0, 8, "number"),
            ByteField("data", 8, count, "data"),
            ByteField("tail", 8 + count, 8, "number"),
        ),
    )
    figure = byte_map_figure("long", root, data, width=width)
    assert_sound(figure)
    lines = figure.description["lines"]
    shown = sum(line["size"] for line in lines)
    assert shown + sum(line["left_out"] for line in lines) == len(data)
    assert any(text.startswith("… 1,048,5") for text in texts(figure))
    assert "09" in texts(figure)
    html = byte_map_html("long", root, data)
    assert "… 1,048,064 more bytes" in html
    assert len(html) < 10_000


def test_fields_beyond_the_data_and_too_many_fields() -> None:
    children = tuple(ByteField(f"f{at}", 2 * at, 2, "number", str(at)) for at in range(5000))
    root = ByteField("all", 0, 10_000, "group", children=children)
    figure = byte_map_figure("many", root, bytes(100))
    assert_sound(figure, MOST_BYTES)
    assert figure.description["rows_left_out"] == 5001 - 60
    assert figure.description["missing"] == 9900
    assert "and 4,941 more fields" in figure.text
    assert_sound(byte_map_figure("none", ByteField("nothing", 0, 0, "unknown"), b""))


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: set[str] = set()
        self.attributes: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@given(st.text(max_size=30), st.text(max_size=30), st.binary(max_size=80))
def test_field_names_and_values_are_escaped(name: str, value: str, data: bytes) -> None:
    leaf = ByteField(name + HOSTILE, 0, len(data), "data", value, HOSTILE)
    root = ByteField(name, 0, len(data), "group", value, "", (leaf, leaf))
    html = byte_map_html(name + HOSTILE, root, data)
    reader = _Reader()
    reader.feed(html)
    reader.close()
    assert reader.open == []
    assert reader.tags <= {"div", "b", "details", "summary", "small", "strong", "pre"}
    assert reader.attributes <= {"class", "open", "style"}
    figure = byte_map_figure(name + HOSTILE, root, data)
    assert_sound(figure, MOST_BYTES)
    assert "<script" not in figure.html


def test_hover_areas_match_field_positions() -> None:
    figure = byte_map_figure("Packet 1", packet_fields(), PACKET)
    root = root_of(figure)
    wide, high = (float(root.attrib[name]) for name in ("width", "height"))
    rects = [each for each in root.iter("{http://www.w3.org/2000/svg}rect") if len(each)]
    assert len(rects) == len(figure.hover) == figure.html.count("<span title=")
    for rect, hover in zip(rects, figure.hover, strict=True):
        assert float(rect.attrib["x"]) == pytest.approx(hover.x * wide, abs=0.1)
        assert float(rect.attrib["y"]) == pytest.approx(hover.y * high, abs=0.1)
    rows = [hover.y for hover in figure.hover[:11]]
    assert all(after > before for before, after in pairwise(rows))
