"""Written files, against TVM's own bytes and against what went in."""

import io
import os
import struct
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from formats.tvm.params.params_truth import DATA
from hypothesis import given
from hypothesis import strategies as st

from tests.make.params import write_params
from tvmdbg_widgets.formats.tvm.params.file import read_params
from tvmdbg_widgets.model.base.text import FormatError
from tvmdbg_widgets.model.tensors.dtypes import DataType

OWN = sorted([*DATA.glob("**/*.params"), *DATA.glob("*/*.bin")])
# Types whose values the file lacks or whose bytes are not all values cannot come from numpy.
TYPES = [
    *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float16", "float32", "float64", "complex64", "complex128", "bfloat16", "int4", "uint4"),
    *("int2", "uint2", "float4_e2m1fn", "float6_e2m3fn", "float6_e3m2fn", "float8_e3m4"),
    *("float8_e4m3", "float8_e4m3b11fnuz", "float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2"),
    *("float8_e5m2fnuz", "float8_e8m0fnu"),
]

# 121 bytes TVM 0.25 to 0.27 write for x = float32 (2,3), 0 to 5.
NARROW = bytes.fromhex(
    "b79c04054f8de5f7 0000000000000000 0100000000000000 0100000000000000"
    "78 0100000000000000 3fa1b496f0405edd 0000000000000000 01000000 00000000"
    "02000000 02200100 0200000000000000 0300000000000000 1800000000000000"
    "000000000000803f000000400000404000008040 0000a040"
)


def rewritten(path: Path, layout: str = "narrow") -> bytes:
    out = io.BytesIO()
    write_params(out, [(r.key, r) for r in read_params(path).records], layout=layout)
    return out.getvalue()


@pytest.mark.parametrize("path", OWN, ids=lambda path: path.stem)
def test_own_files_come_out_byte_for_byte(path: Path) -> None:
    assert rewritten(path) == path.read_bytes()


def corpus_files(corpus: Path) -> list[Path]:
    params = [*corpus.glob("tvm/**/*.params"), *corpus.glob("relax/**/*.params")]
    return sorted([*params, *corpus.glob("relax/*/params/params.bin")])


def test_recorded_files_come_out_byte_for_byte(corpus: Path) -> None:
    files = corpus_files(corpus)
    assert len(files) > 70
    for path in files:
        assert rewritten(path) == path.read_bytes(), path


def test_recorded_files_are_rewritten_from_numpy_arrays(corpus: Path) -> None:
    through_numpy = 0
    for path in corpus_files(corpus):
        # Bools made of uninitialised memory hold bytes numpy's bool does not.
        if path.stem in ("odd_bool_9", "odd_uint1"):
            continue
        pairs = [(r.key, r if r.notes else r.numpy()) for r in read_params(path).records]
        through_numpy += sum(isinstance(array, np.ndarray) for _, array in pairs)
        out = io.BytesIO()
        codes = "legacy" if "tvm" in path.relative_to(corpus).parts else "current"
        write_params(out, pairs, codes=codes)
        assert out.getvalue() == path.read_bytes(), path
    assert through_numpy > 1000


@st.composite
def arrays(draw: st.DrawFn) -> np.ndarray:
    name = draw(st.sampled_from(TYPES))
    dtype = np.dtype(getattr(ml_dtypes, name, None) or name)
    shape = tuple(draw(st.lists(st.integers(0, 4), max_size=4)))
    count = int(np.prod(shape)) * dtype.itemsize
    raw = np.frombuffer(draw(st.binary(min_size=count, max_size=count)), np.uint8)
    bits = DataType.parse(name).bits
    if name == "bool":
        raw = raw & 1
    elif bits < 8:
        raw = raw & ((1 << bits) - 1)
    array = raw.copy().view(dtype).reshape(shape)
    return np.asfortranarray(array) if draw(st.booleans()) else array


@given(
    st.dictionaries(st.text(max_size=8), arrays(), max_size=4),
    st.sampled_from(["narrow", "wide"]),
    st.sampled_from(["current", "legacy"]),
)
def test_round_trip(saved: dict[str, np.ndarray], layout: str, codes: str) -> None:
    try:
        "".join(saved).encode()
    except UnicodeEncodeError:
        return
    out = io.BytesIO()
    legacy = {"float8_e5m2", "float8_e4m3fn", "float4_e2m1fn"}
    small = {
        a.dtype.name for a in saved.values() if a.dtype.name.startswith(("float8_", "float6_"))
    }
    if codes == "legacy" and small - legacy:
        with pytest.raises(ValueError, match="codes='current'"):
            write_params(out, saved, layout=layout, codes=codes)
        return
    write_params(out, saved, layout=layout, codes=codes)
    file = read_params(out.getvalue(), dtype_layout=layout, float8=codes)
    assert file.keys == tuple(saved)
    assert not file.issues.by_rule("trailing-bytes")
    for record in file.records:
        expected = saved[record.key]
        found = record.numpy()
        assert found.dtype == expected.dtype
        assert found.shape == expected.shape
        assert found.tobytes() == np.ascontiguousarray(expected).tobytes()


def test_types_can_be_chosen_by_name() -> None:
    out = io.BytesIO()
    bits = np.array([0x3F80, 0xBF80], np.uint16)
    write_params(out, {"w": bits, "m": np.array([True])}, dtypes={"w": "bfloat16", "m": "uint1"})
    w, m = read_params(out.getvalue()).records
    assert w.numpy().astype(float).tolist() == [1.0, -1.0]
    assert (m.dtype.code, m.dtype.bits) == (1, 1)
    (w, m) = read_params(
        out.getvalue(), dtypes={"w": "uint16", "m": DataType.parse("bool")}
    ).records
    assert w.numpy().tolist() == bits.tolist()
    (issue,) = read_params(NARROW, dtypes={"y": "float32"}).issues
    assert issue.message.endswith("file: y")
    with pytest.raises(ValueError, match="cannot be read"):
        read_params(NARROW, dtypes={"x": "float16"})


@pytest.mark.parametrize("where", ["name", "shape"])
def test_rewritten_headers_are_detected_on_read(tmp_path: Path, where: str) -> None:
    path = tmp_path / "p.params"
    shape = (6, 4000)
    write_params(path, {"first": np.zeros(shape, "f4"), "last": np.ones(shape, "f4")})
    before = path.stat()
    records = read_params(path).records
    data = path.read_bytes()
    old, new = (b"last", b"LAST")
    if where == "shape":
        old, new = (struct.pack("<qq", *each) for each in (shape, (12, 2000)))
    at = data.rindex(old)
    path.write_bytes(data[:at] + new + data[at + len(new) :])
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    for record in records:
        with pytest.raises(FormatError, match="changed after it was opened"):
            record.numpy()


def test_replaced_file_is_detected_on_read(tmp_path: Path) -> None:
    path = tmp_path / "p.params"
    path.write_bytes(NARROW)
    record = read_params(path).records[0]
    write_params(path, [("a", record), ("b", record)])
    with pytest.raises(FormatError, match="changed after it was opened"):
        record.numpy()
