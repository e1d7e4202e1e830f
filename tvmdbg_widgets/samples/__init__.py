"""Real dumps of TVM's debugger that ride with the package.

Written by TVM 0.19's graph executor debugger on a CPU; network, weights and input were made for
this collection (see ``tests/data/README.md``).
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

__all__ = ["resnet20_cifar", "resnet20_cifar_fp16_overflow"]
