"""Names of devices by their number."""

from __future__ import annotations

import numpy as np

from tvmdbg_widgets.model.graph.graph import Graph

_NAMES = {
    1: "cpu",
    2: "cuda",
    3: "cuda_host",
    4: "opencl",
    5: "aocl",
    6: "sdaccel",
    7: "vulkan",
    8: "metal",
    9: "vpi",
    10: "rocm",
    11: "rocm_host",
    12: "ext_dev",
    13: "cuda_managed",
    14: "oneapi",
    15: "webgpu",
    16: "hexagon",
    17: "maia",
}


def device_name(device_type: int) -> str:
    """Return the name of a ``DLDeviceType`` number (``include/dlpack/dlpack.h``).

    Numbers of later releases are shown as they are, and negative ones as unknown.
    """
    if device_type < 0:
        return "unknown device"
    return _NAMES.get(device_type, f"device type {device_type}")


def device_names(graph: Graph | None) -> dict[str, str]:
    """Return the names of the devices that a graph speaks of, by number as text."""
    if graph is None or graph.device_types is None:
        return {}
    return {str(each): device_name(each) for each in np.unique(graph.device_types).tolist()}
