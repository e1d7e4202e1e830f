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
            "tvmdbg struct --check tvm/ --layout packed64  (which file has the old widths)",
            "tvmdbg struct --ir module.ll  (the widths on both sides of each comparison)",
        ),
        "LLVM lib/IR/Verifier.cpp, visitICmpInst; include/llvm/IR/Instructions.h, AssertOK",
        layout=True,
    ),
)
