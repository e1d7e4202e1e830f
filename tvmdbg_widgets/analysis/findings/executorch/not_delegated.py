"""Rule on operators that no delegate took: what the files say of the reason.

No file records why a partitioner leaves an operator out. Known are the constraints of XNNPACK's
partitioner (ExecuTorch 1.4.1), and which operators were delegated in the same program: an operator
that was delegated nowhere may not be supported, and one that was delegated elsewhere with another
dtype or rank may hit a constraint on these. Neither is a proof.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from tvmdbg_widgets.analysis.findings.evidence import RunEvidence, cut
from tvmdbg_widgets.analysis.findings.executorch.recorded import RecordedDump
from tvmdbg_widgets.analysis.findings.rule import Basis, rule
from tvmdbg_widgets.formats.executorch.delegates.edge_nodes import is_taken
from tvmdbg_widgets.model.base.numbers import agree, counted, percent
from tvmdbg_widgets.model.base.text import listed, one_line
from tvmdbg_widgets.model.executorch.etdump import backend_title
from tvmdbg_widgets.model.findings import Confidence, Finding, Severity
from tvmdbg_widgets.model.graph.graph import Graph
from tvmdbg_widgets.model.graph.nodes import NodeKind
from tvmdbg_widgets.model.graph.operators import bare

_XNNPACK: Final = "XnnpackBackend"
_SHOWN: Final = 3
_TAKEN_SHOWN: Final = 8


class WhyNotTaken(NamedTuple):
    """What the files say of the reason, and how sure that is."""

    text: str
    confidence: Confidence


@rule("not-delegated", Basis.TIMES)
def find_not_delegated(evidence: RunEvidence) -> Iterable[Finding]:
    """Yield a finding of all operators that run outside of delegates, the slowest first."""
    recorded, graph = evidence.recorded, evidence.parts.graph
    if recorded is None or graph is None or not recorded.taken:
        return
    nodes = [
        node
        for node in evidence.timed
        if node not in recorded.taken and graph.kinds[node] == NodeKind.OPERATOR
    ]
    nodes.sort(key=lambda node: (-evidence.shares[node], node))
    if not nodes:
        return
    names = sorted({backend_title(call.backend) for call in recorded.delegated})
    taken = _taken_by_operator(recorded, graph)
    reasons = {node: _reasons(evidence, graph, node, recorded, taken) for node in nodes}
    first = nodes[0]
    share = float(evidence.shares[nodes].sum())
    main = reasons[first][0] if reasons[first] else None
    title = f"{evidence.name(first)} was not delegated to {' or '.join(names)}"
    reason = "the files show no reason" if main is None else main.text
    title += "; " + reason.replace("XNNPACK's", "the")
    more = counted(len(nodes) - 1, "more operator")
    title += f"; nor {agree(len(nodes) - 1, 'was')} {more}" if nodes[1:] else ""
    facts = [
        f"{evidence.name(node)} ({percent(float(evidence.shares[node]))} of the time): "
        f"{'; '.join(reason.text for reason in reasons[node]) or 'the files show no reason'}"
        for node in nodes
    ]
    counts = Counter({name: len(own) for name, own in taken.items()})
    if counts:
        these = [f"{name} ({count}×)" for name, count in counts.most_common()]
        facts = [*cut(facts), f"delegated in this run: {listed(these, most=_TAKEN_SHOWN)}"]
    xnnpack = any(call.backend == _XNNPACK for call in recorded.delegated)
    yield Finding(
        Severity.HOTSPOT,
        title,
        tuple(facts),
        Confidence.LOW if main is None else main.confidence,
        "no file records the partitioner's reason; compared with operators delegated in this run"
        + (" and with XNNPACK's partitioner of ExecuTorch 1.4.1" if xnnpack else ""),
        tuple(nodes),
        next_step="Export again with logging.basicConfig(level=logging.DEBUG): XNNPACK's "
        "partitioner logs the reason for each node that it skips."
        if xnnpack
        else "Check the operators, dtypes and ranks that the partitioner supports.",
        weight=share / 3,
    )


def _taken_by_operator(recorded: RecordedDump, graph: Graph) -> dict[str, list[int]]:
    """Return the delegated nodes by operator; none where delegates have types of their own."""
    by_operator: dict[str, list[int]] = {}
    for node in sorted(recorded.taken) if graph.form == "edge" else ():
        if graph.kinds[node] == NodeKind.OPERATOR:
            by_operator.setdefault(one_line(bare(graph.func_names[node])), []).append(node)
    return by_operator


def _reasons(
    evidence: RunEvidence,
    graph: Graph,
    node: int,
    recorded: RecordedDump,
    taken: dict[str, list[int]],
) -> list[WhyNotTaken]:
    reasons = []
    of_xnnpack = any(call.backend == _XNNPACK for call in recorded.delegated)
    if of_xnnpack:
        known = unusual(evidence, graph, node)
        reasons = [WhyNotTaken(f"likely reason: {text}", Confidence.MEDIUM) for text in known]
    if taken:
        reasons += compared(evidence, graph, node, taken, in_xnnpack=of_xnnpack and not reasons)
    return reasons


def compared(
    evidence: RunEvidence,
    graph: Graph,
    node: int,
    taken: dict[str, list[int]],
    *,
    in_xnnpack: bool,
) -> Iterator[WhyNotTaken]:
    """Yield what delegated operators of the same name say of the reason."""
    operator = one_line(bare(graph.func_names[node]))
    peers = taken.get(operator, [])
    if not peers:
        supported = f"XNNPACK supports {operator}, yet " if in_xnnpack else ""
        yield WhyNotTaken(f"{supported}no {operator} was delegated in this run", Confidence.LOW)
        return
    own = _operands(evidence, graph, node)
    others = {peer: _operands(evidence, graph, peer) for peer in peers}
    for what, values, noun in (
        ("dtype", own.dtypes, "dtypes"),
        ("rank", own.ranks, "ranks"),
    ):
        theirs = {peer: getattr(other, noun) for peer, other in others.items()}
        if values and all(theirs.values()) and values not in theirs.values():
            first = next(iter(theirs.values()))
            yield WhyNotTaken(
                f"possible reason: a constraint on its {what} ({', '.join(values)}; delegated "
                f"{evidence.list(peers, _SHOWN)}: {', '.join(first)})",
                Confidence.LOW,
            )
            return
    yield WhyNotTaken(
        f"delegated elsewhere with these dtypes and ranks ({evidence.list(peers, _SHOWN)})",
        Confidence.LOW,
    )


class _Operands(NamedTuple):
    """Dtypes and ranks that a node reads; empty where one is unknown."""

    dtypes: tuple[str, ...]
    ranks: tuple[str, ...]


def _operands(evidence: RunEvidence, graph: Graph, node: int) -> _Operands:
    dtypes: list[str] = []
    ranks: list[str] = []
    for read in evidence.reads(node):
        source, output = read.entry
        view = graph.nodes[source] if source >= 0 else None
        if not read.sure or view is None or output >= len(view.dtypes):
            return _Operands((), ())
        shape = view.shapes[output] if output < len(view.shapes) else None
        dtypes.append(view.dtypes[output] or "")
        ranks.append("" if shape is None else f"{len(shape)}-d")
    return _Operands(tuple(dtypes) if all(dtypes) else (), tuple(ranks) if all(ranks) else ())


_FLOATS: Final = ("float32", "float16")
#: Operators whose sizes must be static.
_STATIC: Final = ("view_copy", "slice_copy", "upsample_bilinear2d")
#: Ranks of the first input, by operator.
_RANKS: Final = {"mean": (4,), "max": (4,), "convolution": (3, 4)}
_OF_INTEGERS: Final = ("quantize_", "dequantize_", "choose_qparams", "max")


def unusual(evidence: RunEvidence, graph: Graph, node: int) -> Iterator[str]:
    """Describe how an operator differs from those that XNNPACK takes."""
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
