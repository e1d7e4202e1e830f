"""The counts of a tensor's statistics under the names that figure and live view give them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tvmdbg_widgets.model.statistics import Statistics


def tensor_counts(found: Statistics) -> dict[str, int | None]:
    """Return the counts as JSON (``js/src/shared/tensor_questions.ts``)."""
    return {
        "size": found.size,
        "finite": found.finite,
        "nan": found.nan,
        "posInf": found.pos_inf,
        "negInf": found.neg_inf,
        "zero": found.zero,
        "negative": found.negative,
        "denormal": found.denormal,
        "atLowest": found.at_lowest,
        "atHighest": found.at_highest,
    }
