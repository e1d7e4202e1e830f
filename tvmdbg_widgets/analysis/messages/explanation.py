"""Console output explained: which known messages it holds, and what is known about each."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, overload

from tvmdbg_widgets.analysis.abi.places import PLACES
from tvmdbg_widgets.analysis.messages.known import FoundMessage
from tvmdbg_widgets.analysis.messages.scan import MessageScan
from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.base.slips import public

_UNKNOWN_SHOWN = 5
_WHERE_PLACES = (
    "Was DLDataType changed? tvmdbg explain --places, or places() of this answer, lists what must "
    "change together."
)


@dataclass(frozen=True)
class Explanation(Sequence[FoundMessage]):
    """What is known of a text, message by message, in the order of its lines.

    Attributes
    ----------
    found : tuple of FoundMessage
    lines : int
        Lines of the text.
    unknown : tuple of (int, str)
        Lines that look like errors and are not known.
    """

    found: tuple[FoundMessage, ...]
    lines: int
    unknown: tuple[tuple[int, str], ...] = field(default=())

    def __len__(self) -> int:
        return len(self.found)

    @overload
    def __getitem__(self, index: int) -> FoundMessage: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[FoundMessage, ...]: ...
    def __getitem__(self, index: int | slice) -> FoundMessage | tuple[FoundMessage, ...]:
        return self.found[index]

    @property
    def text(self) -> str:
        """All of it as text."""
        size = counted(self.lines, "line")
        if not self.found:
            told = [f"no message that is known in {size}"]
        else:
            told = [f"{counted(len(self.found), 'known message')} in {size}"]
        for each in self.found:
            told += ["", *each.lines()]
        if any(each.message.layout for each in self.found):
            told += ["", _WHERE_PLACES]
        if self.unknown:
            told += ["", "look like errors and are not known:"]
            told += [f"  line {line:,}: {text}" for line, text in self.unknown[:_UNKNOWN_SHOWN]]
            more = len(self.unknown) - _UNKNOWN_SHOWN
            told += [f"  and {more:,} more"] if more > 0 else []
        return "\n".join(told)

    def places(self) -> str:
        """Return the places that must change together where DLDataType was changed."""
        return "\n".join(places_lines())

    def to_dataframe(self) -> Any:
        """One row per message (``pandas.DataFrame``); ImportError without pandas."""
        from tvmdbg_widgets.model.base.frames import data_frame

        return data_frame(
            {
                "line": [each.line for each in self.found],
                "count": [each.count for each in self.found],
                "id": [each.message.id for each in self.found],
                "text": [each.text for each in self.found],
                "cause": [each.message.cause for each in self.found],
            }
        )

    def __repr__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(self.text)}</pre>"


def places_lines() -> list[str]:
    """Return the places that must change together, with what breaks where one is forgotten."""
    told = ["Where DLDataType was changed, all of these must change together:"]
    for place in PLACES:
        optional = "" if place.required else " (where it is used)"
        names = dict.fromkeys(path.rpartition("/")[2] for path in place.paths)
        told.append(f"  {' or '.join(names)}{optional}: {place.change}.")
        told.append(f"    forgotten: {place.forgotten}.")
    told.append("  tvmdbg struct --check TVM_SOURCE --dtype-layout LAYOUT looks at each of them.")
    return told


@public
def explain(text: str | bytes) -> Explanation:
    """Say what is known about the messages in console output of any length.

    Parameters
    ----------
    text : str or bytes
        What TVM, ExecuTorch's Inspector or a tuner printed, pasted as it is; terminal sequences
        are taken out.

    Returns
    -------
    Explanation
        A sequence of the messages found, each with cause, how to tell it from its neighbors, and
        what to look at next. Equal ones are counted. Empty where nothing is known.

    Examples
    --------
    >>> import tvmdbg_widgets as tvmdbg
    >>> found = tvmdbg.explain("TVMError: Invalid DLTensor file format")
    >>> found[0].message.id
    'params-array'
    """
    if isinstance(text, bytes):
        text = text.decode("utf-8", "replace")
    scan = MessageScan(text)
    return Explanation(tuple(scan.found), scan.lines, tuple(scan.unknown))
