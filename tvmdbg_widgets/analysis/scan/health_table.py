"""The health of every tensor of a run in columns; what is told of one is made when asked for."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from tvmdbg_widgets.analysis.findings.evidence import RunEvidence
from tvmdbg_widgets.analysis.findings.values import saturated
from tvmdbg_widgets.analysis.scan.health import Judge, Judged, Suspicion
from tvmdbg_widgets.analysis.scan.tensor_scan import Entry
from tvmdbg_widgets.model.statistics import Statistics
from tvmdbg_widgets.model.tensors.dtypes import DataType
from tvmdbg_widgets.model.verdicts.findings import Findings
from tvmdbg_widgets.model.verdicts.health import (
    VERDICTS,
    EntryHealth,
    Health,
    HealthTable,
    HealthVerdict,
)

_FLOAT16 = DataType.parse("float16")
_SOUND = Judged(Suspicion.SOUND, HealthVerdict.OK)


def health(evidence: RunEvidence, findings: Findings) -> Health:
    """Judge every tensor of a run as far as it was scanned."""
    told = _EntryVerdicts(evidence, Judge(evidence, findings))
    table = HealthTable(told.columns, told.words, told.brief, told.item)
    return Health(table, complete=findings.complete, title=evidence.parts.title)


class _EntryVerdicts:
    """Judgements of all entries, and the facts beside them."""

    def __init__(self, evidence: RunEvidence, judge: Judge) -> None:
        self._evidence = evidence
        self._judge = judge
        self._entries = list(evidence.tensors)
        rows = {entry: row for row, entry in enumerate(self._entries)}
        known = evidence.columns
        self._known = np.array([rows[entry] for entry in known.entries], np.intp)
        suspects = (judge.suspects() & rows.keys()) | (rows.keys() - set(known.entries))
        self._judged = {rows[entry]: judge.judge(entry) for entry in sorted(suspects)}
        self.words, self.brief = [""] * len(rows), [""] * len(rows)
        for row, judged in self._judged.items():
            self.words[row], self.brief[row] = judged.words, judged.brief
        entries = np.array(self._entries, np.int32).reshape(-1, 2)
        some = np.maximum(known.size, 1)
        full = known.size > 0
        self.columns: dict[str, np.ndarray[Any, Any]] = {
            "node": entries[:, 0],
            "output": entries[:, 1],
            "verdict": self._verdicts(),
            "nan": self._facts(np.where(full, known.nan, np.nan)),
            "inf": self._facts(np.where(full, known.pos_inf + known.neg_inf, np.nan)),
            "zero": self._facts(np.where(full, known.zero / some, np.nan)),
            "saturated": self._saturations(),
            "dead": self._dead(rows),
            "denormal": self._facts(np.where(full, known.denormal / some, np.nan)),
            "low": self._facts(known.low),
            "high": self._facts(known.high),
            "rank": self._ranks(),
            "source": self._sources(),
        }

    def _facts(self, found: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """Return facts of the entries that have statistics as a column of all, NaN elsewhere."""
        column = np.full(len(self._entries), np.nan)
        column[self._known] = found
        return column

    def _verdicts(self) -> np.ndarray[Any, np.dtype[np.uint8]]:
        column = np.full(len(self._entries), VERDICTS.index(HealthVerdict.OK), np.uint8)
        for row, judged in self._judged.items():
            column[row] = VERDICTS.index(judged.verdict)
        return column

    def _sources(self) -> np.ndarray[Any, np.dtype[np.int32]]:
        column = np.full(len(self._entries), -1, np.int32)
        for row, judged in self._judged.items():
            column[row] = judged.source
        return column

    def _ranks(self) -> np.ndarray[Any, np.dtype[np.int32]]:
        """Number the order of suspicion; of those that are OK, with nothing to tell, their own."""
        told = {
            row: judged
            for row, judged in self._judged.items()
            if judged.suspicion is not Suspicion.SOUND
        }
        order = sorted(told, key=lambda row: (told[row].suspicion, -told[row].weight, row))
        column = np.zeros(len(self._entries), np.int32)
        column[order] = np.arange(len(order))
        rest = np.ones(len(column), np.bool_)
        rest[order] = False
        column[rest] = np.arange(len(order), len(column))
        return column

    def _saturations(self) -> np.ndarray[Any, np.dtype[np.float64]]:
        column = np.full(len(self._entries), np.nan)
        known = self._evidence.columns
        large = (known.size >= saturated.LEAST).tolist()
        bounded = (known.finite > 0).tolist()
        tensors = self._evidence.tensors
        for entry, row, some, many in zip(
            known.entries, self._known.tolist(), bounded, large, strict=True
        ):
            if some and (many or tensors[entry].dtype == _FLOAT16):
                column[row] = self._saturated(entry, self._evidence.statistics[entry])
        return column

    def _dead(self, rows: Mapping[Entry, int]) -> np.ndarray[Any, np.dtype[np.float64]]:
        column = np.full(len(self._entries), np.nan)
        for entry in self._judge.dead.keys() & self._evidence.statistics.keys():
            dead = self._dead_of(entry, self._evidence.statistics[entry])
            if dead is not None:
                column[rows[entry]] = dead[0] / dead[1]
        return column

    def item(self, row: int) -> EntryHealth:
        """Return all that is told of one entry; values that are not its own are not."""
        evidence, entry = self._evidence, self._entries[row]
        judged = self._judged.get(row, _SOUND)
        tensor = evidence.tensors[entry]
        graph = evidence.parts.graph
        known = graph is not None and 0 <= entry[0] < graph.num_nodes
        facts: dict[str, Any] = {}
        found = evidence.statistics.get(entry)
        if found is not None and found.size:
            facts = {
                "size": found.size,
                "nan": found.nan,
                "inf": found.pos_inf + found.neg_inf,
                "zero": found.zero / found.size,
                "denormal": found.denormal / found.size,
                "low": found.minimum,
                "high": found.maximum,
                "mean": found.mean,
                "std": found.std,
                "saturated": float(self.columns["saturated"][row]),
                "dead": self._dead_of(entry, found),
                "constant": found.size > 1
                and found.finite == found.size
                and bool(found.minimum == found.maximum),
            }
        return EntryHealth(
            entry,
            tensor.name,
            graph.nodes[entry[0]].op_kind if graph is not None and known else "",
            tensor.dtype.name,
            tensor.shape,
            judged.verdict,
            judged.words,
            judged.brief,
            int(self.columns["rank"][row]),
            source=judged.source,
            **facts,
        )

    def _saturated(self, entry: Entry, found: Statistics) -> float:
        ends = self._judge.ends.get(entry)
        if ends is not None:
            return ends.share
        tensor = self._evidence.tensors[entry]
        judged = saturated.is_judged(self._evidence.parts, entry, tensor, found)
        return 0.0 if judged else math.nan

    def _dead_of(self, entry: Entry, found: Statistics) -> tuple[int, int] | None:
        dead = self._judge.dead.get(entry)
        if dead is None:
            return None
        return (dead.total if found.zero == found.size else len(dead.dead)), dead.total
