"""One operator, and all operators of one kind, against what a machine can do."""

from __future__ import annotations

from dataclasses import dataclass

MEMORY, COMPUTE, UNKNOWN = "memory", "compute", "unknown"


@dataclass(frozen=True)
class Point:
    """One node of a roofline; NaN unknown.

    Attributes
    ----------
    node : int
    name, op_kind : str
    time_ns : float
    flops, bytes : float
    exact : bool
        False where ``flops`` may be off by 1 %.
    dtype : str
        What is computed with; operations on integers count as operations.
    intensity : float
        Operations a byte.
    flops_per_s, bytes_per_s : float
        What was achieved.
    bound : str
        ``"memory"`` or ``"compute"``, by which ceiling is lower at this intensity; ``"unknown"``
        without ceilings.
    of_ceiling : float
        What was achieved over what the lower ceiling allows; NaN without ceilings.
    why : tuple of str
        Why something is unknown.
    """

    node: int
    name: str
    op_kind: str
    time_ns: float
    flops: float
    bytes: float
    exact: bool
    dtype: str
    intensity: float
    flops_per_s: float
    bytes_per_s: float
    bound: str
    of_ceiling: float
    why: tuple[str, ...]


@dataclass(frozen=True)
class KindTotal:
    """All nodes of one op kind; sums are over nodes of which the number is known.

    Attributes
    ----------
    op_kind : str
    nodes : int
    time_ns : float
    flops, bytes : float
    flops_ns, bytes_ns : float
        Time of the nodes whose operations (bytes) are known.
    """

    op_kind: str
    nodes: int
    time_ns: float
    flops: float
    bytes: float
    flops_ns: float
    bytes_ns: float

    @property
    def flops_per_s(self) -> float:
        """Operations over the time of the nodes of which they are known."""
        return 1e9 * self.flops / self.flops_ns if self.flops_ns > 0 else float("nan")

    @property
    def bytes_per_s(self) -> float:
        """Bytes over the time of the nodes of which they are known."""
        return 1e9 * self.bytes / self.bytes_ns if self.bytes_ns > 0 else float("nan")
