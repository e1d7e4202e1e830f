"""One run of a compiled network: its graph, the tensors of all nodes, and their times.

>>> import tvmdbg_widgets as tvmdbg
>>> run = tvmdbg.open("/tmp/tvmdbg")  # doctest: +SKIP

Importing the package imports none of its parts: a public name is loaded when it is first used.

A notebook shows a slip as its message and your line; ``%tb`` shows all frames of the last one.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from . import abi as abi
    from . import executorch as executorch
    from . import plots as plots
    from . import samples as samples
    from .analysis.explanation import explain as explain
    from .formats.tvm.params.file import load_params as load_params
    from .model.base.text import FormatError as FormatError
    from .open import open as open
    from .rpc import RpcLog as RpcLog
    from .rpc import open_rpc as open_rpc
    from .run import DebugRun as DebugRun
    from .run import compare as compare
    from .run import compare_times as compare_times
    from .tuning import TuningLog as TuningLog
    from .tuning import open_tuning as open_tuning
    from .widgets.comparison import ComparisonView as ComparisonView
    from .widgets.debugger import Debugger as Debugger
    from .widgets.graph import GraphView as GraphView
    from .widgets.memory import MemoryView as MemoryView
    from .widgets.session import Session as Session
    from .widgets.tensor import TensorInspector as TensorInspector
    from .widgets.timeline import Flamechart as Flamechart
    from .widgets.tuning import TuningView as TuningView

__version__ = "0.1.0"

_HOMES = {
    "ComparisonView": ".widgets.comparison",
    "DebugRun": ".run",
    "Debugger": ".widgets.debugger",
    "Flamechart": ".widgets.timeline",
    "FormatError": ".model.base.text",
    "GraphView": ".widgets.graph",
    "MemoryView": ".widgets.memory",
    "Session": ".widgets.session",
    "TensorInspector": ".widgets.tensor",
    "TuningView": ".widgets.tuning",
    "RpcLog": ".rpc",
    "TuningLog": ".tuning",
    "compare": ".run",
    "compare_times": ".run",
    "explain": ".analysis.explanation",
    "load_params": ".formats.tvm.params.file",
    "open": ".open",
    "open_rpc": ".rpc",
    "open_tuning": ".tuning",
}

_MODULES = frozenset({"abi", "executorch", "plots", "samples"})

# Without `open`: a star import must not hide Python's own.
__all__ = [  # noqa: RUF022 (the order a reader needs them in)
    "open_tuning",
    "open_rpc",
    "load_params",
    "compare",
    "compare_times",
    "explain",
    "DebugRun",
    "TuningLog",
    "RpcLog",
    "Session",
    "Debugger",
    "GraphView",
    "TensorInspector",
    "Flamechart",
    "ComparisonView",
    "MemoryView",
    "TuningView",
    "FormatError",
    "abi",
    "executorch",
    "plots",
    "samples",
    "__version__",
]


def __getattr__(name: str) -> object:
    if name in _MODULES:
        return import_module(f".{name}", __name__)
    if name not in _HOMES:
        from .model.base.slips import no_attribute

        raise no_attribute(f"module {__name__!r}", name, __dir__())
    value: object = getattr(import_module(_HOMES[name], __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*__all__, *_MODULES, "open"})


class _Package(ModuleType):
    """A module whose `open` stays the function, also after importing the submodule ``open``."""

    def __setattr__(self, name: str, value: object) -> None:
        if name == "open" and isinstance(value, ModuleType):
            value = value.open
        super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package
