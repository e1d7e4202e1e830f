"""A run as a bug report in Markdown: versions, files, findings, checks and a figure."""

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
from tvmdbg_widgets.figures.choose import view_figure
from tvmdbg_widgets.figures.options import DebuggerOptions, GraphOptions
from tvmdbg_widgets.figures.raster import Figure
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

    A notebook shows the figure inside; :meth:`save` writes the figure to a file of its own, since
    GitHub shows no embedded images.

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
        # An image element: several hosts reject SVG data in Markdown images.
        return f"{self._text}\n{self.figure.html}\n"

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the text to a ``.md`` file and the figure to a ``.svg`` file of the same name.

        Parameters
        ----------
        path
            Ends in ``.md``; existing files are replaced atomically.

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

    It scans all tensors. Files are named without their folders. Parameters show only statistics,
    small ones only counts.
    """
    tell = _teller(run)
    private = private_parameters(run.parts)
    own = [] if node is None else node_lines(run, node, tell, private)
    findings = redacted_findings(run.search.run(progress=True), run.tensors, private)
    lines = [f"# {plain(run.title)}"]
    if node is not None and run.graph is not None:
        lines = [f"# {plain(run.title)}, node {node}: {plain(run.graph.names[node])}"]
    lines += ["", *fenced(_summary(run))]
    lines += section("Versions", _versions(run, tell))
    lines += section("Files", bullets(map(tell, run.provenance.files)))
    if node is not None:
        lines += section(f"Node {node}", own)
        lines += section(f"Findings about node {node}", _findings(findings.by_node(node), tell))
        others = (finding for finding in findings if node not in finding.nodes)
        titles = (f"{x.severity}: {tell(x.title)} ({x.confidence} confidence)" for x in others)
        lines += section("Other findings", bullets(titles))
    else:
        lines += section(f"Findings: {findings.summary()}", _findings(findings, tell))
    lines += section(f"Checks: {run.issues.summary()}", _checks(run, tell))
    return BugReport("\n".join(lines) + "\n", _figure(run, findings, node, private))


def _teller(run: RunFacts) -> Tell:
    """Return a function that writes a message as Markdown without folders."""
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


def _findings(findings: Findings, tell: Tell) -> list[str]:
    lines: list[str] = []
    for number, finding in enumerate(findings, 1):
        lines += ["", f"### {number}. {finding.severity.capitalize()}: {tell(finding.title)}", ""]
        why = f"{tell(finding.why)} (rule {code(finding.rule)})"
        items = [*map(tell, finding.evidence), f"nodes: {_ids(finding)}"]
        items.append(f"{finding.confidence} confidence: {why}")
        lines += bullets(items + [f"next: {tell(finding.next_step)}"] * bool(finding.next_step))
    return lines[1:]


def _ids(finding: Finding) -> str:
    shown = ", ".join(map(str, finding.nodes[:_NODES]))
    more = len(finding.nodes) - _NODES
    return (f"{shown} and {more:,} more" if more > 0 else shown) or "none in particular"


def _checks(run: RunFacts, tell: Tell) -> list[str]:
    issues = run.issues
    lines = bullets(tell(str(issue)) for issue in issues[:_ISSUES])
    if len(issues) > _ISSUES:
        lines.append(f"- and {counted(len(issues) - _ISSUES, 'issue')} more")
    return lines


def _figure(
    run: RunFacts, findings: Findings, node: int | None, private: PrivateParameters
) -> Figure:
    color_by = "time" if run.timeline is not None else "kind"
    entry = _entry(run, findings, node, private)
    if entry is None and run.tensors:
        return view_figure(run, GraphOptions(color_by=color_by, focus=node))
    options = DebuggerOptions(color_by=color_by, focus=node, entry=entry, collapsed=["findings"])
    return view_figure(run, options, saved=True)


def _entry(
    run: RunFacts, findings: Findings, node: int | None, private: PrivateParameters
) -> tuple[int, int] | None:
    """Return the entry to draw: the node's, else the first of a finding, else the last.

    None if no tensor could be read, or all are parameters.
    """
    scanned = run.search.scan.scanned().statistics
    readable = dict.fromkeys(entry for entry in scanned if entry not in private)
    own = [entry for entry in readable if entry[0] == node]
    named = (entry for finding in findings for entry in finding.entries if entry in readable)
    return next(chain(own, named, reversed(readable)), None)


#: Writes a message as Markdown.
Tell: TypeAlias = "Callable[[str], str]"

_CONSUMERS = 20
_REPEATS = 100
_SPECIALS = {"nan": "NaN", "pos_inf": "+Inf", "neg_inf": "-Inf"}


def node_lines(run: RunFacts, node: int, tell: Tell, private: PrivateParameters) -> list[str]:
    """Return attributes, inputs, outputs, exact statistics, times and warnings of a node."""
    if run.graph is None:
        raise KeyError("this run has no graph")
    if not 0 <= node < run.graph.num_nodes:
        raise IndexError(f"no node {node}; ids are 0 to {run.graph.num_nodes - 1}")
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
    nodes = [str(reader["node"]) for reader in output["consumers"]]
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
    head = [f"{stored}, {counted(tensor.nbytes, 'byte')}, matched {tensor.trust.label}", read]
    lines = [", ".join(filter(None, head))]
    try:
        stats = tensor.statistics()
    except (FormatError, OSError) as problem:
        return [*lines, f"cannot be read: {tell(str(problem))}"]
    if not stats.applicable:
        return [*lines, f"no statistics: {plain(stats.reason)}"]
    specials = special_counts(stats, tensor.dtype.name)
    counts = [f"{count:,} {_SPECIALS[name]}" for name, count in specials.items()]
    counts += [f"{stats.zero:,} zero", f"{stats.negative:,} negative"]
    lines.append(", ".join([f"{counted(stats.size, 'value')}: {stats.finite:,} finite", *counts]))
    counts_only = private.counts_only(tensor)
    if (tensor.node, tensor.output) in private:
        stats = stats.redacted(counts_only=counts_only)
    lines += _more(tensor, stats)
    if counts_only:
        lines.append(f"a parameter of fewer than {FEWEST} values: its bounds stay private")
    elif stats.finite and not math.isnan(stats.mean):
        lines.append(
            f"{number_text(stats.minimum)}{_at(tensor, stats.argmin)} … "
            f"{number_text(stats.maximum)}{_at(tensor, stats.argmax)}, "
            f"mean {computed_text(stats.mean)}, standard deviation {computed_text(stats.std)}"
        )
    return lines


def _more(tensor: Tensor, stats: Statistics) -> list[str]:
    """Return a line of rare counts and places, if there are any."""
    parts = []
    if stats.denormal:
        parts.append(f"{stats.denormal:,} denormal")
    if bits.is_integer(tensor.values().numpy_dtype):
        parts += [
            f"{count:,} at the {name} value of the type"
            for count, name in ((stats.at_lowest, "lowest"), (stats.at_highest, "highest"))
            if count
        ]
    first = (("NaN", stats.first_nan), ("+Inf", stats.first_pos_inf), ("-Inf", stats.first_neg_inf))
    parts += [f"first {name}{_at(tensor, at)}" for name, at in first if at is not None]
    line = ", ".join(parts)
    return [line] if line else []


def _at(tensor: Tensor, flat: int | None) -> str:
    """Return ``" (at [0, 13, 8, 12])"``, or "" for a scalar."""
    if flat is None or not tensor.view_shape:
        return ""
    return f" (at {index_text(list(map(int, np.unravel_index(flat, tensor.view_shape))))})"


def _times(run: RunFacts, node: int, shown: list[tuple[str, str]]) -> list[str]:
    lines = bullets(f"{name}: {plain(text)}" for name, text in shown if name != "repeats")
    timeline = run.timeline
    if timeline is None or not 0 <= node < timeline.num_nodes:
        return lines
    repeats = timeline.repeats(node)
    if len(repeats) > 1:
        exact = ", ".join(map(exact_ns, repeats[:_REPEATS].tolist()))
        more = f" and {len(repeats) - _REPEATS} more" if len(repeats) > _REPEATS else ""
        lines.append(f"- {counted(len(repeats), 'repeat')}: {exact}{more}")
    return lines


#: An underscore between letters or digits is never emphasis (CommonMark 0.31, section 6.2).
_SPECIAL = re.compile(r"[\\`*\[\]|~$]|(?<![A-Za-z0-9_])_|_(?![A-Za-z0-9_])|(?<=_)_|_(?=_)")
#: Starts of a list, a heading, a quote or a rule.
_LEADING = re.compile(r"^(?:([-+=#])|(\d{1,9})([.)](?=\s|$)))")
#: Texts that GitHub turns into mentions, references or links.
_LINKED = re.compile(r"(@|#)(?=\w)|(?<=\w)(:)(?=//)|(?<=www)(\.)", re.IGNORECASE)
_JOINER = "\u2060"
_TICKS = re.compile("`+")


def plain(text: str) -> str:
    """Return text as Markdown that renders as the text itself.

    A zero-width word joiner behind ``@``, ``#`` and the colon of an address prevents mentions and
    links.
    """
    escaped = html.escape(_SPECIAL.sub(r"\\\g<0>", one_line(text).strip()), quote=False)
    escaped = _LEADING.sub(lambda at: f"{at[2] or ''}\\{at[1] or at[3]}", escaped)
    return _LINKED.sub(lambda match: match[0] + _JOINER, escaped)


def code(text: str) -> str:
    """Return text as a code span, also if it contains back ticks; ``(empty)`` for none."""
    shown = one_line(text)
    if not shown.strip():
        return "(empty)"
    longest = max((len(ticks) for ticks in _TICKS.findall(shown)), default=0)
    fence = "`" * (longest + 1)
    pad = " " if shown[0] in "` " or shown[-1] in "` " else ""
    return f"{fence}{pad}{shown}{pad}{fence}"


def bullets(items: Iterable[str], indent: str = "") -> list[str]:
    """Return Markdown items as lines of a list."""
    return [f"{indent}- {item}" for item in items]


def fenced(text: str) -> list[str]:
    """Return lines of a code block."""
    longest = max((len(ticks) for ticks in _TICKS.findall(text)), default=0)
    fence = "`" * max(3, longest + 1)
    return [f"{fence}text", *map(one_line, text.splitlines()), fence]


def image(title: str, address: str) -> str:
    """Return an image; the address contains no blanks or brackets."""
    return f"![{plain(title)}]({address})"


def section(title: str, lines: Sequence[str], level: int = 2) -> list[str]:
    """Return a heading with its lines; nothing without lines."""
    return ["", f"{'#' * level} {title}", "", *lines] if lines else []
