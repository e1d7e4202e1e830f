"""A run as a bug report in Markdown: versions, files, findings, checks, and a figure beside it."""

from __future__ import annotations

import os
import platform
from importlib.metadata import version
from itertools import chain
from pathlib import Path
from urllib.parse import quote

from tvmdbg_widgets.analysis.derived.derived import Derived
from tvmdbg_widgets.export.machine import MachineFolders
from tvmdbg_widgets.export.markdown import bullets, code, fenced, image, plain, section
from tvmdbg_widgets.export.private_parameters import PrivateParameters, private_parameters
from tvmdbg_widgets.export.redacted import redacted_findings
from tvmdbg_widgets.export.report_node import Tell, node_lines
from tvmdbg_widgets.figures.debugger import DebuggerOptions, debugger_figure
from tvmdbg_widgets.figures.figure import Figure
from tvmdbg_widgets.figures.graph.figure import graph_figure
from tvmdbg_widgets.figures.graph.options import GraphFigureOptions
from tvmdbg_widgets.figures.tensor.options import TensorFigureOptions
from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.base.writing import replacing_all, suffixed
from tvmdbg_widgets.model.verdicts.findings import Finding, Findings

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


def report(run: Derived, node: int | None = None) -> BugReport:
    """Write a bug report of a run.

    Reads every tensor unless that was done. Paths of this machine are left out: files are told by
    name. Of parameters statistics alone are told, of those with few values counts.
    """
    tell = _teller(run)
    private = private_parameters(run.parts)
    own = [] if node is None else node_lines(run, node, tell, private)
    found = redacted_findings(run.findings(), run.tensors, private)
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
    lines += section(f"Checks: {run.check().summary()}", _checks(run, tell))
    figure = _figure(run, found, node, private)
    return BugReport("\n".join(lines) + "\n", figure)


def _teller(run: Derived) -> Tell:
    """Return what makes Markdown of a message: files by name alone."""
    machine = MachineFolders.of(run)
    return lambda text: plain(machine.without_paths(text))


def _summary(run: Derived) -> str:
    parts = (("Graph", run.graph), ("Tensors", run.tensors), ("Timeline", run.timeline))
    return "\n".join(
        f"{name}: missing" if part is None else repr(part).splitlines()[0] for name, part in parts
    )


def _versions(run: Derived, tell: Tell) -> list[str]:
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


def _checks(run: Derived, tell: Tell) -> list[str]:
    issues = run.check()
    lines = bullets(tell(str(issue)) for issue in issues[:_ISSUES])
    if len(issues) > _ISSUES:
        lines.append(f"- and {counted(len(issues) - _ISSUES, 'issue')} more")
    return lines


def _figure(run: Derived, found: Findings, node: int | None, private: PrivateParameters) -> Figure:
    color_by = "time" if run.timeline is not None else "kind"
    graph = GraphFigureOptions(color_by=color_by, focus=node)
    entry = _entry(run, found, node, private)
    if entry is None and run.tensors:
        return graph_figure(run, color_by=color_by, focus=node)
    options = DebuggerOptions(graph, TensorFigureOptions(entry=entry), hidden=("findings",))
    return debugger_figure(run, options, saved=True)


def _entry(
    run: Derived, found: Findings, node: int | None, private: PrivateParameters
) -> tuple[int, int] | None:
    """Return the entry to draw: the node's, else the first that a finding names, else the last.

    None where no tensor could be read, or all are parameters.
    """
    scanned = run.search.scan.scanned().statistics
    readable = {entry: each for entry, each in scanned.items() if entry not in private}
    own = [] if node is None else [entry for entry in readable if entry[0] == node]
    named = (entry for each in found for entry in each.entries if entry in readable)
    return next(chain(own, named, reversed(list(readable))), None)
