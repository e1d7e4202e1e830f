"""Operators that compute nothing: 0 operations, however many bytes they move."""

from __future__ import annotations

from typing import Final

from tvmdbg_widgets.analysis.work.call import bare

_KEEP = """
    __nop reshape reshape_like contrib_reverse_reshape expand_dims squeeze flatten batch_flatten
    view transpose permute_dims swapaxes reverse flip roll layout_transform __copy
    space_to_depth depth_to_space reverse_sequence
"""
_OTHER = """
    take gather gather_nd gather_elements embedding split slice strided_slice slice_like
    concatenate concat stack unstack strided_set index_select tile repeat broadcast_to
    broadcast_to_like pad constant_pad mirror_pad dilate expand_like space_to_batch_nd
    batch_to_space_nd meshgrid arange
"""
#: May read less than all of their first operand.
_READ_PART = "take gather gather_nd gather_elements embedding slice strided_slice slice_like"

KEEPING: Final = frozenset(_KEEP.split())
"""Operators that write every element they read once (``layout_transform`` may pad)."""
MOVING: Final = KEEPING | frozenset(_OTHER.split())
READING_PART: Final = frozenset([*_READ_PART.split(), "index_select"])


def moves(part: str) -> bool:
    """Whether an operator only moves elements."""
    return part in MOVING or (bare(part) in MOVING and not part.startswith(("qnn.", "dyn.")))


def keeps(part: str) -> bool:
    """Whether it writes as many elements as it reads."""
    return moves(part) and bare(part) in KEEPING


def reads_part(part: str) -> bool:
    """Whether it may leave a part of its first operand unread."""
    return moves(part) and bare(part) in READING_PART
