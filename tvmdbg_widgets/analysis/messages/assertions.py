"""Asserts at the start of every compiled function, up to v0.23, and what stops its build.

``ArgBinder``: src/pass/arg_binder.cc @ v0.6, src/tir/transforms/arg_binder.cc @ v0.7 to v0.23;
printed by src/target/llvm/codegen_cpu.cc as ``Assert fail: <condition>, <message>``.
"""

from __future__ import annotations

from tvmdbg_widgets.analysis.messages.message import KnownMessage

_SOURCE = "src/tir/transforms/arg_binder.cc @ v0.7 to v0.23"
_VERSIONS = "v0.5 to v0.23"
_NAME = r"(?<![\w.])(?P<name>[\w.]{1,300})"
_ITS_NAME = r"(?P<name>[\w.]{1,300})"
_TO_DEVICE = "tvm.nd.array(array, device=tvm.cuda(0))  (v0.22 and later: tvm.runtime.tensor)"
_FUNCTION = r"(?<![\w.])(?P<function>[\w.]{1,300})"

MESSAGES = (
    KnownMessage(
        "argument-dtype",
        "Assert fail: …, arg0.dtype is expected to be float32",
        ".dtype is expected to be ",
        rf"{_NAME}\.dtype is expected to be (?P<dtype>[\w\[\]]{{1,60}})",
        _VERSIONS,
        "The function was compiled for an array of another data type than it was given: type code, "
        "bits or lanes differ. Or they are equal, and the code and the runtime disagree about how "
        "DLDataType lies in memory.",
        "Print the array's dtype. If it differs, convert it (int64 for int32, float64 for float32; "
        "bool is uint1 up to TVM 0.22 and code 6 from 0.23 on). If it is the expected one, two "
        "layouts of DLDataType are in play: the type code matches, and bits reads 0.",
        (
            "print(array.dtype, array.shape)",
            "tvmdbg struct DLTensor --hex dump.txt  (gdb: x/56xb on the DLTensor that was passed)",
            "tvmdbg struct --ir module.ll  (the layout the function was compiled for)",
        ),
        _SOURCE,
        layout=True,
    ),
    KnownMessage(
        "argument-ndim",
        "Assert fail: …, arg0.ndim is expected to equal 4",
        ".ndim is expected to equal ",
        rf"{_NAME}\.ndim is expected to equal (?P<ndim>\d{{1,9}})",
        _VERSIONS,
        "The array has another number of dimensions than the function was compiled for.",
        "It is checked after nothing else, so the other fields may be right. A huge or negative "
        "ndim means that the DLTensor itself lies otherwise than the code expects.",
        ("print(array.shape)", "run.graph.node(name).shapes[0]"),
        _SOURCE,
    ),
    KnownMessage(
        "argument-shape",
        "Assert fail: …, Argument arg0.shape[1] has an unsatisfied constraint: …",
        " has an unsatisfied constraint",
        rf"Argument {_ITS_NAME}\.shape\[(?P<axis>\d{{1,3}})\] has an unsatisfied constraint",
        _VERSIONS,
        "The array has another size along this axis than the function was compiled for.",
        "The condition before it names both: the one read from the array and the one compiled in. "
        "From v0.8 on it is repeated behind the message. dtype is checked first, so it agrees; "
        "unless the buffer is int1, int4 or uint4, for which dtype is not checked.",
        ("print(array.shape)", "compare with run.graph.node(name).shapes[0]"),
        _SOURCE,
        layout=True,
    ),
    KnownMessage(
        "argument-strides",
        "Assert fail: …, arg0.strides: expected to be compact array",
        ".strides: expected to be compact array",
        rf"{_NAME}\.strides: expected to be compact array",
        _VERSIONS,
        "The array is not contiguous (a transposed view or a slice), and the function was compiled "
        "for a compact one.",
        "Shape and dtype agree. A DLTensor from another library may carry strides even where it is "
        "compact; those are accepted.",
        ("numpy.ascontiguousarray(array)", "tensor.contiguous()  (torch)"),
        _SOURCE,
    ),
    KnownMessage(
        "argument-one-stride",
        "Assert fail: …, Argument arg0.strides[0] has an unsatisfied constraint",
        "] has an unsatisfied constraint",
        rf"Argument {_ITS_NAME}\.strides\[(?P<axis>\d{{1,3}})\] has an unsatisfied constraint",
        _VERSIONS,
        "The array has another stride along this axis than the function was compiled for, or than "
        "another argument with the same symbolic stride.",
        "The function was compiled for a buffer with strides of its own; '.strides: expected to be "
        "compact array' comes from buffers without.",
        ("print(array.strides)  (numpy counts bytes, TVM and torch elements)",),
        _SOURCE,
    ),
    KnownMessage(
        "argument-elem-offset",
        "Assert fail: …, Argument A.elem_offset has an unsatisfied constraint",
        ".elem_offset has an unsatisfied",
        rf"Argument {_ITS_NAME}\.elem_offset has an unsatisfied constraint",
        _VERSIONS,
        "The array begins within its memory at a place that is no multiple of the buffer's "
        "offset_factor, or at another than an argument with the same symbolic offset.",
        "'.byte_offset' comes from buffers with a fixed offset.",
        ("pass a copy of the array",),
        _SOURCE,
    ),
    KnownMessage(
        "argument-byte-offset",
        "Assert fail: …, Argument arg0.byte_offset has an unsatisfied constraint",
        ".byte_offset has an unsatisfied",
        rf"Argument {_ITS_NAME}\.byte_offset has an unsatisfied constraint",
        _VERSIONS,
        "The array begins within its memory (byte_offset is not 0), and the function was compiled "
        "for one that begins at its start.",
        "Views of views have it; copies do not. Under another layout of DLDataType, byte_offset is "
        "read from the wrong place: look whether shape and strides are plausible.",
        ("array.copy()", "tvmdbg struct DLTensor --hex dump.txt"),
        _SOURCE,
        layout=True,
    ),
    KnownMessage(
        "argument-device-type",
        "Assert fail: …, Argument arg0.device_type has an unsatisfied constraint",
        "device_type has an unsatisfied constraint",
        rf"Argument (?:{_ITS_NAME}\.)?device_type has an unsatisfied constraint",
        _VERSIONS,
        "The array is on another device than the function was compiled for, or two arguments are "
        "on different ones.",
        "device_type: 1 cpu, 2 cuda, 4 opencl, 7 vulkan, 8 metal, 10 rocm. Remote devices are "
        "type + 128 × the number of the session.",
        ("print(array.device)", _TO_DEVICE),
        _SOURCE,
    ),
    KnownMessage(
        "argument-device-needed",
        "Assert fail: (dev_type == 1), device_type need to be 1",
        "device_type need to be ",
        r"device_type need to be (?P<device_type>\d{1,4})",
        "v0.5, v0.6",
        "The arrays are on another kind of device than the function was compiled for.",
        "From v0.7 on it reads 'Argument arg0.device_type has an unsatisfied constraint'.",
        ("print(array.ctx)",),
        "src/pass/lower_packed_call.cc and bind_device_type.cc @ v0.6",
    ),
    KnownMessage(
        "argument-device-id",
        "Assert fail: …, Argument arg0.device_id has an unsatisfied constraint",
        "device_id has an unsatisfied constraint",
        rf"Argument (?:{_ITS_NAME}\.)?device_id has an unsatisfied constraint",
        _VERSIONS,
        "Two arguments are on different devices of one kind, such as cuda(0) and cuda(1).",
        "device_type agrees; only the number differs.",
        ("print([each.device for each in arguments])",),
        _SOURCE,
    ),
    KnownMessage(
        "argument-null-tensor",
        "Assert fail: …, arg0 is expected to have non-NULL DLTensor* pointer",
        "non-NULL DLTensor* pointer",
        rf"{_NAME} is expected to have non-NULL DLTensor\* pointer",
        "v0.19 to v0.23",
        "None, or a null pointer, was passed where an array is expected.",
        "Older releases crash there instead.",
        ("print([type(each) for each in arguments])",),
        _SOURCE,
    ),
    KnownMessage(
        "argument-null-data",
        "Assert fail: …, arg0 is expected to have non-NULL data pointer",
        "non-NULL data pointer",
        rf"{_NAME} is expected to have non-NULL data pointer",
        "v0.19 to v0.23",
        "The array has no memory: it was released, or never allocated. Arrays of size 0 may have "
        "none.",
        "The DLTensor itself is there. Under another layout of DLDataType the pointer is still "
        "read rightly, since it comes first.",
        ("print(array.shape)",),
        _SOURCE,
    ),
    KnownMessage(
        "arguments-null",
        "Assert fail: not T.isnullptr(args), fused_add: args pointer is NULL",
        ": args pointer is NULL",
        rf"{_FUNCTION}: args pointer is NULL(?! when calling)",
        "v0.19 to v0.23",
        "The function was called from C with a null pointer in place of its arguments.",
        "num_args is checked first and was right. Python never calls like that.",
        ("look at the call in your C or C++ code",),
        "src/tir/transforms/make_packed_api.cc @ v0.19 to v0.23",
    ),
    KnownMessage(
        "argument-count",
        "Assert fail: (num_args == 3), fused_add: num_args should be 3",
        "num_args should be ",
        rf"{_FUNCTION}: num_args should be (?P<expected>\d{{1,6}})",
        _VERSIONS,
        "The function was called with another number of arguments than it was compiled for.",
        "Outputs are arguments too: a function of two inputs and one output takes three.",
        ("print(module.get_source()[:2000])",),
        "src/tir/transforms/make_packed_api.cc @ v0.7 to v0.23",
    ),
    KnownMessage(
        "argument-pointer",
        "Assert fail: …, fused_add: Expect arg[0] to be pointer",
        "to be pointer",
        rf"{_FUNCTION}: Expect arg\[(?P<index>\d{{1,4}})\] to be pointer",
        _VERSIONS,
        "A number or a text was passed where an array is expected.",
        "Compare with 'to be int' and 'to be float', which are about scalars.",
        ("print([type(each) for each in arguments])",),
        "src/tir/transforms/make_packed_api.cc @ v0.7 to v0.23",
    ),
    KnownMessage(
        "argument-scalar",
        "Assert fail: …, fused_add: Expect arg[1] to be int",
        ": Expect arg[",
        rf"{_FUNCTION}: Expect arg\[(?P<index>\d{{1,4}})\] "
        r"to be (?P<kind>int|float|boolean)",
        _VERSIONS,
        "Something else than a number of this kind was passed as a scalar argument.",
        "A numpy scalar is no Python number for TVM: int(value), float(value).",
        ("print([type(each) for each in arguments])",),
        "src/tir/transforms/make_packed_api.cc @ v0.7 to v0.23",
    ),
    KnownMessage(
        "bind-unmet",
        "Bind have an unmet assertion: … on argument …",
        "Bind have an unmet assertion",
        r"Bind have an unmet assertion",
        "v0.5 and later",
        "While compiling: two buffers are bound to each other whose shapes, strides or offsets can "
        "never be equal.",
        "It comes before any array is passed: the fault is in the program, not in the call.",
        ("print(module.script())  (the buffers of the function that is compiled)",),
        "src/tir/transforms/arg_binder.cc @ v0.7 to v0.23, src/tirx/transform/tvm_ffi_binder.cc",
    ),
    KnownMessage(
        "llvm-verification",
        "LLVM module verification failed with the following errors: …",
        "LLVM module verification failed",
        r"LLVM module verification failed",
        "all",
        "The code generator wrote LLVM IR whose types do not fit. Where DLDataType was changed: "
        "arg_binder.cc compares at other widths than the struct of codegen_cpu.cc has.",
        "The lines below it name the instruction. icmp with operands of different types speaks for "
        "the layout; all else is a fault of code generation.",
        (
            "tvmdbg struct --check TVM_SOURCE --dtype-layout LAYOUT",
            "tvmdbg struct --ir module.ll",
        ),
        "src/target/llvm/llvm_module.cc @ v0.7 and later, src/codegen/llvm/ @ v0.6",
        layout=True,
    ),
)
