"""What every answer is made with and made of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from tvmdbg_widgets.run import DebugRun
    from tvmdbg_widgets.widgets.passes import Passes


@dataclass(frozen=True)
class Reply:
    """One answer: a JSON value and the buffers that go with it."""

    result: Any
    buffers: tuple[bytes, ...] = ()


@dataclass(frozen=True)
class Context:
    """What an answer is made with.

    Attributes
    ----------
    run : DebugRun
    passes : Passes
        The counts of whole tensors that are under way.
    watch : callable
        Called between the blocks of a long answer; raises where nobody waits for it any more.
    """

    run: DebugRun
    passes: Passes
    watch: Callable[[], None]
