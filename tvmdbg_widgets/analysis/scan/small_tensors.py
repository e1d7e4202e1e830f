"""Many small tensors read and counted together: one alone costs as much as 25,000 values."""

from __future__ import annotations

import logging
import math
from collections import defaultdict
from collections.abc import Iterator, Sequence

from tvmdbg_widgets.model.statistics.batch import Batch
from tvmdbg_widgets.model.tensors.dtypes import DataType
from tvmdbg_widgets.model.tensors.tensors import Tensor
from tvmdbg_widgets.sources.byte_source import ByteSource, read_near

_LOG = logging.getLogger(__name__)
#: Up to so many bytes a tensor is small. Its values are kept for what is asked of it later; the
#: histogram of another takes as much.
SMALL = 1 << 10
#: Tensors that are read at once, at most 8 MB of them.
TOGETHER = 1 << 13
#: Fewer of one type and length are counted one by one.
_FEW = 4


def is_small(tensor: Tensor) -> bool:
    """Whether a tensor is worth counting with others: small, and not counted yet."""
    return tensor.record.nbytes <= SMALL and not tensor.is_counted


def count_together(tensors: Sequence[Tensor]) -> Iterator[tuple[list[int], Batch]]:
    """Read small tensors and count those that have enough of their kind among them."""
    kinds: dict[tuple[DataType, int, int], list[int]] = defaultdict(list)
    for position, tensor in enumerate(tensors):
        record = tensor.record
        kinds[record.dtype, record.nbytes, math.prod(record.shape)].append(position)
    groups = [
        group
        for group in kinds.values()
        if len(group) >= _FEW and tensors[group[0]].values().is_ordered
    ]
    try:
        stored = _stored(tensors, [position for group in groups for position in group])
    except (OSError, ValueError):
        _LOG.info("small tensors cannot be read together", exc_info=True)
        return
    for group in groups:
        values, rows = tensors[group[0]].values(), [stored[position] for position in group]
        truths = values.dtype.is_bool and not values.is_packed
        yield group, Batch(values.alike(rows), values.codes.alike(rows) if truths else None)


def _stored(tensors: Sequence[Tensor], positions: list[int]) -> dict[int, bytes]:
    """Read the bytes of some tensors, each file's together."""
    files: dict[int, tuple[ByteSource, list[int]]] = {}
    for position in positions:
        source = tensors[position].record.source
        files.setdefault(id(source), (source, []))[1].append(position)
    found: dict[int, bytes] = {}
    for source, own in files.values():
        records = [tensors[position].record for position in own]
        ranges = [(record.offset, record.nbytes) for record in records]
        found.update(zip(own, read_near(source, ranges), strict=True))
    return found
