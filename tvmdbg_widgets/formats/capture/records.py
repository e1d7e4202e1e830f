"""What the two capture formats have in common: one captured frame, and notes on damage."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from tvmdbg_widgets.model.base.issues import Issue, Severity
from tvmdbg_widgets.model.base.numbers import counted

if TYPE_CHECKING:
    from types import ModuleType

#: In columns of times: the capture does not say when.
NO_TIME = -(1 << 63)


class Frame(NamedTuple):
    """One captured frame, link-layer header included."""

    offset: int
    captured: int
    sent: int
    time: int
    link_type: int


class Damage:
    """What was wrong with a capture file: each kind counted, told once."""

    def __init__(self, file: str) -> None:
        self._file = file
        self._count: Counter[str] = Counter()
        self._first: dict[str, tuple[Severity, str]] = {}

    def add(self, rule: str, message: str, severity: Severity = Severity.ERROR) -> None:
        """Note a defect; of the same rule only the first message is kept."""
        self._count[rule] += 1
        self._first.setdefault(rule, (severity, message))

    def issues(self) -> list[Issue]:
        """Return one issue a kind."""
        return [
            Issue(rule, severity, _counted(message, self._count[rule]), file=self._file)
            for rule, (severity, message) in self._first.items()
        ]


def load_dpkt() -> ModuleType:
    """Import dpkt, which knows the layouts of record headers."""
    try:
        import dpkt
        from dpkt import pcapng  # noqa: F401 (a module that dpkt does not load itself)
    except ImportError as problem:
        raise ImportError(
            'reading network captures needs dpkt: pip install "tvmdbg-widgets[rpc]"'
        ) from problem
    module: ModuleType = dpkt
    return module


def clipped(time: int) -> int:
    """Return a time that fits 64 bits, or :data:`NO_TIME`."""
    return time if NO_TIME < time < -NO_TIME else NO_TIME


def _counted(message: str, count: int) -> str:
    return message if count == 1 else f"{message} ({counted(count, 'time')}; this is the first)"
