"""What work the bytes of a file may cost."""

from __future__ import annotations

from tvmdbg_widgets.model.base.text import FormatError
from tvmdbg_widgets.sources.byte_source import ByteSource

#: How often the arrays of a file may name its bytes, and bytes that they may name in any file.
SHARES, FEW_BYTES = 16, 1 << 20


class WorkBudget:
    """Work that reading one file may take, tied to its bytes.

    Parts of a file may refer to the same bytes again and again, and claim sizes that they do not
    have: whatever a reader makes of them is counted here before it is made.
    """

    def __init__(self, most: int, file: str, what: str, hint: str | None = None) -> None:
        self.most = most
        self.spent = 0
        self._told = file, what, hint

    def spend(self, count: int, field: str | None = None, offset: int | None = None) -> None:
        """Count work at a field, or a byte, of the file."""
        self.spent += count
        if self.spent > self.most:
            file, what, hint = self._told
            raise FormatError(
                "its parts refer to the same things again and again",
                file=file,
                field=field,
                offset=offset,
                expected=f"at most {self.most:,} {what}",
                found="more",
                hint=hint or "The file is damaged, or made to exhaust memory: write it again.",
            )


def named_bytes(source: ByteSource) -> WorkBudget:
    """Return the budget of the bytes that the arrays of a file name, shared ones again each time.

    Writers name a byte once, or a few times, and whoever looks at arrays reads all that they name.
    """
    return WorkBudget(FEW_BYTES + SHARES * source.size, source.name, "bytes of arrays")
