"""Memory of real tensors decoded, and made with ctypes where no real one is at hand."""

import ctypes
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tvmdbg_widgets import abi
from tvmdbg_widgets.analysis.abi.decoding import decode, verdict
from tvmdbg_widgets.model.dtype_layout import NARROW, WIDE, DTypeLayout
from tvmdbg_widgets.model.struct_layout import STRUCTS, Machine, struct_layout

_WIDTHS = {"narrow": ("uint8", "uint8", "uint16"), "wide": ("uint16", "uint16", "int32")}


def dl_tensor(
    layout: str, kind: Any = ctypes.Structure, pointer: Any = ctypes.c_void_p, **values: int
) -> Any:
    """A DLTensor as a C compiler lays it out, by ctypes."""
    kinds = [getattr(ctypes, f"c_{width}") for width in _WIDTHS[layout]]
    names = ("code", "bits", "lanes")
    dtype = type("DLDataType", (kind,), {"_fields_": list(zip(names, kinds, strict=True))})
    fields = [
        ("data", pointer),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("dtype", dtype),
        ("shape", pointer),
        ("strides", pointer),
        ("byte_offset", ctypes.c_uint64),
    ]
    made = type("DLTensor", (kind,), {"_fields_": fields})()
    for name, value in values.items():
        setattr(made.dtype if name in names else made, name, value)
    return made


SOUND = {
    "data": 0x7F1234567000,
    "device_type": 2,
    "device_id": 1,
    "ndim": 4,
    "code": 2,
    "bits": 32,
    "lanes": 1,
    "shape": 0x55AA00112200,
    "strides": 0,
    "byte_offset": 64,
}


@pytest.mark.parametrize("layout", ["narrow", "wide"])
def test_big_endian_memory_decodes_to_same_values(layout: str) -> None:
    kind, pointer = ctypes.BigEndianStructure, ctypes.c_uint64
    big = bytes(dl_tensor(layout, kind, pointer, **SOUND))
    little = bytes(dl_tensor(layout, **SOUND))
    assert big != little
    own = {"narrow": NARROW, "wide": WIDE}[layout]
    (of_big,) = abi.decode(big, "DLTensor", own, order="big")
    (of_little,) = abi.decode(little, "DLTensor", own)
    assert of_big.values == of_little.values
    assert not abi.decode(big, "DLTensor", own)[0].makes_sense
    shown = [f"0x{big[at : at + 4].hex()}" for at in range(0, len(big), 4)]
    pairs = zip(shown[::2], shown[1::2], strict=True)
    lines = [f"0x{0x7F00 + 8 * at:x}:\t{one}\t{two}" for at, (one, two) in enumerate(pairs)]
    view = abi.struct("DLTensor", hex="\n".join(lines), order="big")  # words, as gdb shows them
    assert view.dump.data == big
    by_layout = {each.dtype_layout: each for each in view.decodings}
    assert by_layout[own].values == of_little.values
    assert by_layout[own].makes_sense


def test_unknown_byte_order_is_rejected() -> None:
    with pytest.raises(ValueError, match="known: 'little', 'big'"):
        abi.struct("DLTensor", hex=bytes(48), order="middle")  # type: ignore[arg-type]


@pytest.mark.parametrize("layout", ["narrow", "wide"])
def test_verdict_names_fitting_layout_with_reasons(layout: str) -> None:
    data = bytes(dl_tensor(layout, **SOUND))
    found = decode(data, "DLTensor", [NARROW, WIDE])
    by_layout = {each.dtype_layout.name: each for each in found}
    own = by_layout[layout]
    assert own.makes_sense
    told = {value.leaf.path: value.text for value in own.values}
    assert told == {
        "data": "0x7f1234567000",
        "device.device_type": "2 (cuda)",
        "device.device_id": "1",
        "ndim": "4",
        "dtype.code": "2 (float32)",
        "dtype.bits": "32",
        "dtype.lanes": "1",
        "shape": "0x55aa00112200",
        "strides": "null",
        "byte_offset": "64",
    }
    text = verdict(found)
    assert text.startswith(f"{layout} makes sense: float32, ndim 4. Not ")
    if layout == "wide":
        assert "narrow: dtype.bits is 0 (no data type has 0 bits" in text
    else:
        assert "wide: dtype.code is 8194 (no data type has this code" in text


@pytest.mark.parametrize(
    "array",
    [
        np.zeros((2, 3), np.float32),
        np.zeros((4, 5, 6), np.int8)[:, ::2],
        np.zeros((), np.uint16),
        np.zeros(7, bool),
        np.zeros(3, np.complex128),
    ],
    ids=lambda each: f"{each.dtype}{list(each.shape)}",
)
def test_numpys_own_dlpack_is_decoded(array: np.ndarray[Any, Any]) -> None:
    """A capsule of numpy holds a real DLManagedTensor in this process's memory."""
    capsule = array.__dlpack__()
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    placed = struct_layout("DLManagedTensor", NARROW)
    memory = ctypes.string_at(get(capsule, b"dltensor"), placed.size)
    narrow, wide = decode(memory, "DLManagedTensor", [NARROW, WIDE])
    assert narrow.makes_sense, narrow.problems
    assert not wide.makes_sense
    told = {value.leaf.path: value.text for value in narrow.values}
    assert told["dl_tensor.data"] == hex(array.ctypes.data)
    assert told["dl_tensor.device.device_type"] == "1 (cpu)"
    assert told["dl_tensor.ndim"] == str(array.ndim)
    name = "bool" if array.dtype == bool else array.dtype.name
    assert f"({name})" in told["dl_tensor.dtype.code"]
    assert verdict([narrow, wide]).startswith(f"narrow makes sense: {name}, ndim {array.ndim}")


def test_gdb_memory_dump_is_decoded(tmp_path: Path) -> None:
    gdb, compiler = shutil.which("gdb"), shutil.which("gcc")
    if gdb is None or compiler is None:
        pytest.skip("no gdb or no gcc here")
    for layout, widths in _WIDTHS.items():
        fields = "".join(
            f"{w}_t {n};" for w, n in zip(widths, ("code", "bits", "lanes"), strict=True)
        )
        source = tmp_path / f"{layout}.c"
        source.write_text(
            "#include <stdint.h>\n"
            f"typedef struct {{{fields}}} DLDataType;\n"
            "typedef struct { void *data; int32_t device_type, device_id, ndim; DLDataType dtype;\n"
            "  int64_t *shape, *strides; uint64_t byte_offset; } DLTensor;\n"
            "int64_t shape[2] = {3, 4}; float values[12];\n"
            "DLTensor t = {values, 1, 0, 2, {2, 32, 1}, shape, 0, 0};\n"
            "int main(void) { return t.ndim; }\n"
        )
        program = tmp_path / layout
        subprocess.run([compiler, "-g", "-no-pie", "-o", program, source], check=True)
        size = struct_layout("DLTensor", NARROW if layout == "narrow" else WIDE).size
        for form in (f"x/{size}xb", f"x/{size // 4}xw", f"x/{size // 8}xg", f"x/{size // 2}xh"):
            command = [gdb, "-batch", "-ex", f"{form} &t", str(program)]
            printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
            view = abi.struct("DLTensor", hex=printed)
            assert view.verdict.startswith(f"{layout} makes sense: float32, ndim 2"), printed
            assert re.search(r"gdb's x", repr(view))


def test_layout_of_which_no_member_is_known_does_not_make_sense() -> None:
    def told(data: bytes) -> str:
        return verdict(decode(data, "DLDataType", (NARROW, WIDE)))

    assert told(b"") == "too few bytes for any member of narrow and wide"
    assert told(b"\x02") == "too few bytes for any member of wide"
    assert told(b"\x64").startswith("too few bytes for any member of wide. Not narrow: code is 100")


def test_verdict_reports_no_fitting_layout_or_ambiguity() -> None:
    found = decode(b"\xff" * 56, "DLTensor", [NARROW, WIDE])
    assert verdict(found).startswith("no layout makes sense. narrow: ")
    assert "do not tell them apart" in verdict(decode(bytes(8), "DLTensor", [NARROW, WIDE]))
    found = decode(b"", "DLTensor", [NARROW, WIDE])
    assert all(value.text == "unknown" for each in found for value in each.values)
    assert not any(each.complete for each in found)


def test_truncated_memory_decodes_available_fields() -> None:
    data = bytes(dl_tensor("narrow", **SOUND))[:24]
    (found,) = decode(data, "DLTensor", [NARROW])
    told = {value.leaf.path: value.text for value in found.values}
    assert told["dtype.bits"] == "32"
    assert told["shape"] == "unknown"
    assert found.makes_sense
    assert not found.complete


def test_32_bit_pointers_are_tried_when_64_bit_makes_no_sense() -> None:
    data = struct_of_32_bits()
    view = abi.struct("DLTensor", hex=data)
    assert view.verdict.startswith("narrow, 32-bit makes sense: float32, ndim 2")
    assert abi.struct("DLTensor", "narrow", hex=data, bits=32).verdict.startswith(
        "narrow makes sense"
    )


def struct_of_32_bits() -> bytes:
    import struct

    return struct.pack("<Iiii BBH II 4x Q", 0x20001000, 1, 0, 2, 2, 32, 1, 0x20002000, 0, 0)


@given(st.binary(max_size=120), st.sampled_from(STRUCTS), st.sampled_from([64, 32]))
def test_any_memory_decodes(data: bytes, name: str, bits: int) -> None:
    layouts = [NARROW, WIDE, DTypeLayout("lanes:i64 code:u8 bits:u8")]
    found = decode(data, name, layouts, [Machine(bits)])
    assert isinstance(verdict(found), str)
    for each in found:
        leaves = [field for _, field in each.fields.walk() if not field.children]
        if not each.struct.is_union:
            assert sum(leaf.size for leaf in leaves) == each.struct.size


def test_remote_devices_name_their_session() -> None:
    data = bytes(dl_tensor("narrow", **(SOUND | {"device_type": 2 + 128})))
    (found,) = decode(data, "DLTensor", [NARROW])
    assert found.makes_sense
    told = {value.leaf.path: value.text for value in found.values}
    assert told["device.device_type"] == "130 (cuda, session 1)"


def test_struct_view_shows_layouts_verdict_and_dataframe() -> None:
    view = abi.struct("DLTensor", "packed64", "standard", hex=bytes(dl_tensor("wide", **SOUND)))
    assert view.labels == ("wide", "narrow")
    assert "≠" in repr(view)
    assert "wide makes sense: float32, ndim 4" in repr(view)
    frame = view.to_dataframe()
    assert set(frame["layout"]) == {"wide", "narrow"}
    assert frame[frame.problem != ""].member.tolist()[0] == "dtype.bits"
    bundle = view._repr_mimebundle_()
    assert "<img" in bundle["text/html"]
    with pytest.raises(ValueError, match="no struct '"):
        abi.struct("DLTensr")
    with pytest.raises(ValueError, match="pointers have 64 or 32 bits"):
        abi.struct("DLTensor", bits=16)
