"""Errors of users: close names in the message; in IPython without inner frames.

``%tb``, ``%xmode Verbose`` or ``TVMDBG_TRACEBACK=full`` in the environment show all frames. Errors
of this package itself keep theirs, and plain Python shows its usual traceback.
"""

from __future__ import annotations

import difflib
import linecache
import os
import sys
import sysconfig
import traceback
from collections.abc import Iterable, Iterator
from functools import partial
from itertools import islice
from types import FrameType, TracebackType
from typing import Any

from tvmdbg_widgets.model.base.text import one_line

_PACKAGE = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(__file__))), "")  # noqa: PTH118, PTH120
_SAMPLES = os.path.join(_PACKAGE, "samples", "")  # noqa: PTH118
_LIBRARIES = tuple(
    os.path.join(sysconfig.get_path(name), "")  # noqa: PTH118
    for name in ("stdlib", "platstdlib", "purelib", "platlib")
)
#: Letters of the user's line, and files of a folder that a wrong path is compared with.
_LONGEST, _MOST_FILES = 160, 5_000
_KINDS = (OSError, ValueError, TypeError, LookupError, ImportError, AttributeError)


def shorten(problem: BaseException, *, is_slip: bool = False) -> None:
    """Make IPython show an error of the user in at most three lines."""
    if not hasattr(problem, "_render_traceback_") and (is_slip or _is_a_slip(problem)):
        # Not a lambda: errors of worker processes are pickled.
        problem._render_traceback_ = partial(_shown, problem)  # type: ignore[attr-defined]


def _is_a_slip(problem: BaseException) -> bool:
    if type(problem).__name__ == "TraitError":
        return True
    if not isinstance(problem, _KINDS):
        return False
    if isinstance(problem, OSError) and problem.filename is not None:
        path = os.fsdecode(problem.filename)
        return not _is_ours(path) or path.startswith(_SAMPLES)
    *_, last = (None, *_frames(problem.__traceback__))
    if last is None:
        return False
    frame, line = last
    if not _is_ours(frame.f_code.co_filename):
        return False
    return linecache.getline(frame.f_code.co_filename, line).lstrip().startswith("raise ")


def _frames(trace: TracebackType | None) -> Iterator[tuple[FrameType, int]]:
    while trace is not None:
        yield trace.tb_frame, trace.tb_lineno
        trace = trace.tb_next


def _shown(problem: BaseException) -> list[str]:
    shell = _shell()
    if _all_frames_wanted(shell):
        of = type(problem), problem, problem.__traceback__
        if shell is None:
            return "".join(traceback.format_exception(*of)).splitlines()
        lines: list[str] = shell.InteractiveTB.structured_traceback(*of)
        return lines
    lines = f"{type(problem).__name__}: {message_of(problem)}".splitlines()
    lines = list(map(_harmless, lines))
    return lines if len(lines) > 2 else [*lines, *_own_line(problem, shell)]


def _harmless(line: str) -> str:
    """Escape what would control the terminal: messages quote files and other computers."""
    return "\xa0".join(map(one_line, line.expandtabs().split("\xa0")))


def message_of(problem: BaseException) -> str:
    """Return the message of an error: a path with close ones, names without quotes around all."""
    if isinstance(problem, OSError) and problem.filename and problem.strerror:
        path = os.fsdecode(problem.filename)
        if isinstance(problem, FileNotFoundError):
            return f"no such file or folder: {path!r}{close_paths(path)}"
        return f"{problem.strerror[:1].lower()}{problem.strerror[1:]}: {path!r}"
    if isinstance(problem, KeyError) and problem.args:
        return str(problem.args[0])
    return str(problem)


def close_paths(path: str) -> str:
    """Return the folder of a missing path that is missing, too, or close names in it."""
    folder, name = os.path.split(path.rstrip(os.sep))
    here = folder or os.curdir
    if not os.path.isdir(here):  # noqa: PTH112
        return f"; there is no folder {folder!r}"
    try:
        with os.scandir(here) as files:
            names = [file.name for _, file in zip(range(_MOST_FILES), files, strict=False)]
    except OSError:
        return ""
    return perhaps(name, names)


def _own_line(problem: BaseException, shell: Any) -> list[str]:
    """Return the last line of the user before code of this package."""
    own = None
    for frame, line in _frames(problem.__traceback__):
        file = frame.f_code.co_filename
        if _is_ours(file):
            break
        if not file.startswith(_LIBRARIES):
            own = frame, line
    if own is None:
        return []
    file, line = own[0].f_code.co_filename, own[1]
    source = linecache.getline(file, line, own[0].f_globals).strip()
    if len(source) > _LONGEST:
        source = f"{source[: _LONGEST - 1]}…"
    cell = getattr(getattr(shell, "compile", None), "format_code_name", lambda _: None)(file)
    place = " ".join(cell) if cell else f"File {file}"
    return [f"{place}, line {line}: {source}".rstrip(": ")]


def _all_frames_wanted(shell: Any) -> bool:
    if os.environ.get("TVMDBG_TRACEBACK") == "full":
        return True
    if getattr(getattr(shell, "InteractiveTB", None), "mode", "") == "Verbose":
        return True
    frame: FrameType | None = sys._getframe()  # noqa: SLF001 (the only way to know the caller)
    while frame is not None:
        if frame.f_code.co_name == "tb" and "IPython" in frame.f_code.co_filename:
            return True
        frame = frame.f_back
    return False


def _shell() -> Any:
    module = sys.modules.get("IPython.core.getipython")
    return module.get_ipython() if module else None


def _is_ours(file: str) -> bool:
    return file.startswith(_PACKAGE)


#: Names that are searched.
SEARCHED = 20_000


def near(given: object, known: Iterable[object]) -> list[str]:
    """Return up to three known names that resemble or contain the given one."""
    names = [name for name in islice(known, SEARCHED) if isinstance(name, str)]
    folded: dict[str, str] = {}
    for name in names:
        folded.setdefault(name.casefold(), name)
    wanted = str(given).strip().casefold()
    close = difflib.get_close_matches(wanted, folded, n=3)
    if not close and len(wanted) > 1:
        close = [name for name in folded if wanted in name or (len(name) > 2 and name in wanted)]
    return [folded[name] for name in close[:3]]


def perhaps(given: object, known: Iterable[object]) -> str:
    """Return ``"; did you mean 'graph'?"``, or "" if no name is near."""
    close = near(given, known)
    return f"; did you mean {' or '.join(map(repr, close))}?" if close else ""
