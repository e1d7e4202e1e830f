"""What a page says of the values of tensors that are not in it."""

from __future__ import annotations

from collections.abc import Sequence

from tvmdbg_widgets.export.page.stored.choice import TensorCandidate
from tvmdbg_widgets.export.page.stored.pictures import CELLS
from tvmdbg_widgets.export.page.stored.sentences import NO_ROOM, amount, megabytes
from tvmdbg_widgets.model.base.numbers import counted


def candidate_note(each: TensorCandidate) -> str:
    """Return what the page says beside one tensor's picture; empty where all values are there."""
    if each.whole is not None or not each.has_picture:
        return ""
    if each.trouble:
        return each.trouble
    if not each.pictures:
        return NO_ROOM
    stored, there = len(each.pictures), each.planes
    some = f"{stored:,} of its" if stored < there else "all its"
    which = "" if there == 1 else f" of {some} {counted(there, 'plane')}"
    reduced = any(max(made.shown.row_step, made.shown.col_step) > 1 for made in each.pictures)
    sampled = " of a sample" if any(not made.shown.exact for made in each.pictures) else ""
    kind = f"reduced picture of at most {CELLS} × {CELLS} cells{sampled}" if reduced else "picture"
    return f"{kind}{which}: exact values are not in this page"


def choice_sentences(
    candidates: Sequence[TensorCandidate], share: str, budget: int, noun: str
) -> list[str]:
    """Return what of the tensors that may be shown is not in the page."""
    shown = [each for each in candidates if each.has_picture and not each.trouble]
    unread = [each.tensor for each in candidates if each.trouble]
    room = f"budget of {megabytes(budget)}"
    if share == "statistics":
        tensors = [each.tensor for each in candidates]
        return [f"values of {amount(tensors, noun)}: share='statistics'"] if tensors else []
    found = [f"values of {amount(unread, noun)} that could not be read"] if unread else []
    pictured = [each for each in shown if each.pictures and each.whole is None]
    if pictured:
        tensors = [each.tensor for each in pictured]
        why = room if share == "tensors" else "share='tensors' keeps them"
        found.append(f"exact values of {amount(tensors, noun)}, kept as pictures: {why}")
    nothing = [each for each in shown if not each.pictures and each.whole is None]
    if nothing:
        found.append(f"pictures of {len(nothing):,} of {counted(len(shown), noun)}: {room}")
    flat = [each for each in pictured if not each.profiles and each.has_profiles]
    if flat:
        found.append(f"profiles of {len(flat):,} of {counted(len(pictured), noun)}: {room}")
    missing = sum(each.planes - len(each.pictures) for each in pictured)
    if missing:
        there = sum(each.planes for each in pictured)
        found.append(f"{missing:,} of {counted(there, 'plane')} of those pictures: {room}")
    return found
