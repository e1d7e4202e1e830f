"""Python's cycle collector, paused while a reader makes millions of small objects."""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_lock = threading.Lock()
_pauses = 0
_was_enabled = False


@contextmanager
def collector_paused() -> Iterator[None]:
    """Pause the cycle collector; it runs again when the last of nested or parallel pauses ends.

    Parsed JSON holds no cycles, yet each generation the collector walks all of it: half of the
    time of reading a large graph.
    """
    global _pauses, _was_enabled  # noqa: PLW0603
    with _lock:
        if _pauses == 0:
            _was_enabled = gc.isenabled()
            gc.disable()
        _pauses += 1
    try:
        yield
    finally:
        with _lock:
            _pauses -= 1
            if _pauses == 0 and _was_enabled:
                gc.enable()
