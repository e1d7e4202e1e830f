"""The files of values of a tensor cache."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

from tvmdbg_widgets.model.base.errors import FormatError
from tvmdbg_widgets.model.base.issues import Issue, IssueSeverity
from tvmdbg_widgets.model.base.text import one_line
from tvmdbg_widgets.sources.byte_source import ByteSource

_PIECE = 1 << 22


@dataclass(frozen=True, slots=True, eq=False)
class Shard:
    """One file of values."""

    path: str
    source: ByteSource
    nbytes: int
    md5sum: str


class MissingShard(ByteSource):
    """A shard that does not lie beside the index; what it holds is known, its bytes are not."""

    def __init__(self, path: str, nbytes: int) -> None:
        self.name = one_line(path)
        self.size = nbytes

    def trouble(self) -> FormatError:
        """Return why the values cannot be read."""
        return FormatError(
            f"the values are not here: shard {self.name} is missing",
            file=self.name,
            hint="Put it into the folder of the index and open that again.",
        )

    def _fill(self, offset: int, view: memoryview) -> None:  # noqa: ARG002
        raise self.trouble()


def md5_of(source: ByteSource, bar: Any) -> str:
    """Read a file of values once and return its md5sum; ``bar`` counts the bytes."""
    digest = hashlib.md5(usedforsecurity=False)
    for start in range(0, source.size, _PIECE):
        piece = source.read(start, min(_PIECE, source.size - start))
        digest.update(piece)
        bar.update(len(piece))
    return digest.hexdigest()


def verified(shard: Shard, found: str) -> Issue | None:
    """Return what the md5sum of a shard's bytes tells against it."""
    if not shard.md5sum:
        text = "the index gives no md5sum of this shard"
        return Issue("shard-not-summed", IssueSeverity.NOTE, text, file=shard.source.name)
    if found == shard.md5sum:
        return None
    text = f"md5sum: expected {one_line(shard.md5sum[:40])}; found {found}. "
    text += "The shard is damaged, or the index is that of another one."
    return Issue("shard-damaged", IssueSeverity.ERROR, text, file=shard.source.name)
