"""When TVM takes two workloads, or two targets, for the same."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, Final, TypeAlias

from tvmdbg_widgets.model.base.numbers import as_float
from tvmdbg_widgets.model.tuning.target import Target
from tvmdbg_widgets.model.tuning.workload import Workload

#: Name and flat arguments; None for a key without arguments.
Identity: TypeAlias = tuple[str, tuple[Any, ...] | None]

#: Keys of a target whose string names none (``set_default_keys``, src/target/target_kind.cc).
_DEFAULT_KEYS: Final = {
    "llvm": ("cpu",),
    "c": ("cpu",),
    "stackvm": ("cpu",),
    "hexagon": ("hexagon", "cpu"),
    "cuda": ("cuda", "gpu"),
    "nvptx": ("cuda", "gpu"),
    "rocm": ("rocm", "gpu"),
    "opencl": ("opencl", "gpu"),
    "metal": ("metal", "gpu"),
    "vulkan": ("vulkan", "gpu"),
    "webgpu": ("webgpu", "gpu"),
    "sdaccel": ("sdaccel", "hls"),
    "aocl": ("aocl", "hls"),
    "aocl_sw_emu": ("aocl", "hls"),
    "ext_dev": (),
    "hybrid": (),
    "composite": (),
}


def target_keys(target: Target) -> tuple[str, ...] | None:
    """Return ``target.keys`` as TVM makes them (src/target/target.cc).

    Those that its string names, then its device; where it names none, its device and those of its
    kind. None where the kind is not known, as for a tag such as ``nvidia/geforce-rtx-2080-ti``.
    """
    device = target.attrs.get("device", "")
    keys = (*target.keys, device) if device else target.keys
    if not target.keys:
        defaults = _DEFAULT_KEYS.get(target.kind)
        if defaults is None:
            return None
        keys += defaults
    return tuple(dict.fromkeys(keys))


def identity(workload: Workload, tuner: str) -> Identity:
    """Return what ``ApplyHistoryBest`` looks a workload up by.

    For Ansor that is the name and the arguments, nested lists flattened (``decode_workload_key``,
    auto_scheduler/utils.py), so a key with flat shapes is the same as one with nested ones.
    """
    if tuner != "ansor":
        return workload.key, None
    args = None if workload.args is None else tuple(_flat(workload.args))
    return workload.name, args


def _flat(values: tuple[Any, ...]) -> Iterator[Any]:
    """Yield what nested lists hold; they may be nested deeper than calls can be."""
    waiting = list(reversed(values))
    while waiting:
        each = waiting.pop()
        if isinstance(each, list):
            waiting += reversed(each)
        else:
            yield str(each) if isinstance(each, dict) else each


def distance(wanted: Identity, found: Identity) -> float:
    """Return by what TVM multiplies the cost of a compatible workload, inf where it is none.

    1 for the same one; else the product of wanted by found arguments, which must divide them
    (``calc_workload_dis_factor``, auto_scheduler/utils.py).
    """
    ours, theirs = wanted[1] or (), found[1] or ()
    if wanted[0] != found[0] or len(ours) != len(theirs):
        return math.inf
    factor = 1.0
    for our, their in zip(ours, theirs, strict=True):
        if not isinstance(our, int) or not isinstance(their, int) or not our or not their:
            if our != their:
                return math.inf
        elif our % their:
            return math.inf
        else:
            factor *= as_float(our // their)
    return factor
