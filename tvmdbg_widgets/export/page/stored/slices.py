"""The slices of a long timeline in a page: all of them where there is room, else bins alone."""

from __future__ import annotations

from typing import Any

from tvmdbg_widgets.analysis.derived.derived import Derived
from tvmdbg_widgets.answers.kept_timeline import KeptTimeline
from tvmdbg_widgets.engine.columns import pack
from tvmdbg_widgets.export.page.stored.pack import BinaryParts, compressed, filtered
from tvmdbg_widgets.export.page.stored.sentences import megabytes
from tvmdbg_widgets.model.base.numbers import counted

#: Slices whose size once compressed tells that of the others.
_SAMPLE = 20_000
#: How far the others may differ from those.
_UNSURE = 1.5


def add_slices(binary: BinaryParts, run: Derived, room: float, *, shown: bool) -> tuple[str, ...]:
    """Add the slices that do not come along with the first answer about time."""
    if run.timeline is None:
        return ()
    kept = KeptTimeline(run.timeline, run.graph)
    if kept.along:
        return ()
    taken = _fitting(kept, room) if shown else None
    if taken is not None:
        binary.add_packed("slices", *taken)
        binary.add_columns("names", kept.names.columns(range(kept.names.count)), "names")
        _tell(binary, whole=True, binsOnly=None)
        return ()
    why = (
        f"this page holds {counted(kept.num_bins, 'bin')} of time in place of "
        f"{counted(kept.count, 'slice')}: its budget had no room for them (save_html(budget=…))"
    )
    notes = binary.head["answers"]["timeline"]["notes"]
    _tell(binary, whole=False, binsOnly=why, notes=[*notes, why])
    if not shown:
        return ()
    size = megabytes(kept.count * kept.table.width)
    bins = f"the page shows {counted(kept.num_bins, 'bin')} of time"
    return (f"{counted(kept.count, 'slice')} ({size} before compression): budget; {bins}",)


def _fitting(kept: KeptTimeline, room: float) -> tuple[list[dict[str, Any]], bytes] | None:
    """Return all slices packed; None where they would take more room."""
    order = kept.timeline.rows.order
    middle = max(0, (kept.count - _SAMPLE) // 2)
    sample = order[middle : middle + _SAMPLE]
    if _size(kept, sample) * kept.count / len(sample) > _UNSURE * room:
        return None
    headers, buffer = pack(kept.table.columns(order))
    return (headers, buffer) if compressed(filtered(headers, buffer)) <= room else None


def _size(kept: KeptTimeline, slices: Any) -> int:
    return compressed(filtered(*pack(kept.table.columns(slices))))


def _tell(binary: BinaryParts, **changed: Any) -> None:
    answers = binary.head["answers"]
    answers["timeline"] = {**answers["timeline"], **changed}
