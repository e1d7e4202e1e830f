"""What is unusual about an operator that no delegate took, by the rules of XNNPACK's partitioner.

The rules are those of ``backends/xnnpack/partition/config/`` @ v1.4.1: ``ALL_PARTITIONER_CONFIGS``
(``__init__.py``: which operators), ``_check_node_has_valid_dtype`` and
``_check_inputs_are_valid_dtypes`` (``xnnpack_config.py``: types, empty tensors), ``MeanDimConfig``,
``ViewCopyConfig``, ``SliceCopyConfig``, ``UpsampleBilinear2dConfig`` (``generic_node_configs.py``),
``MaxDimConfig`` (``node_configs.py``) and ``ConvolutionConfig`` (``gemm_configs.py``). No file says
which rule left an operator out, and a partitioner can be told to leave out more.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tvmdbg_widgets.analysis.findings.evidence import RunEvidence
from tvmdbg_widgets.formats.executorch.delegates.edge_nodes import is_taken
from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.base.text import listed, one_line
from tvmdbg_widgets.model.graph.graph import Graph
from tvmdbg_widgets.model.graph.operators import bare

BACKEND: Final = "XnnpackBackend"
_FLOATS: Final = ("float32", "float16")
#: Operators whose sizes must be known ahead of time.
_STATIC: Final = ("view_copy", "slice_copy", "upsample_bilinear2d")
#: Dimensions of the first input, by operator.
_RANKS: Final = {"mean": (4,), "max": (4,), "convolution": (3, 4)}
_OF_INTEGERS: Final = ("quantize_", "dequantize_", "choose_qparams", "max")


def unusual(evidence: RunEvidence, node: int) -> str:
    """Say in what an operator differs from those that XNNPACK takes; empty where none is known."""
    graph = evidence.parts.graph
    return "" if graph is None else "; ".join(_unusual(evidence, graph, node))


def _unusual(evidence: RunEvidence, graph: Graph, node: int) -> Iterator[str]:
    operator = bare(graph.func_names[node])
    if not is_taken(operator):
        yield f"XNNPACK's partitioner has no rule for {one_line(operator)}"
        return
    reads = [read.entry for read in evidence.reads(node) if read.sure]
    given = [(graph.nodes[at].dtypes, graph.nodes[at].shapes, out) for at, out in reads]
    dtypes = [types[out] for types, _, out in given if out < len(types) and types[out]]
    shapes = [sizes[out] for _, sizes, out in given if out < len(sizes)]
    written = graph.nodes[node]
    if not operator.startswith(_OF_INTEGERS):
        others = dict.fromkeys(
            dtype for dtype in (*dtypes, *written.dtypes) if dtype and dtype not in _FLOATS
        )
        if others:
            yield (
                f"it has values of {listed([*others])}: XNNPACK's partitioner takes float32 and "
                "float16, and integers only where they are quantized values"
            )
        elif len(set(dtypes)) > 1:
            yield (
                f"it reads {listed([*dict.fromkeys(dtypes)])}: XNNPACK's partitioner takes inputs "
                "of one type"
            )
    if any(shape is not None and 0 in shape for shape in shapes):
        yield "an input is empty: XNNPACK's partitioner takes no empty tensors"
    symbolic = "shape" in graph.attrs[node] or written.shapes[:1] == (None,)
    if symbolic and operator in _STATIC:
        yield (
            f"its shape is dynamic: XNNPACK's partitioner takes {operator} only with sizes that "
            "are known ahead of time"
        )
    ranks = _RANKS.get(operator)
    first = shapes[0] if shapes else None
    if ranks is not None and first is not None and len(first) not in ranks:
        yield (
            f"its input has {counted(len(first), 'dimension')}: XNNPACK's partitioner takes "
            f"{operator} of {' or '.join(map(str, ranks))}"
        )
    after = written.shapes[0] if written.shapes else None
    if operator == "mean" and first and after is not None and len(after) < len(first):
        yield "it drops dimensions: XNNPACK's partitioner takes mean only with keepdim=True"
