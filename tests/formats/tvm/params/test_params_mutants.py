"""Proof that the tests see a reader whose field offsets are wrong by one byte.

Each field of the format is moved in the reader, and a check against TVM's own bytes must fail.
"""

from __future__ import annotations

import io
import struct
from collections.abc import Iterator

import numpy as np
import pytest
from formats.tvm.params.params_truth import DATA

from tvmdbg_widgets.formats.tvm.params import list as params_layout
from tvmdbg_widgets.formats.tvm.params import list as params_list
from tvmdbg_widgets.formats.tvm.params import record as params_record
from tvmdbg_widgets.formats.tvm.params.file import read_params
from tvmdbg_widgets.formats.tvm.params.survey import write_params
from tvmdbg_widgets.model.base.text import FormatError
from tvmdbg_widgets.model.dtype_layout import DTypeLayout

FIELDS = ("magic", "reserved", "device_type", "device_id", "ndim", "code", "bits", "lanes")


class Shifted:
    """A struct of which one field is read one byte further on."""

    def __init__(self, original: struct.Struct, moved: int, by: int) -> None:
        self.size = original.size
        self._parts = []
        offset = 0
        for index, letter in enumerate(original.format.lstrip("<")):
            part = struct.Struct("<" + letter)
            self._parts.append((part, offset + (by if index == moved else 0)))
            offset += part.size

    def unpack_from(self, buffer: bytes, offset: int) -> tuple[int, ...]:
        return tuple(part.unpack_from(buffer, offset + at)[0] for part, at in self._parts)


def expected() -> Iterator[tuple[str, str, tuple[int, ...], str]]:
    yield from (
        ("float32", "float32", (3, 5), "p1"),
        ("rank6", "int16", (2, 2, 2, 2, 2, 2), "p26"),
        ("scalar_i64", "int64", (), "p22"),
        ("bfloat16", "bfloat16", (3, 5), "p12"),
    )


def notices_ignored_fields(data: bytes) -> bool:
    """Whether values other than 0 in the ignored fields of the first array are told as they are."""
    marked = bytearray(data)
    first = marked.index(struct.pack("<Q", params_record.ARRAY_MAGIC))
    marked[first + 8 : first + 16] = struct.pack("<Q", 0x1122334455667788)
    marked[first + 20 : first + 24] = struct.pack("<i", 0x01020304)
    said = " ".join(i.message for i in read_params(bytes(marked)).issues)
    return f"reserved is {0x1122334455667788}" in said and f"device_id is {0x01020304}" in said


def reads_right(data: bytes) -> bool:
    """Whether names, types, shapes and bytes are those TVM saved, and nothing is odd."""
    try:
        if not notices_ignored_fields(data):
            return False
        file = read_params(data)
        records = {record.key: record for record in file.records}
        with np.load(DATA / "relax" / "params_all_raw_u8.npz") as raw:
            return (
                len(records) == 29
                and not file.truncated
                and not file.issues.by_rule("reserved-not-zero")
                and not file.issues.by_rule("trailing-bytes")
                and all(
                    records[key].dtype.name == dtype
                    and records[key].shape == shape
                    and records[key].raw().tobytes() == raw[item].tobytes()
                    for key, dtype, shape, item in expected()
                )
            )
    except (FormatError, KeyError, struct.error):
        return False


@pytest.fixture(scope="module")
def files() -> dict[str, bytes]:
    narrow = (DATA / "relax" / "params_all.bin").read_bytes()
    wide = io.BytesIO()
    write_params(wide, [(r.key, r) for r in read_params(narrow).records], layout="wide")
    return {"narrow": narrow, "wide": wide.getvalue()}


@pytest.mark.parametrize("layout", ["narrow", "wide"])
def test_the_reader_as_it_is_reads_right(files: dict[str, bytes], layout: str) -> None:
    assert reads_right(files[layout])


@pytest.mark.parametrize("layout", ["narrow", "wide"])
@pytest.mark.parametrize("field", FIELDS)
@pytest.mark.parametrize("by", [-1, 1])
def test_a_moved_header_field_is_seen(
    files: dict[str, bytes], monkeypatch: pytest.MonkeyPatch, layout: str, field: str, by: int
) -> None:
    index = FIELDS.index(field)
    original = params_record.header_struct

    def moved(layout: DTypeLayout) -> Shifted:
        return Shifted(original(layout), index, by)

    monkeypatch.setattr(params_record, "header_struct", moved)
    assert not reads_right(files[layout])


@pytest.mark.parametrize("layout", ["narrow", "wide"])
@pytest.mark.parametrize("by", [-1, 1])
def test_moved_values_are_seen(
    files: dict[str, bytes], monkeypatch: pytest.MonkeyPatch, layout: str, by: int
) -> None:
    original = params_record.HeaderReader.read

    def moved(self: object, offset: int, layout: str, label: str) -> params_record.RecordHeader:
        header = original(self, offset, layout, label)
        return header._replace(offset=header.offset + by)

    monkeypatch.setattr(params_record.HeaderReader, "read", moved)
    assert not reads_right(files[layout])


@pytest.mark.parametrize("layout", ["narrow", "wide"])
@pytest.mark.parametrize("by", [-1, 1])
def test_moved_shape_and_size_are_seen(
    files: dict[str, bytes], monkeypatch: pytest.MonkeyPatch, layout: str, by: int
) -> None:
    original = params_record._sizes

    def moved_shape(ndim: int) -> Shifted | struct.Struct:
        return Shifted(struct.Struct("<" + "q" * (ndim + 1)), 0, by) if ndim else original(ndim)

    monkeypatch.setattr(params_record, "_sizes", moved_shape)
    assert not reads_right(files[layout])

    def moved_size(ndim: int) -> Shifted:
        return Shifted(struct.Struct("<" + "q" * (ndim + 1)), ndim, by)

    monkeypatch.setattr(params_record, "_sizes", moved_size)
    assert not reads_right(files[layout])


@pytest.mark.parametrize("by", [-1, 1])
def test_moved_counts_and_lengths_are_seen(
    files: dict[str, bytes], monkeypatch: pytest.MonkeyPatch, by: int
) -> None:
    original = params_list.ListReader._u64
    for moved in ("magic", "reserved", "number of names", "name 0: length", "number of arrays"):

        def read(self: object, offset: int, field: str, moved: str = moved) -> int:
            return original(self, max(0, offset + (by if field == moved else 0)), field)

        if moved == "magic" and by == -1:
            continue
        monkeypatch.setattr(params_list.ListReader, "_u64", read)
        assert not reads_right(files["narrow"]), moved


@pytest.mark.parametrize("at", [28, 30])
def test_a_moved_deciding_byte_is_seen(
    files: dict[str, bytes], monkeypatch: pytest.MonkeyPatch, at: int
) -> None:
    monkeypatch.setattr(params_layout, "_DECIDING_BYTE", at)
    assert not all(reads_right(files[layout]) for layout in ("narrow", "wide"))
