"""Ranked statements about a run, each with its evidence and how sure it is."""

from __future__ import annotations

import enum
import html
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, overload

from tvmdbg_widgets.model.frames import data_frame

if TYPE_CHECKING:
    import pandas as pd

_SHOWN = 20
_EVIDENCE_SHOWN = 4


class Kind(enum.StrEnum):
    """What a finding is about.

    ``FAULT``: values or files are wrong. ``DOUBT``: something cannot be trusted or known.
    ``COST``: where the time goes. ``NOTE``: worth knowing, nothing is wrong.
    """

    FAULT = "fault"
    DOUBT = "doubt"
    COST = "cost"
    NOTE = "note"


class Certainty(enum.StrEnum):
    """How sure a finding is, given the files; ``Finding.why`` says what it rests on."""

    CERTAIN = "certain"
    LIKELY = "likely"
    POSSIBLE = "possible"


@dataclass(frozen=True, slots=True)
class Finding:
    """One statement about a run.

    Attributes
    ----------
    rule : str
        Kebab-case name of the rule that made it, stable between releases.
    kind : Kind
    title : str
        One plain sentence with its number; names in it are printable.
    evidence : tuple of str
        Facts with numbers, most telling first; long lists are cut and say how many more there are.
    certainty : Certainty
    why : str
        What the certainty rests on.
    nodes : tuple of int
        All nodes concerned, the first one first.
    entries : tuple of (int, int)
        All entries ``(node, output)`` concerned.
    next_step : str
        What to do or look at next.
    weight : float
        Rank within its kind, higher first: the share of time of a cost, else what the rule gives
        it. Faults of one certainty go by their first node.
    """

    rule: str
    kind: Kind
    title: str
    evidence: tuple[str, ...]
    certainty: Certainty
    why: str
    nodes: tuple[int, ...] = ()
    entries: tuple[tuple[int, int], ...] = ()
    next_step: str = ""
    weight: float = field(default=0.0, compare=False)

    def __str__(self) -> str:
        return f"{self.kind.value} [{self.rule}] {self.title} ({self.certainty.value})"


_KINDS = {kind: place for place, kind in enumerate(Kind)}
_CERTAINTIES = {certainty: place for place, certainty in enumerate(Certainty)}


def _rank(finding: Finding) -> tuple[float, ...]:
    kind, certainty = _KINDS[finding.kind], _CERTAINTIES[finding.certainty]
    if finding.kind is Kind.FAULT:
        return kind, certainty, min(finding.nodes, default=-1), -finding.weight
    return kind, -finding.weight, certainty


class Findings(Sequence[Finding]):
    """The findings of a run, ranked: faults, doubts, costs, notes.

    Faults go by certainty and how early they arise, costs by their share of the time.

    Parameters
    ----------
    findings : iterable of Finding
        In any order.
    complete : bool
        Whether every tensor was looked at, or failed to be read.
    scanned, to_scan : int
        Tensors looked at, and tensors there are.
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
        return self._of(self._items[index]) if isinstance(index, slice) else self._items[index]

    def _of(self, findings: Iterable[Finding]) -> Findings:
        return Findings(
            findings, complete=self.complete, scanned=self.scanned, to_scan=self.to_scan
        )

    @property
    def faults(self) -> Findings:
        """The findings that say values or files are wrong."""
        return self.by_kind(Kind.FAULT)

    def by_kind(self, kind: Kind) -> Findings:
        """Return the findings of one kind."""
        return self._of(each for each in self._items if each.kind is kind)

    def by_rule(self, rule: str) -> Findings:
        """Return the findings of one rule."""
        return self._of(each for each in self._items if each.rule == rule)

    def by_node(self, node: int) -> Findings:
        """Return the findings that concern a node."""
        return self._of(each for each in self._items if node in each.nodes)

    def summary(self) -> str:
        """Return the counts in words: ``"1 fault, 3 costs, 1 note"``."""
        counts = Counter(each.kind for each in self._items)
        told = [f"{counts[k]} {k.value}{'s' * (counts[k] != 1)}" for k in Kind if counts[k]]
        text = ", ".join(told) or "none"
        if not self.complete:
            text += f"; {self.scanned:,} of {self.to_scan:,} tensors were scanned"
        return text

    def to_dataframe(self) -> pd.DataFrame:
        """Return one row a finding (needs pandas)."""
        fields = [name for name in Finding.__dataclass_fields__ if name != "weight"]
        columns: dict[str, list[Any]] = {
            name: [getattr(each, name) for each in self._items] for name in fields
        }
        for name in ("kind", "certainty"):
            columns[name] = [str(value) for value in columns[name]]
        return data_frame(columns)

    def _rest(self) -> str:
        more = len(self._items) - _SHOWN
        return f"… and {more} more" if more > 0 else ""

    def __repr__(self) -> str:
        lines = [f"Findings: {self.summary()}"]
        for each in self._items[:_SHOWN]:
            lines.append(f"  {each}")
            lines += [f"      {fact}" for fact in each.evidence[:_EVIDENCE_SHOWN]]
            more = len(each.evidence) - _EVIDENCE_SHOWN
            lines += [f"      … {more} more"] if more > 0 else []
        return "\n".join([*lines, *filter(None, [f"  {self._rest()}" if self._rest() else ""])])

    def _repr_html_(self) -> str:
        items = []
        for each in self._items[:_SHOWN]:
            facts = "".join(f"<li>{html.escape(fact)}</li>" for fact in each.evidence)
            sure = html.escape(f"{each.certainty.value}: {each.why}")
            items.append(
                f"<li><b>{each.kind.value}</b> {html.escape(each.title)}"
                f"<details><summary>evidence</summary><ul>{facts}</ul><p>{sure}</p>"
                f"<p>{html.escape(each.next_step)}</p></details></li>"
            )
        rest = f"<p>{self._rest()}</p>" if self._rest() else ""
        return f"<div>Findings: {self.summary()}</div><ol>{''.join(items)}</ol>{rest}"
