"""What the times of nodes were measured as."""

from __future__ import annotations

from enum import StrEnum


class TimeMeaning(StrEnum):
    """What the time of a node is."""

    MEAN = "mean"  # of the repeats of each node
    CALL = "call"  # one call in a pass of the whole model
    SUM = "sum"  # over several calls of a function
