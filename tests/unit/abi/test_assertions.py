"""C++ that tells of another layout at compile time: compiled against headers of each layout."""

import shutil
import subprocess
from pathlib import Path

import pytest
from unit.abi.source_trees import PATHS, WIDE, tree

from tvmdbg_widgets import abi
from tvmdbg_widgets.analysis.abi.layout_changes import DECLTYPE_FORMS, static_assertions
from tvmdbg_widgets.model.struct_layout import Machine

HEADERS = {
    "narrow": "uint8_t code; uint8_t bits; uint16_t lanes;",
    "wide": "uint16_t code; uint16_t bits; int32_t lanes;",
    "code:u8 bits:u8 lanes:u32": "uint8_t code; uint8_t bits; uint32_t lanes;",
    "code:u16 bits:u16 lanes:u32": "uint16_t code; uint16_t bits; uint32_t lanes;",
}
#: As dlpack.h declares them, with the name that the device had up to dlpack v0.3, or has.
KIN = """
typedef struct {{ int32_t device_type; int32_t device_id; }} Where;
typedef struct {{ void* data; Where {device}; int32_t ndim; DLDataType dtype; int64_t* shape;
  int64_t* strides; uint64_t byte_offset; }} DLTensor;
typedef struct DLManagedTensor {{ DLTensor dl_tensor; void* manager_ctx;
  void (*deleter)(struct DLManagedTensor* self); }} DLManagedTensor;
"""
#: What the forms stand in, as little of it as they need.
AROUND = {
    "serializer": """
struct Stream {{}};
template <typename T> struct Handler {{ static void Write(Stream*, const T&) {{}} }};
void f(Stream* strm, const DLDataType& dtype) {{ {form} }}
""",
    "data_type": "struct A {{ DLDataType data_; A(int code, int bits, int lanes) {{ {form} }} }};",
    "arg_binder": """
struct DataType {{ int kept; static DataType Int(int b) {{ return {{-b}}; }}
  static DataType UInt(int b) {{ return {{b}}; }} int code() const {{ return 0; }} }};
namespace builtin {{ enum {{ kArrTypeCode }}; }}
int IntImm(DataType, int);  int TVMArrayGet(DataType, void*, int);
struct Buffer {{ DataType dtype; }};
{head}
bool f(Buffer* buffer, void* handle) {{ return {form} }}
""",
    "codegen_cpu": """
namespace llvm {{ struct Context {{}};
struct Type {{ static Type* getIntNTy(Context&, unsigned) {{ return nullptr; }} }};
struct StructType {{ static Type* create(std::initializer_list<Type*>) {{ return nullptr; }} }}; }}
llvm::Type* f(llvm::Context* ctx) {{ llvm::Type* t_tvm_type_; {form} return t_tvm_type_; }}
""",
    "rpc_padding": "template <typename C> void f(C* channel) {{ {form} }}",
}


def compiled(source: str, folder: Path) -> subprocess.CompletedProcess[str]:
    compiler = shutil.which("g++")
    if compiler is None:
        pytest.skip("no g++ here")
    path = folder / "check.cc"
    path.write_text(source)
    command = [compiler, "-std=c++11", "-fsyntax-only", "-Wall", "-Wno-unused-value", str(path)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def header(layout: str, device: str = "device") -> str:
    struct = f"#include <cstdint>\ntypedef struct {{ {HEADERS[layout]} }} DLDataType;\n"
    return struct + KIN.format(device=device)


@pytest.mark.parametrize("layout", HEADERS)
def test_assertions_compile_only_for_their_layout(layout: str, tmp_path: Path) -> None:
    for other in HEADERS:
        ran = compiled(header(other) + static_assertions(abi.DTypeLayout(layout)), tmp_path)
        assert (ran.returncode == 0) == (other == layout), ran.stderr
        if other != layout:
            assert "DLDataType::" in ran.stderr
    told = compiled(header("narrow") + static_assertions(abi.DTypeLayout("wide")), tmp_path).stderr
    for message in ("DLDataType::code is not uint16_t", "DLDataType::lanes is not int32_t",
                    "DLTensor has not 56 bytes", "DLTensor::shape is not at 32"):  # fmt: skip
        assert message in told


def test_assertions_compile_with_header_of_old_release(tmp_path: Path) -> None:
    ran = compiled(header("wide", "ctx") + static_assertions(abi.DTypeLayout("wide")), tmp_path)
    assert ran.returncode == 0, ran.stderr


def test_assertions_for_32_bit_pointers_fail_on_64_bit_host(tmp_path: Path) -> None:
    wide = abi.DTypeLayout("wide")
    assert compiled(header("wide") + static_assertions(wide, Machine(32)), tmp_path).returncode


@pytest.mark.parametrize("layout", ["narrow", "wide"])
@pytest.mark.parametrize("place", DECLTYPE_FORMS)
def test_the_forms_compile_for_every_layout(place: str, layout: str, tmp_path: Path) -> None:
    form = DECLTYPE_FORMS[place]
    head, _, use = form.rpartition("}\n") if place == "arg_binder" else ("", "", form)
    source = "#include <cstddef>\n#include <initializer_list>\n#include <type_traits>\n"
    source += header(layout) + AROUND[place].format(form=f"\n{use}", head=f"{head}}}\n")
    ran = compiled(source, tmp_path)
    assert ran.returncode == 0, ran.stderr


@pytest.mark.parametrize("place", DECLTYPE_FORMS)
def test_sources_with_decltype_forms_agree_with_every_layout(place: str, tmp_path: Path) -> None:
    tree(tmp_path, WIDE)
    form = DECLTYPE_FORMS[place]
    if place == "arg_binder":
        use = form.rpartition("}\n")[2]
        form = "".join(use.replace("code", f).replace("Code", f.title())
                       for f in ("code", "bits", "lanes"))  # fmt: skip
    if place == "rpc_padding":
        form = f"case kTVMDataType: {{\n channel->Write(value.v_type);\n{form} break;\n}}\n"
    (tmp_path / PATHS["v0.8.0"][place]).write_text(form)
    for layout in ("narrow", "wide"):
        found = {each.place.id: each for each in abi.check(tmp_path, layout).places}[place]
        assert found.status == "agrees", found
        assert "as the struct has it" in found.assumes
