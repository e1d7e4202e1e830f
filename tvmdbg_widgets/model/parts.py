"""What one run consists of, before anything is shown of it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tvmdbg_widgets.model.base.text import Issues
from tvmdbg_widgets.model.executorch.event_nodes import ExecuTorchFiles
from tvmdbg_widgets.model.graph.graph import Graph
from tvmdbg_widgets.model.tensors.tensors import Tensors
from tvmdbg_widgets.model.timeline.report import Report
from tvmdbg_widgets.model.timeline.timeline import Timeline
from tvmdbg_widgets.sources.byte_source import ByteSource

_RELEASES = re.compile(r"TVM v([\d.]+)(?: to v([\d.]+))?")


@dataclass(frozen=True)
class Provenance:
    """Where a run comes from, and the evidence for it.

    Attributes
    ----------
    releases : str
        The releases that write files of this form: ``"TVM v0.9 to v0.19"``; another format by its
        name. Recorders of newer releases may write the same form.
    evidence : tuple of str
        One sentence a fact.
    device : str
        The device that the dump is named after, ``"CPU:0"``; empty where unknown.
    files : tuple of str
        What was read, with sizes.
    """

    releases: str = "unknown format"
    evidence: tuple[str, ...] = ()
    device: str = ""
    files: tuple[str, ...] = ()

    @property
    def format(self) -> str:
        """The releases in words: ``"TVM 0.9–0.19 format"``."""
        found = _RELEASES.fullmatch(self.releases)
        if found is None:
            return self.releases
        first, last = found.groups()
        return f"TVM {first}–{last} format" if last else f"TVM {first} format"

    def __repr__(self) -> str:
        lines = [f"Provenance: {self.format}"]
        if self.device:
            lines[0] += f", device {self.device}"
        lines += [f"  because {fact}" for fact in self.evidence]
        lines += [f"  read {file}" for file in self.files]
        return "\n".join(lines)


@dataclass(frozen=True)
class RunFile:
    """One file that a run was made of."""

    part: str
    path: str
    source: ByteSource


@dataclass(frozen=True)
class RunParts:
    """Graph, tensors and timeline of one run, already joined; each may be missing."""

    title: str
    graph: Graph | None = None
    tensors: Tensors | None = None
    timeline: Timeline | None = None
    issues: Issues = field(default_factory=Issues)
    provenance: Provenance = field(default_factory=Provenance)
    files: tuple[RunFile, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)
    ir: Mapping[str, ByteSource] = field(default_factory=dict)
    reports: tuple[Report, ...] = ()
    printed: str = ""
    executorch: ExecuTorchFiles | None = None
