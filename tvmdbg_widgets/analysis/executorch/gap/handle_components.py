"""Which reference value the Inspector compares with which runtime value.

``map_runtime_aot_intermediate_outputs`` of devtools/inspector/_inspector_utils.py @ v1.4.1.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tvmdbg_widgets.analysis.executorch.gap.handle_index import HandleIndex, Handles
from tvmdbg_widgets.analysis.executorch.gap.intermediate_outputs import RuntimeOutput


@dataclass(frozen=True, slots=True)
class OutputPair:
    """A reference value and the runtime value it is compared with, both of these handles."""

    handles: Handles
    reference: Any
    runtime: Any


def paired_outputs(
    reference: Mapping[Handles, Any], runtime: Mapping[Handles, RuntimeOutput]
) -> Iterator[OutputPair]:
    """Yield the pairs that the Inspector compares, in the order of the reference."""
    ours, theirs = HandleIndex(reference), HandleIndex(runtime)
    done: set[Handles] = set()
    for start in reference:
        if start in done:
            continue
        keys, events = _component(start, ours, theirs)
        done.update(keys)
        if len(events) > 1:
            found = [(key, runtime[key].values, runtime[key].num_outputs) for key in events]
            raise ValueError(
                f"Expected only one runtime debug handle, but found {len(events)}: {found}"
            )
        for key in events:
            yield from _of_event({each: reference[each] for each in keys}, key, runtime[key])


def _component(
    start: Handles, ours: HandleIndex, theirs: HandleIndex
) -> tuple[list[Handles], list[Handles]]:
    """Return the keys of reference and runtime values that overlapping handles join to one."""
    keys, events = [start], list[Handles]()
    size = 0
    while size < len(keys) + len(events):
        size = len(keys) + len(events)
        events = theirs.overlapping({handle for key in keys for handle in key})
        keys = [start, *ours.overlapping({handle for key in events for handle in key})]
    return list(dict.fromkeys(keys)), events


def _of_event(
    ours: Mapping[Handles, Any], handles: Handles, output: RuntimeOutput
) -> Iterable[OutputPair]:
    if not {key[0] for key in ours}.issubset(handles):
        return ()
    pairs: dict[Handles, OutputPair] = {}
    for place in range(1, output.num_outputs + 1):
        key = (handles[-place],)
        if key not in ours:
            continue
        value = ours[key]
        if is_list(value):
            pairs[key] = OutputPair(handles, list(value), _list_of(output.values, place))
        else:
            pairs[key] = OutputPair(handles, value, _one_of(value, output, place))
    return pairs.values()


def is_list(value: Any) -> bool:
    """Whether a value is several."""
    return isinstance(value, Sequence) and not isinstance(value, str)


def _list_of(values: list[Any], place: int) -> list[Any]:
    last = values[-place]
    if isinstance(last, list):
        return last
    if isinstance(last, np.ndarray):
        return values
    raise ValueError(
        "The last element of runtime argument list must be a tensor or a list of tensors when aot "
        "intermediate output is a sequence"
    )


def _one_of(value: Any, output: RuntimeOutput, place: int) -> Any:
    values = output.values
    last = values[-place]
    if output.num_outputs != 1 or len(values) == 1 or not isinstance(value, np.ndarray):
        return last
    alike = [each for each in values if isinstance(each, np.ndarray) and each.shape == value.shape]
    if len(alike) > 1:
        alike = [each for each in alike if each.dtype == value.dtype]
    return alike[0] if len(alike) == 1 else values[-1]
