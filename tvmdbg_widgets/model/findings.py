"""Ranked statements about a run, with evidence and confidence."""

from __future__ import annotations

import dataclasses
import enum
import html
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, overload

from tvmdbg_widgets.model.base.numbers import agree, counted
from tvmdbg_widgets.model.base.slips import public_class, row_of
from tvmdbg_widgets.model.base.text import columns_of, data_frame, more_text, shortened

if TYPE_CHECKING:
    import pandas as pd

_SHOWN = 20
_EVIDENCE_SHOWN = 4
_OF_LOGS = ("tasks", "trials")


class Severity(enum.StrEnum):
    """Severity of a finding.

    ``ERROR``: values or files are wrong. ``WARNING``: something may be wrong, or cannot be relied
    on. ``HOTSPOT``: where the time goes. ``INFO``: worth knowing, nothing is wrong.
    """

    ERROR = "error"
    WARNING = "warning"
    HOTSPOT = "hotspot"
    INFO = "info"


class Confidence(enum.StrEnum):
    """Certainty of a finding, given the files; ``Finding.why`` has the reason."""

    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"


class Premise(NamedTuple):
    """An assumption of a finding, its confidence and the reason for doubt."""

    confidence: Confidence
    why: str


@dataclass(frozen=True, slots=True)
class Finding:
    """One statement about a run.

    Attributes
    ----------
    rule : str
        Kebab-case name of the rule that made it, stable between releases.
    severity : Severity
    title : str
        One plain sentence with its number; names in it are printable.
    evidence : tuple of str
        Facts with numbers, most telling first; long lists are cut and say how many more there are.
    confidence : Confidence
    why : str
        Reason for the confidence.
    nodes : tuple of int
        All nodes concerned, the first one first.
    entries : tuple of (int, int)
        All entries ``(node, output)`` concerned.
    next_step : str
        Recommended action.
    weight : float
        Rank within its severity, higher first: the share of time of a hotspot, else what the rule
        gives it. Errors of one confidence go by their first node.
    tasks, trials : tuple of int
        Of a tuning log: the tasks concerned, and the rows of the trials concerned.
    """

    rule: str = field(default="", kw_only=True)
    severity: Severity
    title: str
    evidence: tuple[str, ...]
    confidence: Confidence
    why: str
    nodes: tuple[int, ...] = ()
    entries: tuple[tuple[int, int], ...] = ()
    next_step: str = ""
    weight: float = field(default=0.0, compare=False)
    tasks: tuple[int, ...] = ()
    trials: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        for name in ("title", "why", "next_step"):
            object.__setattr__(self, name, shortened(getattr(self, name)))
        object.__setattr__(self, "evidence", tuple(map(shortened, self.evidence)))

    def resting_on(self, premises: Iterable[Premise]) -> Finding:
        """Lower the confidence to that of the weakest premise, with its reason."""
        weaker = [item for item in premises if _CONFIDENCES[item.confidence] > 0]
        if not weaker:
            return self
        least = max(
            [self.confidence, *(item.confidence for item in weaker)], key=_CONFIDENCES.__getitem__
        )
        whys = [item.why for item in weaker if item.why not in self.why]
        return dataclasses.replace(self, confidence=least, why="; ".join([self.why, *whys]))

    def __str__(self) -> str:
        return f"{self.severity} [{self.rule}] {self.title} ({self.confidence} confidence)"


_SEVERITIES = {severity: place for place, severity in enumerate(Severity)}
_CONFIDENCES = {confidence: place for place, confidence in enumerate(Confidence)}


def finding_fields(finding: Finding) -> dict[str, Any]:
    """Return what a finding says as JSON: all but its nodes, tasks and next step."""
    return {
        "rule": finding.rule,
        "severity": finding.severity.value,
        "title": finding.title,
        "evidence": list(finding.evidence),
        "confidence": finding.confidence.value,
        "why": finding.why,
    }


def _rank(finding: Finding) -> tuple[float, ...]:
    severity, confidence = _SEVERITIES[finding.severity], _CONFIDENCES[finding.confidence]
    if finding.severity is Severity.ERROR:
        return severity, confidence, min(finding.nodes, default=-1), -finding.weight
    return severity, -finding.weight, confidence


@public_class
class Findings(Sequence[Finding]):
    """The findings of a run, ranked: errors, warnings, hotspots, info.

    Errors go by confidence and how early they arise, hotspots by their share of the time.

    Parameters
    ----------
    findings : iterable of Finding
        In any order.
    complete : bool
        Whether every tensor was scanned, or failed to be read.
    scanned, to_scan : int
        Scanned tensors, and all tensors.
    """

    __slots__ = ("_items", "complete", "scanned", "to_scan")

    def __init__(
        self,
        findings: Iterable[Finding] = (),
        *,
        complete: bool = True,
        scanned: int = 0,
        to_scan: int = 0,
    ) -> None:
        self._items = tuple(sorted(findings, key=_rank))
        self.complete = complete
        self.scanned = scanned
        self.to_scan = to_scan

    def __len__(self) -> int:
        return len(self._items)

    @overload
    def __getitem__(self, index: int) -> Finding: ...
    @overload
    def __getitem__(self, index: slice) -> Findings: ...
    def __getitem__(self, index: int | slice) -> Finding | Findings:
        if isinstance(index, slice):
            return self._of(self._items[index])
        return self._items[row_of("finding", index, len(self))]

    def _of(self, findings: Iterable[Finding]) -> Findings:
        return Findings(
            findings, complete=self.complete, scanned=self.scanned, to_scan=self.to_scan
        )

    @property
    def errors(self) -> Findings:
        """The findings of wrong values or files."""
        return self.by_severity(Severity.ERROR)

    def by_severity(self, severity: Severity) -> Findings:
        """Return the findings of one severity."""
        return self._of(finding for finding in self._items if finding.severity == severity)

    def by_rule(self, rule: str) -> Findings:
        """Return the findings of one rule."""
        return self._of(finding for finding in self._items if finding.rule == rule)

    def by_node(self, node: int) -> Findings:
        """Return the findings that concern a node."""
        return self._of(finding for finding in self._items if node in finding.nodes)

    def by_task(self, task: int) -> Findings:
        """Return the findings that concern a task of a tuning log."""
        return self._of(finding for finding in self._items if task in finding.tasks)

    def summary(self) -> str:
        """Return the counts in words: ``"1 error, 3 hotspots, 2 info"``."""
        counts = Counter(grade.severity for grade in self._items)
        text = ", ".join(
            f"{counts[grade]} {grade}" if grade is Severity.INFO else counted(counts[grade], grade)
            for grade in Severity
            if counts[grade]
        )
        if not self.complete:
            text = (
                f"{text or 'none'}; {self.scanned:,} of {counted(self.to_scan, 'tensor')} "
                f"{agree(self.scanned, 'was')} scanned"
            )
        return text or "none"

    def to_dataframe(self) -> pd.DataFrame:
        """Return one row a finding (needs pandas); `tasks` and `trials` for tuning logs only."""
        of_logs = [name for name in _OF_LOGS if any(getattr(item, name) for item in self._items)]
        left_out = {"weight", *_OF_LOGS} - {*of_logs}
        fields = [name for name in Finding.__dataclass_fields__ if name not in left_out]
        columns = columns_of(self._items, fields)
        for name in ("severity", "confidence"):
            columns[name] = [str(value) for value in columns[name]]
        return data_frame(columns)

    def __repr__(self) -> str:
        lines = [f"Findings: {self.summary()}"]
        for each in self._items[:_SHOWN]:
            lines.append(f"  {each}")
            lines += [f"      {fact}" for fact in each.evidence[:_EVIDENCE_SHOWN]]
            more = len(each.evidence) - _EVIDENCE_SHOWN
            lines += [f"      … {more} more"] if more > 0 else []
        lines += [f"  {each}" for each in more_text(len(self._items), _SHOWN)]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        items = []
        for item in self._items[:_SHOWN]:
            facts = "".join(f"<li>{html.escape(fact)}</li>" for fact in item.evidence)
            sure = html.escape(f"{item.confidence} confidence: {item.why}")
            items.append(
                f"<li><b>{item.severity}</b> {html.escape(item.title)}"
                f"<details><summary>evidence</summary><ul>{facts}</ul><p>{sure}</p>"
                f'<p style="white-space:pre-line">{html.escape(item.next_step)}</p></details></li>'
            )
        rest = "".join(f"<p>{item}</p>" for item in more_text(len(self._items), _SHOWN))
        return f"<div>Findings: {self.summary()}</div><ol>{''.join(items)}</ol>{rest}"
