"""MemoryView: the memory plan of a run."""

from __future__ import annotations

import traitlets

from tvmdbg_widgets.engine import bundle, code_name, module
from tvmdbg_widgets.widgets.traits import MemoryTraits, described
from tvmdbg_widgets.widgets.view import View


@described
class MemoryView(MemoryTraits, View):
    """The memory plan of a run: live bytes over time, and which entries share a slot.

    ::

        tvmdbg.MemoryView(run, parameters=False)

    The upper chart shows live bytes per step; below, every slot is a row
    with the lifetimes of its entries. ``run.memory_plan()`` has the same in Python. Rows of an
    ExecuTorch program are offsets in its planned buffers, gray where a value at another offset
    occupies some of the row's bytes.
    """

    _esm = module("memory")
    _css = bundle("memory.css")
    _code = traitlets.Unicode(code_name("memory")).tag(sync=True)
