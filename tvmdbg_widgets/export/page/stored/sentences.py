"""What a page says of what is in it and what is not."""

from __future__ import annotations

from collections.abc import Sequence

from tvmdbg_widgets.export.private_parameters import FEWEST
from tvmdbg_widgets.model.base.errors import why_unread
from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.tensors.tensors import Tensor

COUNTS_ONLY = (
    f"a parameter of fewer than {FEWEST} values: this page tells how many are zero, negative or "
    "not finite; bounds and mean would give values away"
)
PARAMETER = "values of parameters are not in this page: only their statistics are"
STATISTICS = "values are not in this page: it was saved with their statistics only"
NO_ROOM = "values are not in this page: its budget was spent on others"

NO_TENSORS = (
    "statistics, pictures and values of tensors: this view shows none; save the page of the run "
    "or of a TensorInspector"
)
ASKED = "parameter values are left out unless asked for with parameters=True"
DOUBTFUL = (
    "they may be parameters, which only the graph and the model's params file can tell; "
    "parameters=True takes them along"
)
SMALL = f"fewer than {FEWEST} values, which they would give away"
DERIVED = "computed from parameters alone; parameters=True takes them along"


def too_small(least: int, budget: int) -> str:
    """Say that even what is always stored exceeds the budget."""
    return (
        f"all pictures and values: graph, times and statistics alone take {megabytes(least)}, "
        f"more than the budget of {megabytes(budget)}"
    )


def unread(problem: Exception) -> str:
    """Say why values could not be read."""
    return f"values could not be read when this page was made: {why_unread(problem)}"


def remedy(*, parameters: bool) -> str:
    """Return the call that makes a page with all values."""
    return f'save_html(share="tensors"{", parameters=True" if parameters else ""})'


def megabytes(count: int) -> str:
    """Write a number of bytes: ``"120 bytes"``, ``"46 kB"``, ``"1.1 MB"``."""
    if count < 1000:
        return counted(count, "byte")
    return f"{count / 1e3:.0f} kB" if count < 999_500 else f"{count / 1e6:,.1f} MB"


def amount(tensors: Sequence[Tensor], noun: str) -> str:
    """Write how many tensors there are and how large they are: ``"45 parameters (1.1 MB)"``."""
    size = megabytes(sum(each.nbytes for each in tensors))
    return f"{counted(len(tensors), noun)} ({size})"
