"""The parts of one run."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tvmdbg_widgets.model.base.text import Issues
from tvmdbg_widgets.model.executorch.event_nodes import ExecuTorchFiles
from tvmdbg_widgets.model.graph.graph import Graph, tensor_title
from tvmdbg_widgets.model.tensors.tensors import Tensors
from tvmdbg_widgets.model.timeline.report import Report
from tvmdbg_widgets.model.timeline.timeline import Timeline
from tvmdbg_widgets.sources.byte_source import ByteSource

_RELEASES = re.compile(r"TVM v([\d.]+)(?: to v([\d.]+))?")


@dataclass(frozen=True)
class Provenance:
    """The origin of a run, and the evidence for it."""

    releases: str = "unknown format"
    evidence: tuple[str, ...] = ()
    device: str = ""
    files: tuple[str, ...] = ()

    @property
    def format(self) -> str:
        """The releases in words: ``"TVM 0.9–0.19 format"``."""
        match = _RELEASES.fullmatch(self.releases)
        if match is None:
            return self.releases
        first, last = match.groups()
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
    """Joined graph, tensors and timeline of one run; all may be missing."""

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
    #: What rooms above have found of these parts, by name.
    kept: dict[str, Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """List tensors by the titles of their nodes."""
        if self.tensors is not None:
            object.__setattr__(self, "tensors", self.tensors.titled(tensor_title, self.graph))
