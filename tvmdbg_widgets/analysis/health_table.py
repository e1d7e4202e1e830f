"""Health of every tensor of a run, as columns and by entry."""

from __future__ import annotations

import enum
import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from tvmdbg_widgets.analysis.findings.evidence import RunEvidence
from tvmdbg_widgets.analysis.findings.values import range_use
from tvmdbg_widgets.analysis.findings.values.constant import MANY, DeadChannels, constants
from tvmdbg_widgets.analysis.findings.values.first_nonfinite import carried, origins
from tvmdbg_widgets.analysis.findings.values.odd_values import NEAR, is_near_limit
from tvmdbg_widgets.analysis.findings.values.range_use import Ends
from tvmdbg_widgets.analysis.scan_results import Entry
from tvmdbg_widgets.model.base.number_text import number_text
from tvmdbg_widgets.model.base.numbers import agree, counted, percent
from tvmdbg_widgets.model.base.text import one_line
from tvmdbg_widgets.model.findings import Finding, Findings, Severity
from tvmdbg_widgets.model.graph.graph import tensor_title
from tvmdbg_widgets.model.health import (
    UNREAD,
    VERDICTS,
    EntryHealth,
    Health,
    HealthTable,
    HealthVerdict,
)
from tvmdbg_widgets.model.statistics import Statistics
from tvmdbg_widgets.model.tensors.dtypes import DataType

_FLOAT16 = DataType.parse("float16")


class Suspicion(enum.IntEnum):
    """Ranks of suspicion, the most suspicious first."""

    BORN_NAN = 0
    BORN_INF = 1
    CAME_NAN = 2
    CAME_INF = 3
    BROKEN = 4
    FAULT = 5
    MINUS = 6
    SATURATED = 7
    DEAD = 8
    CONSTANT = 9
    NEAR_LIMIT = 10
    OVERWRITTEN = 11
    DOUBT = 12
    UNKNOWN = 13
    NOT_YET = 14
    DENORMAL = 15
    SOME_DEAD = 16
    SOUND = 17


class Judged(NamedTuple):
    """One judgement; `weight` sorts within a rank, `source` is the node that NaN or Inf is from."""

    suspicion: Suspicion
    verdict: HealthVerdict
    words: str = ""
    brief: str = ""
    weight: float = 0.0
    source: int = -1


_SOUND = Judged(Suspicion.SOUND, HealthVerdict.OK)


def health(evidence: RunEvidence, findings: Findings) -> Health:
    """Judge every tensor of a run that was scanned so far."""
    verdicts = _EntryVerdicts(evidence, Judge(evidence, findings))
    table = HealthTable(verdicts.columns, verdicts.words, verdicts.brief, verdicts.item)
    return Health(table, complete=findings.complete, title=evidence.parts.title)


class _EntryVerdicts:
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
        verdicts = np.full(len(rows), VERDICTS.index(HealthVerdict.OK), np.uint8)
        sources = np.full(len(rows), -1, np.int32)
        for row, judged in self._judged.items():
            self.words[row], self.brief[row] = judged.words, judged.brief
            verdicts[row], sources[row] = VERDICTS.index(judged.verdict), judged.source
        entries = np.array(self._entries, np.int32).reshape(-1, 2)
        some = np.maximum(known.size, 1)
        full = known.size > 0
        self.columns: dict[str, np.ndarray[Any, Any]] = {
            "node": entries[:, 0],
            "output": entries[:, 1],
            "verdict": verdicts,
            "nan": self._column_of_all(np.where(full, known.nan, np.nan)),
            "inf": self._column_of_all(np.where(full, known.pos_inf + known.neg_inf, np.nan)),
            "zero": self._column_of_all(np.where(full, known.zero / some, np.nan)),
            "saturated": self._saturations(),
            "dead": self._dead(rows),
            "denormal": self._column_of_all(np.where(full, known.denormal / some, np.nan)),
            "low": self._column_of_all(known.low),
            "high": self._column_of_all(known.high),
            "rank": self._ranks(),
            "source": sources,
        }

    def _column_of_all(self, values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        column = np.full(len(self._entries), np.nan)
        column[self._known] = values
        return column

    def _ranks(self) -> np.ndarray[Any, np.dtype[np.int32]]:
        order = sorted(
            (
                row
                for row, judged in self._judged.items()
                if judged.suspicion is not Suspicion.SOUND
            ),
            key=lambda row: (self._judged[row].suspicion, -self._judged[row].weight, row),
        )
        column = np.zeros(len(self._entries), np.int32)
        column[order] = np.arange(len(order))
        rest = np.ones(len(column), np.bool_)
        rest[order] = False
        column[rest] = np.arange(len(order), len(column))
        return column

    def _saturations(self) -> np.ndarray[Any, np.dtype[np.float64]]:
        column = np.full(len(self._entries), np.nan)
        known = self._evidence.columns
        large = (known.size >= range_use.LEAST).tolist()
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
        evidence, entry = self._evidence, self._entries[row]
        judged = self._judged.get(row, _SOUND)
        tensor = evidence.tensors[entry]
        graph = evidence.parts.graph
        known = graph is not None and 0 <= entry[0] < graph.num_nodes
        facts: dict[str, Any] = {}
        stats = evidence.statistics.get(entry)
        if stats is not None and stats.size:
            facts = {
                "size": stats.size,
                "nan": stats.nan,
                "inf": stats.pos_inf + stats.neg_inf,
                "zero": stats.zero / stats.size,
                "denormal": stats.denormal / stats.size,
                "low": stats.minimum,
                "high": stats.maximum,
                "mean": stats.mean,
                "std": stats.std,
                "saturated": float(self.columns["saturated"][row]),
                "dead": self._dead_of(entry, stats),
                "constant": stats.size > 1
                and stats.finite == stats.size
                and bool(stats.minimum == stats.maximum),
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
            title=tensor_title(tensor, graph),
            **facts,
        )

    def _saturated(self, entry: Entry, stats: Statistics) -> float:
        ends = self._judge.ends.get(entry)
        if ends is not None:
            return ends.share
        tensor = self._evidence.tensors[entry]
        judged = range_use.is_judged(self._evidence.parts, entry, tensor, stats)
        return 0.0 if judged else math.nan

    def _dead_of(self, entry: Entry, stats: Statistics) -> tuple[int, int] | None:
        dead = self._judge.dead.get(entry)
        if dead is None:
            return None
        return (dead.total if stats.zero == stats.size else len(dead.dead)), dead.total


_DENORMAL = 0.1  # least denormal share of nonzero values that is reported for an OK entry
#: Rules whose entries are judged here individually.
_OWN = {
    *("constant-values", "dead-channels", "dynamic-range", "first-nonfinite", "overwritten"),
    "saturated",
}


class Judge:
    """Judge of single entries, based on facts about all of them."""

    def __init__(self, evidence: RunEvidence, findings: Findings) -> None:
        self._evidence = evidence
        births = origins(evidence)
        self._carriers = births.carriers
        self._born = {birth.entry: birth for birth in births.wrong}
        self._came = carried(evidence, births.carriers, self._born)
        unvaried = constants(evidence)
        self._unset = {*unvaried.inputs, *unvaried.weights}
        self._constant = {*unvaried.own, *self._unset}
        self._following = {e for e in unvaried.following if unvaried.values[e] == 0}
        probed = evidence.scanned.probed
        self.ends: Mapping[Entry, Ends] = probed.get("saturated", {})
        self.dead: Mapping[Entry, DeadChannels] = probed.get("dead-channels", {})
        self._finding_of: dict[Entry, Finding] = {}
        for finding in findings:
            if finding.rule not in _OWN and finding.severity in (Severity.ERROR, Severity.WARNING):
                for entry in finding.entries:
                    self._finding_of.setdefault(entry, finding)

    def judge(self, entry: Entry) -> Judged:
        """Return the first judgement that applies."""
        evidence = self._evidence
        broken = evidence.scanned.broken.get(entry)
        if broken is not None:
            words = f"could not be read: {one_line(broken)}"
            return Judged(Suspicion.BROKEN, HealthVerdict.UNKNOWN, words, UNREAD)
        stats = evidence.scanned.statistics.get(entry)
        if stats is None:
            return Judged(Suspicion.NOT_YET, HealthVerdict.NOT_SCANNED)
        if entry in evidence.overwritten:
            words = (
                f"holds the values of node {evidence.overwritten[entry]}, which wrote to the same "
                "buffer before it was read"
            )
            return Judged(Suspicion.OVERWRITTEN, HealthVerdict.SUSPICIOUS, words, "overwritten")
        if entry in self._carriers:
            return self._nonfinite(entry, stats)
        finding = self._finding_of.get(entry)
        if finding is not None and finding.severity is Severity.ERROR:
            return Judged(Suspicion.FAULT, HealthVerdict.FAULTY, *_title(finding))
        if not stats.applicable:
            words = f"cannot be judged: {stats.reason}"
            return Judged(Suspicion.UNKNOWN, HealthVerdict.UNKNOWN, words, "not judged")
        return (
            self._judged_values(entry, stats)
            or (
                Judged(Suspicion.DOUBT, HealthVerdict.SUSPICIOUS, *_title(finding))
                if finding
                else None
            )
            or self._sound(entry, stats)
        )

    def _nonfinite(self, entry: Entry, stats: Statistics) -> Judged:
        evidence = self._evidence
        inf = stats.pos_inf + stats.neg_inf
        brief = " + ".join(
            [*([f"{stats.nan:,} NaN"] if stats.nan else []), *([f"{inf:,} Inf"] if inf else [])]
        )
        words = f"{brief} of {counted(stats.size, 'value')}"
        role = evidence.role(entry[0])
        if entry in self._born:
            nan = Suspicion.BORN_NAN if stats.nan else Suspicion.BORN_INF
            if role is None:
                origin = ""
            elif role:
                origin = f", in {'an' if role == 'input' else 'a'} {role}"
            elif any(
                not read.sure or read.entry not in evidence.statistics
                for read in evidence.reads(entry[0])
            ):
                origin = ", first appears here; not all inputs known"
            else:
                origin = ", first appears here; all inputs finite"
            return Judged(nan, HealthVerdict.FAULTY, words + origin, brief, source=entry[0])
        source = self._came.get(entry)
        if source is not None:
            nan = Suspicion.CAME_NAN if stats.nan else Suspicion.CAME_INF
            words += f", from {evidence.entry_name(source)}"
            return Judged(nan, HealthVerdict.FAULTY, words, brief, source=source[0])
        words += ", all -Inf, which masks hold on purpose"
        return Judged(Suspicion.MINUS, HealthVerdict.SUSPICIOUS, words, brief)

    def _judged_values(self, entry: Entry, stats: Statistics) -> Judged | None:
        evidence = self._evidence
        ends, dead = self.ends.get(entry), self.dead.get(entry)
        if ends is not None and ends.many:
            low = f", {ends.at_low:,} at {ends.low:g}" if ends.low is not None else ""
            words = (
                f"{percent(ends.share)} at the ends of its range: {ends.at_high:,} at "
                f"{ends.high:g}{low}"
            )
            brief = f"{percent(ends.share)} at ends"
            return Judged(Suspicion.SATURATED, HealthVerdict.SUSPICIOUS, words, brief, ends.share)
        if dead is not None and len(dead.dead) >= MANY * dead.total:
            share = len(dead.dead) / dead.total
            return Judged(Suspicion.DEAD, HealthVerdict.SUSPICIOUS, *_channels(dead), share)
        if entry in self._constant or entry in self._following:
            value = "0" if stats.minimum == 0 else number_text(stats.minimum)
            why = ""
            if entry in self._following:
                why = ", as is all that it computes from"
            elif entry in self._unset:
                why = ", as if it was never set"
            words = f"{value} in all {counted(stats.size, 'value')}{why}"
            brief = "all zero" if stats.minimum == 0 else f"all {value}"
            weight = float(entry not in self._following)
            return Judged(Suspicion.CONSTANT, HealthVerdict.SUSPICIOUS, words, brief, weight)
        if is_near_limit(evidence.tensors[entry], stats):
            end = max(abs(float(stats.minimum)), abs(float(stats.maximum)))
            words = f"reaches {end:,.0f}, within a factor of two of the largest float16"
            return Judged(Suspicion.NEAR_LIMIT, HealthVerdict.SUSPICIOUS, words, "near limit", end)
        return None

    def _sound(self, entry: Entry, stats: Statistics) -> Judged:
        nonzero = stats.finite - stats.zero
        if nonzero and stats.denormal >= _DENORMAL * nonzero:
            share = stats.denormal / stats.size
            words = f"{percent(share)} so small that their type has fewer digits for them"
            brief = f"{percent(share)} denormal"
            return Judged(Suspicion.DENORMAL, HealthVerdict.OK, words, brief, share)
        dead = self.dead.get(entry)
        if dead is not None and dead.dead:
            share = len(dead.dead) / dead.total
            return Judged(Suspicion.SOME_DEAD, HealthVerdict.OK, *_channels(dead), share)
        return Judged(Suspicion.SOUND, HealthVerdict.OK)

    def suspects(self) -> set[Entry]:
        """Return the entries that may deserve a remark."""
        columns = self._evidence.columns
        many = columns.denormal >= _DENORMAL * np.maximum(columns.finite - columns.zero, 1)
        suspects = set(columns.where(many | (columns.peak > NEAR)))
        suspects.update(self._carriers, self._finding_of, self.ends, self.dead)
        return suspects | self._constant | self._following


def _channels(dead: DeadChannels) -> tuple[str, str]:
    number, are = f"{len(dead.dead):,} of", agree(len(dead.dead), "is")
    words = f"{number} {counted(dead.total, 'channel')} {are} zero throughout ({dead.axis})"
    return words, f"{number} {dead.total:,} dead"


def _title(finding: Finding) -> tuple[str, str]:
    if len(finding.entries) == 1:
        return finding.title, finding.rule.replace("-", " ")
    words = f"one of {len(finding.entries):,} of which the findings say: {finding.title}"
    return words, finding.rule.replace("-", " ")
