"""What a comparison of times says as a whole."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np

from tvmdbg_widgets.analysis.compare_times.change_texts import (
    ONCE,
    against,
    change_text,
    p_text,
    ratio_text,
)
from tvmdbg_widgets.analysis.compare_times.columns import ChangeColumns
from tvmdbg_widgets.analysis.compare_times.compared_times import ComparedTimes
from tvmdbg_widgets.analysis.compare_times.rank_test import least_p
from tvmdbg_widgets.analysis.compare_times.verdicts import ALPHA, Ground, TimeVerdict
from tvmdbg_widgets.model.base.numbers import agree, counted, duration_text, percent, speed_text

_MOST = 0.9
#: Above it a share says no more than the factor.
_FACTOR = 10
#: What no test of repeats can know.
SESSIONS = (
    "The repeats of each run were measured in one session: what else differed between the "
    "sessions (load, clock rate, memory) is part of the difference"
)


def sentence(compared: ComparedTimes) -> str:
    """How much faster or slower `b` is, and how few operators account for that."""
    change, total_a, total_b = compared.change_ns, compared.total_a, compared.total_b
    totals = f"total {duration_text(total_a)} → {duration_text(total_b)}"
    if compared.is_unrelated:
        shared, count = compared.shared
        return (
            f"A and B share {shared:,} of {counted(count, 'operator')}: they look like different "
            f"models, so their times say nothing about each other ({totals})"
        )
    if change == 0:
        return f"B takes as long as A: {totals}"
    if total_a > 0 and total_b > 0:
        ratio = total_b / total_a
        shares = [ratio_text(ratio)] if max(ratio, 1 / ratio) >= 1.1 and ratio <= _FACTOR else []
        size = f"B is {speed_text(ratio)} ({', '.join([change_text(change), *shares])}): {totals}"
    else:
        how = "slower" if change > 0 else "faster"
        size = f"B is {duration_text(abs(change))} {how}: {totals}"
    if compared.total.verdict is TimeVerdict.NOISE:
        return f"{size}; that is within noise ({compared.total.why})"
    number, part = _most(compared)
    if number:
        size += f"; {counted(number, 'operator')} {agree(number, 'accounts')} for "
        size += (
            f"{percent(part)} of the difference{', others offset some of that' if part > 1 else ''}"
        )
    if compared.total.verdict is TimeVerdict.UNKNOWN:
        size += "; whether that is more than noise is unknown"
    return size


def _most(compared: ComparedTimes) -> tuple[int, float]:
    """How few rows make nine tenths of the difference, and which share they make."""
    changes = compared.columns.change_ns[~np.isnan(compared.columns.change_ns)]
    along = np.sort(np.sign(compared.change_ns) * changes)[::-1]
    sums = np.cumsum(along) / abs(compared.change_ns)
    enough = np.flatnonzero(sums >= _MOST)
    return (int(enough[0]) + 1, float(sums[enough[0]])) if len(enough) else (0, 0.0)


def power(columns: ChangeColumns, missing: str) -> tuple[str, ...]:
    """What samples of these sizes can show at all."""
    sizes = zip(np.diff(columns.a.offsets), np.diff(columns.b.offsets), strict=True)
    known = Counter((int(n), int(m)) for n, m in sizes if n and m)
    if not known:
        return (f"No difference can be distinguished from noise: {missing or 'no repeats'}",)
    (n, m), _count = known.most_common(1)[0]
    least, tests = least_p(n, m), columns.verdicts.tests
    told = f"{against(n, m)}: the least possible p is {p_text(least)}"
    if least > ALPHA:
        once = f" ({ONCE})" if min(n, m) == 1 else ""
        return (f"{told}, so no difference can be distinguished from noise{once}",)
    need = math.ceil(least * tests / ALPHA - 1e-9)
    if need > 1:
        told += (
            f"; corrected for {counted(tests, 'comparison')}, at least {counted(need, 'operator')} "
            "must differ that clearly before any is distinguished from noise"
        )
    return (told,)


def untested(columns: ChangeColumns) -> str:
    """How many rows have a difference that nothing tells from noise, and why; empty for none."""
    ground = columns.verdicts.ground
    few = ground == Ground.FEW
    once = few & ((np.diff(columns.a.offsets) == 1) | (np.diff(columns.b.offsets) == 1))
    counts = (
        (int(once.sum()), f"measured once ({ONCE})"),
        (int((few & ~once).sum()), "with too few repeats to test"),
        (int((columns.verdicts.untested & ~few).sum()), "without repeats to test"),
    )
    told = ", ".join(f"{count:,} {what}" for count, what in counts if count)
    return f"perhaps noise: {told}" if told else ""


def warm_up(compared: ComparedTimes) -> str:
    """Return whether warm-up is in the repeats that are compared; empty where it is not seen."""
    timelines = compared.a.timeline, compared.b.timeline
    cuts = [0 if each is None else each.warm_up.cut for each in timelines]
    if max(cuts) <= compared.warm_up:
        return ""
    seen = " and ".join(
        f"the first {counted(cut, 'repeat')} of {letter}"
        for letter, cut in zip("AB", cuts, strict=True)
        if cut
    )
    return f"Warm-up included: {seen}; compare_times(…, warm_up={max(cuts)}) excludes it"
