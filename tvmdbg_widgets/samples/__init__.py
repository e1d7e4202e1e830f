"""Real dumps of TVM's debugger and of ExecuTorch that are included in the package.

Written by TVM 0.19's graph executor debugger and by ExecuTorch 1.5.1, on a CPU; networks, weights
and inputs were made for this collection (see ``tests/data/README.md``).
"""

from __future__ import annotations

from pathlib import Path

# In a folder of their own: a folder beside this file could be imported over the name of its path.
_DUMPS = Path(__file__).parent / "dumps"

#: ResNet-20 for 32 x 32 pictures in float32: graph, tensors of all 72 entries, trace, and the
#: table that ``run()`` printed, with five repeats of each of the 27 operators.
resnet20_cifar: Path = _DUMPS / "resnet20_cifar"

#: The same network in float16 with weights that make one operator overflow: inf there, NaN after.
resnet20_cifar_fp16_overflow: Path = _DUMPS / "resnet20_cifar_fp16_overflow"

#: A network of seven operators, four of them run by a delegate that was written to show delegate
#: debugging: it fuses two operators, decomposes another, and logs each step by a name of its own,
#: with metadata and values. ETDump, ETRecord and debug buffer.
executorch_demo_delegate: Path = _DUMPS / "executorch_demo_delegate"

#: A quantized network of 26 operators that XNNPACK runs in two calls, with the one operator between
#: them that it did not take. ETDump, ETRecord, debug buffer and program.
executorch_xnnpack: Path = _DUMPS / "executorch_xnnpack"

__all__ = [
    "executorch_demo_delegate",
    "executorch_xnnpack",
    "resnet20_cifar",
    "resnet20_cifar_fp16_overflow",
]
