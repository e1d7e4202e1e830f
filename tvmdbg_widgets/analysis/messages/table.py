"""All messages that are known, and which of them a line holds."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from tvmdbg_widgets.analysis.messages import (
    assertions,
    compiler,
    debugger,
    graph_loader,
    inspector,
    mismatches,
    params_loader,
    rpc,
    tuner,
)

if TYPE_CHECKING:
    from tvmdbg_widgets.analysis.messages.message import KnownMessage

#: Messages by who prints them.
GROUPS: dict[str, tuple[KnownMessage, ...]] = {
    "Compiled functions, up to v0.23": assertions.MESSAGES,
    "Compiled functions, v0.24 and later": mismatches.MESSAGES,
    "Compiling": compiler.MESSAGES,
    "Graphs": graph_loader.MESSAGES,
    "Parameter files": params_loader.MESSAGES,
    "RPC": rpc.MESSAGES,
    "ExecuTorch's Inspector": inspector.MESSAGES,
    "Tuners": tuner.MESSAGES,
    "The debugger": debugger.MESSAGES,
}
MESSAGES = tuple(each for group in GROUPS.values() for each in group)


@lru_cache(maxsize=1)
def any_literal() -> re.Pattern[str]:
    """Return what finds the letters that some message has."""
    literals = sorted({each.literal for each in MESSAGES}, key=len, reverse=True)
    return re.compile("|".join(map(re.escape, literals)))


def message_of(name: str) -> KnownMessage:
    """Return a message by its id.

    Raises
    ------
    KeyError
        There is none.
    """
    found = next((each for each in MESSAGES if each.id == name), None)
    if found is None:
        raise KeyError(name)
    return found
