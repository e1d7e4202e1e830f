"""A run as a bug report in Markdown: versions, files, findings, checks, and a figure beside it."""

from __future__ import annotations

import html
import math
import os
import platform
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib.metadata import version
from itertools import chain
from pathlib import Path
from typing import Any, TypeAlias
from urllib.parse import quote

import numpy as np

from tvmdbg_widgets.analysis.facts import RunFacts
from tvmdbg_widgets.answers.counts import special_counts
from tvmdbg_widgets.answers.node import node_details
from tvmdbg_widgets.export.nodes import MachineFolders
from tvmdbg_widgets.export.private_parameters import (
    FEWEST,
    PrivateParameters,
    private_parameters,
    redacted_findings,
)
from tvmdbg_widgets.figures.choose import graph_figure
from tvmdbg_widgets.figures.debugger import DebuggerOptions, debugger_figure
from tvmdbg_widgets.figures.options import TensorFigureOptions
from tvmdbg_widgets.figures.raster import Figure
from tvmdbg_widgets.figures.shown_part import GraphFigureOptions
from tvmdbg_widgets.figures.texts import index_text
from tvmdbg_widgets.model.base import number_text as bits
from tvmdbg_widgets.model.base.number_text import computed_text, number_text
from tvmdbg_widgets.model.base.numbers import counted, exact_ns
from tvmdbg_widgets.model.base.text import FormatError, one_line
from tvmdbg_widgets.model.base.writing import replacing_all, suffixed
from tvmdbg_widgets.model.findings import Finding, Findings
from tvmdbg_widgets.model.statistics import Statistics
from tvmdbg_widgets.model.tensors.tensors import Tensor

_ISSUES = 50
_NODES = 20


class BugReport:
    """Markdown for an issue; ``str(report)`` is its text without the figure.

    In a notebook it shows with the figure inside; :meth:`save` writes the figure beside the text,
    since GitHub shows no images that are part of the text.

    Parameters
    ----------
    text : str
        Markdown.
    figure : Figure
    """

    def __init__(self, text: str, figure: Figure) -> None:
        self._text = text
        self.figure = figure

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return self._text

    def _repr_markdown_(self) -> str:
        # An image element: several hosts take no SVG data from Markdown's own images.
        return f"{self._text}\n{self.figure.html}\n"

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the text to a ``.md`` file and the figure to a ``.svg`` file of the same name.

        Parameters
        ----------
        path
            Ends in ``.md``; existing files are replaced whole or not at all.

        Returns
        -------
        Path
            Of the text.

        Raises
        ------
        ValueError
            For another ending.
        OSError
            The folder is missing or cannot be written to.
        """
        target = suffixed(path, ".md", ".markdown")
        picture = target.with_suffix(".svg")
        title = str(self.figure.description.get("title", "figure"))
        with replacing_all([target, picture]) as (text, drawn):
            text.write(f"{self._text}\n{image(title, quote(picture.name))}\n".encode())
            drawn.write(self.figure.svg_file())
        return target


def report(run: RunFacts, node: int | None = None) -> BugReport:
    """Write a bug report of a run.

    Reads every tensor unless that was done. Paths of this machine are left out: files are told by
    name. Of parameters statistics alone are told, of those with few values counts.
    """
    tell = _teller(run)
    private = private_parameters(run.parts)
    own = [] if node is None else node_lines(run, node, tell, private)
    found = redacted_findings(run.search.run(progress=True), run.tensors, private)
    lines = [f"# {plain(run.title)}"]
    if node is not None and run.graph is not None:
        lines = [f"# {plain(run.title)}, node {node}: {plain(run.graph.names[node])}"]
    lines += ["", *fenced(_summary(run))]
    lines += section("Versions", _versions(run, tell))
    lines += section("Files", bullets(map(tell, run.provenance.files)))
    if node is not None:
        lines += section(f"Node {node}", own)
        about = found.by_node(node)
        lines += section(f"Findings about node {node}", _findings(about, tell))
        rest = [each for each in found if node not in each.nodes]
        lines += section("Other findings", _titles(rest, tell))
    else:
        lines += section(f"Findings: {found.summary()}", _findings(found, tell))
    lines += section(f"Checks: {run.issues.summary()}", _checks(run, tell))
    figure = _figure(run, found, node, private)
    return BugReport("\n".join(lines) + "\n", figure)


def _teller(run: RunFacts) -> Tell:
    """Return what makes Markdown of a message: files by name alone."""
    machine = MachineFolders.of(run)
    return lambda text: plain(machine.without_paths(text))


def _summary(run: RunFacts) -> str:
    parts = (("Graph", run.graph), ("Tensors", run.tensors), ("Timeline", run.timeline))
    return "\n".join(
        f"{name}: missing" if part is None else repr(part).splitlines()[0] for name, part in parts
    )


def _versions(run: RunFacts, tell: Tell) -> list[str]:
    from tvmdbg_widgets import __version__

    evidence = "; ".join(run.provenance.evidence)
    because = f" (because {evidence})" if evidence else ""
    return bullets(
        [
            tell(f"dump: {run.provenance.format}{because}"),
            plain(f"tvmdbg_widgets {__version__}"),
            plain(
                f"Python {platform.python_version()}, numpy {version('numpy')}, "
                f"ml_dtypes {version('ml_dtypes')}"
            ),
        ]
    )


def _findings(found: Findings, tell: Tell) -> list[str]:
    lines: list[str] = []
    for number, each in enumerate(found, 1):
        lines += ["", f"### {number}. {each.severity.capitalize()}: {tell(each.title)}", ""]
        lines += bullets([*map(tell, each.evidence), f"nodes: {_ids(each)}"])
        lines += bullets(
            [f"{each.confidence} confidence: {tell(each.why)} (rule {code(each.rule)})"]
            + ([f"next: {tell(each.next_step)}"] if each.next_step else [])
        )
    return lines[1:]


def _ids(finding: Finding) -> str:
    shown = ", ".join(map(str, finding.nodes[:_NODES]))
    more = len(finding.nodes) - _NODES
    return (f"{shown} and {more:,} more" if more > 0 else shown) or "none in particular"


def _titles(found: list[Finding], tell: Tell) -> list[str]:
    return bullets(
        f"{each.severity}: {tell(each.title)} ({each.confidence} confidence)" for each in found
    )


def _checks(run: RunFacts, tell: Tell) -> list[str]:
    issues = run.issues
    lines = bullets(tell(str(issue)) for issue in issues[:_ISSUES])
    if len(issues) > _ISSUES:
        lines.append(f"- and {counted(len(issues) - _ISSUES, 'issue')} more")
    return lines


def _figure(run: RunFacts, found: Findings, node: int | None, private: PrivateParameters) -> Figure:
    color_by = "time" if run.timeline is not None else "kind"
    graph = GraphFigureOptions(color_by=color_by, focus=node)
    entry = _entry(run, found, node, private)
    if entry is None and run.tensors:
        return graph_figure(run, color_by=color_by, focus=node)
    options = DebuggerOptions(graph, TensorFigureOptions(entry=entry), hidden=("findings",))
    return debugger_figure(run, options, saved=True)


def _entry(
    run: RunFacts, found: Findings, node: int | None, private: PrivateParameters
) -> tuple[int, int] | None:
    """Return the entry to draw: the node's, else the first that a finding names, else the last.

    None where no tensor could be read, or all are parameters.
    """
    scanned = run.search.scan.scanned().statistics
    readable = {entry: each for entry, each in scanned.items() if entry not in private}
    own = [] if node is None else [entry for entry in readable if entry[0] == node]
    named = (entry for each in found for entry in each.entries if entry in readable)
    return next(chain(own, named, reversed(list(readable))), None)


#: Makes Markdown of a message.
Tell: TypeAlias = "Callable[[str], str]"

_CONSUMERS = 20
_REPEATS = 100
_SPECIALS = {"nan": "NaN", "pos_inf": "+Inf", "neg_inf": "-Inf"}


def node_lines(run: RunFacts, node: int, tell: Tell, private: PrivateParameters) -> list[str]:
    """Return attributes, inputs, outputs, exact statistics, times and warnings of a node."""
    if run.graph is None:
        raise KeyError("this run has no graph")
    if not 0 <= node < run.graph.num_nodes:
        raise IndexError(f"node {node} of a graph with {counted(run.graph.num_nodes, 'node')}")
    details = node_details(run, node)
    lines = bullets(
        [
            f"name {code(details['name'])}",
            f"function {code(details['funcName'])}, {details['kind']}, {details['opKind']}",
        ]
    )
    attrs = bullets(f"{code(name)}: {code(value)}" for name, value in details["attrs"])
    lines += section("Attributes", attrs, 3)
    reads: list[str] = []
    for detail in details["inputs"]:
        reads.append(
            f"- node {detail['node']} output {detail['output']}, {code(detail['name'])}: "
            f"{plain(detail['text'])}, edge {detail['trust']}"
        )
        reads += bullets(_values(run, detail["node"], detail["output"], tell, private), "  ")
    lines += section("Inputs", reads, 3)
    made: list[str] = []
    for detail in details["outputs"]:
        made.append(f"- output {detail['output']}: {plain(detail['text'])}{_readers(detail)}")
        made += bullets(_values(run, node, detail["output"], tell, private), "  ")
    lines += section("Outputs", made, 3)
    lines += section("Times", _times(run, node, details["times"]), 3)
    return lines + section("Warnings", bullets(map(tell, details["notes"])), 3)


def _readers(output: dict[str, Any]) -> str:
    nodes = [str(each["node"]) for each in output["consumers"]]
    if not nodes:
        return ", read by no node"
    more = f" and {len(nodes) - _CONSUMERS} more" if len(nodes) > _CONSUMERS else ""
    return f", read by node {', '.join(nodes[:_CONSUMERS])}{more}"


def _values(
    run: RunFacts, node: int, output: int, tell: Tell, private: PrivateParameters
) -> list[str]:
    tensors: Mapping[tuple[int, int], Tensor] = run.tensors or {}
    tensor = tensors.get((node, output))
    return ["no tensor in this dump"] if tensor is None else _statistics(tensor, tell, private)


def _statistics(tensor: Tensor, tell: Tell, private: PrivateParameters) -> list[str]:
    stored = f"stored as {code(f'{tensor.dtype}{list(tensor.shape)}')}"
    read = {"node": "captured at the node", "later": "read after the run"}.get(tensor.captured)
    said = [f"{stored}, {counted(tensor.nbytes, 'byte')}, matched {tensor.trust.label}", read]
    told = [", ".join(filter(None, said))]
    try:
        found = tensor.statistics()
    except (FormatError, OSError) as problem:
        return [*told, f"cannot be read: {tell(str(problem))}"]
    if not found.applicable:
        return [*told, f"no statistics: {plain(found.reason)}"]
    specials = special_counts(found, tensor.dtype.name)
    counts = [f"{count:,} {_SPECIALS[name]}" for name, count in specials.items()]
    counts += [f"{found.zero:,} zero", f"{found.negative:,} negative"]
    told.append(", ".join([f"{counted(found.size, 'value')}: {found.finite:,} finite", *counts]))
    counts_only = private.counts_only(tensor)
    if (tensor.node, tensor.output) in private:
        found = found.redacted(counts_only=counts_only)
    told += _more(tensor, found)
    if counts_only:
        told.append(f"a parameter of fewer than {FEWEST} values: its bounds are not told")
    elif found.finite and not math.isnan(found.mean):
        told.append(
            f"{number_text(found.minimum)}{_at(tensor, found.argmin)} … "
            f"{number_text(found.maximum)}{_at(tensor, found.argmax)}, "
            f"mean {computed_text(found.mean)}, standard deviation {computed_text(found.std)}"
        )
    return told


def _more(tensor: Tensor, found: Statistics) -> list[str]:
    """Return counts and places that matter only where they are there."""
    told = []
    if found.denormal:
        told.append(f"{found.denormal:,} denormal")
    if bits.is_integer(tensor.values().numpy_dtype):
        told += [
            f"{count:,} at the {name} value of the type"
            for count, name in ((found.at_lowest, "lowest"), (found.at_highest, "highest"))
            if count
        ]
    first = (("NaN", found.first_nan), ("+Inf", found.first_pos_inf), ("-Inf", found.first_neg_inf))
    told += [f"first {name}{_at(tensor, at)}" for name, at in first if at is not None]
    line = ", ".join(told)
    return [line] if line else []


def _at(tensor: Tensor, flat: int | None) -> str:
    """Return ``" (at [0, 13, 8, 12])"``; nothing for a scalar."""
    if flat is None or not tensor.view_shape:
        return ""
    index = [int(each) for each in np.unravel_index(flat, tensor.view_shape)]
    return f" (at {index_text(index)})"


def _times(run: RunFacts, node: int, shown: list[tuple[str, str]]) -> list[str]:
    lines = bullets(f"{name}: {plain(text)}" for name, text in shown if name != "repeats")
    timeline = run.timeline
    if timeline is None or not 0 <= node < timeline.num_nodes:
        return lines
    repeats = timeline.repeats(node)
    if len(repeats) > 1:
        exact = ", ".join(exact_ns(float(each)) for each in repeats[:_REPEATS])
        more = f" and {len(repeats) - _REPEATS} more" if len(repeats) > _REPEATS else ""
        lines.append(f"- {counted(len(repeats), 'repeat')}: {exact}{more}")
    return lines


#: An underscore between letters or digits is never emphasis (CommonMark 0.31, section 6.2).
_SPECIAL = re.compile(r"[\\`*\[\]|~$]|(?<![A-Za-z0-9_])_|_(?![A-Za-z0-9_])|(?<=_)_|_(?=_)")
#: A line that starts so would become a list, a heading, a quote or a rule.
_LEADING = re.compile(r"^(?:([-+=#])|(\d{1,9})([.)](?=\s|$)))")
#: What GitHub turns into a mention, a reference or a link whatever stands before it.
_LINKED = re.compile(r"(@|#)(?=\w)|(?<=\w)(:)(?=//)|(?<=www)(\.)", re.IGNORECASE)
_JOINER = "\u2060"
_TICKS = re.compile("`+")


def plain(text: str) -> str:
    """Return text as a run of Markdown that reads as the text itself.

    A word joiner, which has no width, stands behind ``@``, ``#`` and the colon of an address, so
    that nobody is mentioned and nothing is linked.
    """
    escaped = html.escape(_SPECIAL.sub(r"\\\g<0>", one_line(text).strip()), quote=False)
    escaped = _LEADING.sub(lambda at: f"{at[2] or ''}\\{at[1] or at[3]}", escaped)
    return _LINKED.sub(lambda found: found[0] + _JOINER, escaped)


def code(text: str) -> str:
    """Return text as a code span, whatever back ticks are in it; ``(empty)`` for none."""
    shown = one_line(text)
    if not shown.strip():
        return "(empty)"
    longest = max((len(ticks) for ticks in _TICKS.findall(shown)), default=0)
    fence = "`" * (longest + 1)
    pad = " " if shown[0] in "` " or shown[-1] in "` " else ""
    return f"{fence}{pad}{shown}{pad}{fence}"


def bullets(items: Iterable[str], indent: str = "") -> list[str]:
    """Return lines of a list; the items are Markdown already."""
    return [f"{indent}- {item}" for item in items]


def fenced(text: str) -> list[str]:
    """Return lines of a code block."""
    longest = max((len(ticks) for ticks in _TICKS.findall(text)), default=0)
    fence = "`" * max(3, longest + 1)
    return [f"{fence}text", *map(one_line, text.splitlines()), fence]


def image(title: str, address: str) -> str:
    """Return an image; the address is one made here, without blanks and brackets."""
    return f"![{plain(title)}]({address})"


def section(title: str, lines: Sequence[str], level: int = 2) -> list[str]:
    """Return a heading and what stands below it, nothing where that is empty."""
    return ["", f"{'#' * level} {title}", "", *lines] if lines else []
