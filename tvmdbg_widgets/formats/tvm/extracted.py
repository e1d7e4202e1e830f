"""The text that lies beside a dump made of some nodes of another run; it holds no data."""

from __future__ import annotations

#: What such a text starts with.
FIRST_LINE = "Some nodes of a run of TVM's debugger, as a dump of their own."


def is_account(head: bytes) -> bool:
    """Tell whether a file that starts with these bytes is such a text."""
    return head.startswith(FIRST_LINE.encode())
