"""Sample dumps of TVM's debugger and of ExecuTorch, a tuning log and an RPC session.

The dumps are real: TVM 0.19's graph executor debugger and ExecuTorch 1.5.1 wrote them on a CPU;
networks, weights and inputs were made for this collection. The tuning log and the files of a
changed ``DLDataType`` were generated (see ``tests/data/README.md``).
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tvmdbg_widgets.model.base.slips import lazily

# A folder beside this file would be importable under the name of its path.
_DUMPS = Path(__file__).parent / "dumps"

#: A tuning log in Ansor's format (TVM 0.8 to 0.19), made for this project: no tuning ran. 1,024
#: trials of four matrix products and two convolutions of TVM's tutorials, all of them legal
#: schedules; costs and build times are formulas with noise. In the first 8 of its 16 rounds builds
#: are as slow as where too many run at once, and 293 of them hit the build timeout; the other
#: rounds are sound. Written by ``python -m tests.make.tuning_story starved --rounds 16``.
ansor_starved: Path = _DUMPS / "ansor_starved"

#: Files of a build with an 8-byte ``DLDataType``, written by this package's encoders; no such
#: build ran. ``session.pcap`` is an RPC session whose client kept TVM's padding while its server
#: has TVM's own layout, ``narrow.params`` and ``wide.params`` are the same arrays in both layouts,
#: ``log.txt`` has the messages, ``dltensor.txt`` is gdb's print of a DLTensor. Written by
#: ``python -m tests.make.changed_dtype``.
changed_dtype: Path = _DUMPS / "changed_dtype"

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
#: them that it did not take. ETDump, ETRecord, debug buffer, and the program with XNNPACK's graphs.
executorch_xnnpack: Path = _DUMPS / "executorch_xnnpack"

__all__ = [
    "ansor_starved",
    "changed_dtype",
    "executorch_demo_delegate",
    "executorch_xnnpack",
    "resnet20_cifar",
    "resnet20_cifar_fp16_overflow",
]

if not TYPE_CHECKING:
    __getattr__ = lazily(__name__, {})
