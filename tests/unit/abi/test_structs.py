"""Struct layouts against what compilers make of the same declarations."""

import ctypes
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tvmdbg_widgets.model.dtype_layout import NARROW, WIDE, DTypeLayout
from tvmdbg_widgets.model.struct_layout import STRUCTS, Machine, StructLayout, struct_layout
from tvmdbg_widgets.model.tensors.dtypes import DataType

WIDTHS = ("u8", "u16", "u32", "u64", "i8", "i16", "i32", "i64")
LAYOUTS = st.builds(
    lambda names, widths: DTypeLayout(
        " ".join(f"{name}:{width}" for name, width in zip(names, widths, strict=True))
    ),
    st.permutations(["code", "bits", "lanes"]),
    st.tuples(*[st.sampled_from(WIDTHS)] * 3),
)
_C = {width: getattr(ctypes, f"c_{'u' * (width[0] == 'u')}int{width[1:]}") for width in WIDTHS}
#: The declarations of dlpack.h and c_runtime_api.h, with the fields of DLDataType left open.
HEADER = """
#include <stddef.h>
#include <stdint.h>
typedef struct {{ {fields} }} DLDataType;
typedef struct {{ int32_t device_type; int32_t device_id; }} DLDevice;
typedef struct {{
  void* data; DLDevice device; int32_t ndim; DLDataType dtype;
  int64_t* shape; int64_t* strides; uint64_t byte_offset;
}} DLTensor;
typedef struct DLManagedTensor {{
  DLTensor dl_tensor; void* manager_ctx; void (*deleter)(struct DLManagedTensor*);
}} DLManagedTensor;
typedef struct {{ uint32_t major; uint32_t minor; }} DLPackVersion;
typedef struct DLManagedTensorVersioned {{
  DLPackVersion version; void* manager_ctx; void (*deleter)(struct DLManagedTensorVersioned*);
  uint64_t flags; DLTensor dl_tensor;
}} DLManagedTensorVersioned;
typedef union {{
  int64_t v_int64; double v_float64; void* v_handle; const char* v_str;
  DLDataType v_type; DLDevice v_device;
}} TVMValue;
typedef struct {{ const TVMValue* values; const int* type_codes; int num_args; }} TVMArgs;
int main(void) {{ {prints} return 0; }}
"""


@given(LAYOUTS)
def test_dtype_layout_matches_ctypes(layout: DTypeLayout) -> None:
    fields = [(field.name, _C[field.kind]) for field in layout.fields]
    made = type("DLDataType", (ctypes.Structure,), {"_fields_": fields})
    placed = struct_layout("DLDataType", layout)
    assert (placed.size, placed.align) == (ctypes.sizeof(made), ctypes.alignment(made))
    for member in placed.members:
        assert member.offset == getattr(made, member.name).offset


@given(LAYOUTS, st.sampled_from(STRUCTS), st.sampled_from([64, 32]))
def test_leaves_and_padding_fill_the_struct(layout: DTypeLayout, name: str, bits: int) -> None:
    placed = struct_layout(name, layout, Machine(bits))
    if placed.is_union:
        assert placed.size % placed.align == 0
        return
    pieces = [(leaf.offset, leaf.type.size) for leaf in placed.leaves()]
    at = 0
    for offset, length in sorted([*pieces, *placed.padding]):
        assert offset == at
        at += length
    assert at == placed.size


@pytest.mark.parametrize(
    ("layout", "offsets", "size"),
    [(NARROW, (20, 24, 32, 40), 48), (WIDE, (20, 32, 40, 48), 56)],
    ids=["narrow", "wide"],
)
def test_dl_tensor_layout_matches_the_specification(
    layout: DTypeLayout, offsets: tuple[int, ...], size: int
) -> None:
    placed = struct_layout("DLTensor", layout)
    found = {member.name: member.offset for member in placed.members}
    assert (found["data"], found["device"], found["ndim"]) == (0, 8, 16)
    assert tuple(found[each] for each in ("dtype", "shape", "strides", "byte_offset")) == offsets
    assert placed.size == size
    assert placed.padding == (((28, 4),) if layout == WIDE else ())


@pytest.mark.parametrize("bits", [64, 32])
@pytest.mark.parametrize(
    "layout",
    [
        NARROW,
        WIDE,
        DTypeLayout("code:u8 bits:u16 lanes:u32"),
        DTypeLayout("lanes:i64 code:u8 bits:u8"),
    ],
    ids=str,
)
def test_member_offsets_match_compiler(layout: DTypeLayout, bits: int, tmp_path: Path) -> None:
    compiler = shutil.which("gcc") or shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler here")
    machine = Machine(bits, 8 if bits == 64 else 4)
    structs = {name: struct_layout(name, layout, machine) for name in STRUCTS}
    told = _compiled(compiler, layout, bits, structs, tmp_path)
    for name, placed in structs.items():
        assert told[f"sizeof {name}"] == placed.size, name
        assert told[f"alignof {name}"] == placed.align, name
        for leaf in placed.leaves():
            assert told[f"{name}.{leaf.path}"] == leaf.offset, f"{name}.{leaf.path}"


def _compiled(
    compiler: str, layout: DTypeLayout, bits: int, structs: dict[str, StructLayout], folder: Path
) -> dict[str, int]:
    """Ask a compiler by way of symbol sizes: a program for 32 bits need not run here."""
    asked = {}
    for name, placed in structs.items():
        asked[f"sizeof {name}"] = f"sizeof({name})"
        asked[f"alignof {name}"] = f"_Alignof({name})"
        for leaf in placed.leaves():
            asked[f"{name}.{leaf.path}"] = f"offsetof({name}, {leaf.path})"
    prints = " ".join(f'ANSWER("{key}", {value});' for key, value in asked.items())
    fields = " ".join(f"{_c_name(field.kind)} {field.name};" for field in layout.fields)
    source = folder / "structs.c"
    marker = '#define ANSWER(key, value) __asm__("ANSWER " key " = %c0" :: "i"(value))\n'
    source.write_text(marker + HEADER.format(fields=fields, prints=prints))
    ran = subprocess.run(
        [compiler, f"-m{bits}", "-ffreestanding", "-S", "-o", "-", str(source)],
        capture_output=True,
        text=True,
        check=False,
    )
    if ran.returncode:
        pytest.skip(f"the compiler does not make {bits}-bit code here: {ran.stderr[:200]}")
    lines = [line.split("ANSWER ", 1)[1] for line in ran.stdout.splitlines() if "ANSWER " in line]
    pairs = [line.rsplit(" = ", 1) for line in lines]
    return {key: int(value) for key, value in pairs}


def _c_name(kind: str) -> str:
    return f"{'u' * (kind[0] == 'u')}int{kind[1:]}_t"


@given(LAYOUTS, st.data())
def test_packing_reads_back(layout: DTypeLayout, data: st.DataObject) -> None:
    values = {
        field.name: data.draw(st.integers(field.lowest, field.highest)) for field in layout.fields
    }
    dtype = DataType(**values)
    packed = layout.pack(dtype)
    assert len(packed) == layout.size == sum(field.size for field in layout.fields)
    at = 0
    for field in layout.fields:
        own = packed[at : at + field.size]
        assert int.from_bytes(own, "little", signed=field.kind[0] == "i") == values[field.name]
        at += field.size
    assert layout.unpack(packed) == (dtype.code, dtype.bits, dtype.lanes)


def test_layout_names_equal_their_declarations() -> None:
    assert DTypeLayout("narrow") == DTypeLayout("code:u8, bits:u8, lanes:u16") == NARROW
    assert DTypeLayout("packed64") == DTypeLayout("code:u16 bits:u16 lanes:i32") == WIDE
    assert (NARROW.name, WIDE.name) == ("narrow", "wide")
    assert DTypeLayout("code:u8 bits:u8 lanes:u32").name == "code:u8 bits:u8 lanes:u32"


@pytest.mark.parametrize(
    "text", ["", "broad", "code:u8 bits:u8", "code:u8 bits:u8 lanes:u12", "code:u8 code:u8 bits:u8"]
)
def test_invalid_declaration_error_shows_expected_form(text: str) -> None:
    with pytest.raises(ValueError, match="code:u16 bits:u16 lanes:i32"):
        DTypeLayout(text)


def test_pack_rejects_value_out_of_range() -> None:
    with pytest.raises(ValueError, match=r"lanes 65536 .* u16 \(0 to 65535\)"):
        NARROW.pack(DataType(2, 32, 65536))
    assert WIDE.pack(DataType(2, 32, 65536)) == bytes.fromhex("0200200000000100")
