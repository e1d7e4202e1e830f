"""What a script that measures schedules again is to do."""

from __future__ import annotations

import ast
import os
import re
import tokenize
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tvmdbg_widgets.model.base.choice import one_of
from tvmdbg_widgets.model.tuning.hardware import HARDWARE_NAMES

_MODULE = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*", re.ASCII)
_BUILD_FUNCS = ("default", "ndk")
_LEAST = {
    **dict.fromkeys(("build_timeout", "timeout", "number", "repeat"), 1),
    **dict.fromkeys(("min_repeat_ms", "cooldown", "device"), 0),
}


@dataclass(frozen=True)
class RerunOptions:
    """What a script that measures schedules again is to do; each is also an option of the script.

    Attributes
    ----------
    target, target_host : str or None
        Replace the records' own.
    hardware : mapping of str to int
        Hardware parameters to replace, by TVM's names (``"max_threads_per_block"``); with a new
        target TVM gives the others on the other machine, else the log.
    register : sequence of str or path
        What registers the workloads: a Python file, whose source is copied into the script, or
        the dotted name of a module of the other machine.
    sources : sequence of str
        Sources of more such modules, of which those are copied that mention a workload.
    rpc : (str, str, int) or None
        Key of the device, host and port of the RPC tracker; None runs on the machine itself.
    emit_source : str or None
        Folder on the other machine for lowered programs and generated code.
    output : str
        The new log there.
    build_timeout, timeout : int
        Seconds for each build, and for each run.
    number, repeat : int
        Runs that are averaged, and averages that are taken: ``repeat`` costs a record.
    min_repeat_ms : int
        ``number`` grows until the runs of an average take so many milliseconds.
    cooldown : float
        Seconds between two measurements.
    cpu_cache_flush : bool
        Flush the caches of a CPU before each run; makes ``number`` 1 and ``min_repeat_ms`` 0.
    n_parallel : int or None
        Builds at a time; None for the cores the process may use there.
    device : int
        Which of several devices.
    build_func : str
        ``"default"``, or ``"ndk"`` for Android.
    discard_first : bool
        Whether the first measurement of a runner process, which is slow, is made once more.

    Raises
    ------
    ValueError
        A value makes no sense.
    """

    target: str | None = None
    target_host: str | None = None
    hardware: Mapping[str, int] = field(default_factory=dict)
    register: Sequence[str | os.PathLike[str]] = ()
    sources: Sequence[str] = ()
    rpc: tuple[str, str, int] | None = None
    emit_source: str | None = None
    output: str = "rerun.json"
    build_timeout: int = 60
    timeout: int = 30
    number: int = 3
    repeat: int = 3
    min_repeat_ms: int = 100
    cooldown: float = 0.0
    cpu_cache_flush: bool = False
    n_parallel: int | None = None
    device: int = 0
    build_func: str = "default"
    discard_first: bool = True

    def __post_init__(self) -> None:
        for name, least in _LEAST.items():
            if getattr(self, name) < least:
                raise ValueError(f"{name} is at least {least}, found {getattr(self, name)!r}")
        if self.n_parallel is not None and self.n_parallel < 1:
            raise ValueError(f"n_parallel is at least 1, found {self.n_parallel!r}")
        one_of("build_func", self.build_func, _BUILD_FUNCS)
        if self.rpc is not None and not 0 < self.rpc[2] < 65536:
            raise ValueError(f"the tracker's port is 1 to 65535, found {self.rpc[2]!r}")
        if self.target_host is not None and self.target is None:
            raise ValueError("target_host needs target: give both")
        for text in ("target", "output", "emit_source"):
            if (found := getattr(self, text)) is not None and not found.strip():
                raise ValueError(f"{text} is empty")
        for name in self.hardware:
            one_of("hardware parameter", name, HARDWARE_NAMES)

    def defaults(self) -> dict[str, Any]:
        """Return the defaults of the script's own options."""
        key, host, port = self.rpc or (None, "127.0.0.1", 9190)
        return {
            "output": self.output,
            "target": self.target,
            "target_host": self.target_host,
            "hardware": [f"{name}={int(n)}" for name, n in self.hardware.items()] or None,
            "rpc": key,
            "host": host,
            "port": port,
            "build_func": self.build_func,
            "build_timeout": self.build_timeout,
            "timeout": self.timeout,
            "n_parallel": self.n_parallel,
            "number": self.number,
            "repeat": self.repeat,
            "min_repeat_ms": self.min_repeat_ms,
            "cooldown": self.cooldown,
            "cpu_cache_flush": self.cpu_cache_flush,
            "device": self.device,
            "keep_first": not self.discard_first,
            "emit_source": self.emit_source,
        }


@dataclass(frozen=True)
class Registering:
    """Modules that register workloads."""

    modules: tuple[str, ...] = ()
    sources: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(cls, how: RerunOptions, names: Collection[str]) -> Registering:
        """Read the files among what was given; they are parsed, never run."""
        modules, sources = [], []
        for each in how.register:
            path = Path(each)
            if path.is_file():
                sources.append((path.name, _source(path)))
            elif _MODULE.fullmatch(str(each)) and path.suffix != ".py":
                modules.append(str(each))
            else:
                raise ValueError(
                    f"{str(each)!r:.200} is neither a Python file here nor a module's name"
                )
        sources += [
            (f"workloads_{number}.py", each)
            for number, each in enumerate(how.sources, 1)
            if any(_mentions(each, name) for name in names)
        ]
        return cls(tuple(modules), tuple(sources))

    def missing(self, names: Collection[str]) -> list[str]:
        """Return the names that no source mentions; none where a module may register them."""
        if self.modules:
            return []
        return [
            name for name in names if not any(_mentions(each, name) for _, each in self.sources)
        ]


def _mentions(source: str, name: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", source) is not None


def _source(path: Path) -> str:
    try:
        with tokenize.open(path) as file:
            source = file.read()
        ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise ValueError(f"{path} is no Python module: {error}") from None
    return source
