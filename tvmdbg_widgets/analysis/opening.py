"""Which tensor of a run answers what one looks for first, so that views open on it."""

from __future__ import annotations

from collections.abc import Iterable

from tvmdbg_widgets.analysis.derived.derived import Derived
from tvmdbg_widgets.model.base.errors import FormatError
from tvmdbg_widgets.model.base.trust import Trust
from tvmdbg_widgets.model.statistics import Statistics
from tvmdbg_widgets.model.tensors.tensors import Tensor
from tvmdbg_widgets.model.verdicts.health import HealthVerdict

#: So many tensors are looked into, so many values of each that was not counted yet.
_TENSORS, _SAMPLE = 128, 1024


def opening_tensor(run: Derived) -> Tensor | None:
    """Return the tensor that is shown first; None where none stands out.

    Of a run with a graph that of the first fault, as far as it was scanned, else that of the
    slowest operator. Of a params file the first that holds NaN or infinity; else the first that is
    neither empty nor constant; else the first with values. What is told of a tensor that was not
    counted before is told of a sample, and of tensors far behind only once they were counted.
    """
    if not run.tensors:
        return None
    if run.graph is not None:
        return _faulty(run) or _slowest(run)
    tensors = list(run.tensors.values())
    if any(each.trust is Trust.EXACT for each in tensors):
        return None  # outputs of nodes
    looked = [(each, _look(each, sample=at < _TENSORS)) for at, each in enumerate(tensors)]
    known = [(each, found) for each, found in looked if found is not None]
    return (
        _first(each for each, found in known if found.finite < found.size)
        or _first(each for each, found in known if found.finite and found.minimum != found.maximum)
        or _first(each for each, found in known if found.size)
    )


def _faulty(run: Derived) -> Tensor | None:
    """Return the tensor of the first fault, if the scan is over and found one."""
    if run.tensors is None or run.search.scan.state != "done":
        return None
    ranked = run.search.health().ranked
    if not ranked or ranked[0].verdict is not HealthVerdict.FAULTY:
        return None
    return run.tensors.get(ranked[0].entry)


def _slowest(run: Derived) -> Tensor | None:
    """Return the first output of the slowest operator whose outputs are there."""
    if run.tensors is None or run.timeline is None:
        return None
    top = run.timeline.top(None)
    members = (nodes for nodes, ns in zip(top.members, top.ns.tolist(), strict=True) if ns > 0)
    found = (run.tensors.get((node, 0)) for nodes in members for node in nodes[::-1])
    return next((each for each in found if each is not None), None)


def _look(tensor: Tensor, *, sample: bool) -> Statistics | None:
    """Return what is known of the values; None where they cannot be read or judged."""
    try:
        found = tensor.known_statistics()
        if found is None and sample:
            found = tensor.statistics(sample=_SAMPLE)
    except (FormatError, OSError):
        return None
    return found if found is not None and found.applicable else None


def _first(tensors: Iterable[Tensor]) -> Tensor | None:
    return next(iter(tensors), None)
