"""What LLVM's verifier says of code that TVM generated.

``LLVM module verification failed with the following errors:`` is of src/target/llvm, the lines
behind it of LLVM's lib/IR/Verifier.cpp and include/llvm/IR/Instructions.h.
"""

from __future__ import annotations

from tvmdbg_widgets.analysis.messages.message import KnownMessage

MESSAGES = (
    KnownMessage(
        "llvm-compare-types",
        "Both operands to ICmp instruction are not of the same type!",
        "Both operands to ICmp instruction are not of the same type",
        r"Both operands to ICmp instruction are not of the same type",
        "v0.5 and later",
        "Generated code compares a number with one of another width. Where DLDataType was changed, "
        "the checks of arg_binder.cc and the struct type of codegen_cpu.cc have different widths "
        "for code, bits or lanes: one of the two files was changed alone.",
        "The line behind it shows the comparison: 'icmp eq i16 %…, i8 2' where the struct type was "
        "widened and arg_binder.cc was not, 'icmp eq i8 %…, i16 2' the other way round. An LLVM "
        "with assertions stops in ICmpInst::AssertOK and prints no comparison. Without a changed "
        "DLDataType it is a fault of a schedule or an intrinsic that mixes integer types.",
        (
            "tvmdbg struct --check tvm/ --dtype-layout packed64  (which file has the old widths)",
            "tvmdbg struct --ir module.ll  (the widths on both sides of each comparison)",
        ),
        "LLVM lib/IR/Verifier.cpp, visitICmpInst; include/llvm/IR/Instructions.h, AssertOK",
        layout=True,
    ),
    KnownMessage(
        "not-bound",
        "Variable `A` is directly accessed by host memory … Did you forget to bind?",
        "Did you forget to bind",
        r"(?:Variable `(?P<variable>\w[\w.]{0,200})` is directly accessed by host memory"
        r"[^`]{0,200})?(?:cannot find device code\. )?Did you forget to bind\?",
        "v0.5 and later",
        "A function for a GPU has a loop over an array that is bound to no thread: the schedule "
        "lacks bind(…, thread_axis), or there is none, as where tuning found no valid one.",
        "Each variable stands on a line of its own above it. A target of a CPU needs no binding: "
        "target=cuda may have been meant for llvm. Behind 'cannot find device code' it is a "
        "warning, and nothing would run on the device.",
        (
            "print(module.script())  (loops without thread_binding)",
            'sch.bind(sch.get_loops(block)[0], "threadIdx.x")',
            "with target: module = dlight.ApplyDefaultSchedule(dlight.gpu.Fallback())(module)",
            "from tvm.s_tir import dlight  (v0.25; older releases: from tvm import dlight)",
        ),
        "python/tvm/build_module.py before v0.5, src/tir/analysis/verify_memory.cc and "
        "src/driver/driver_api.cc @ v0.8",
    ),
)
