"""How many bytes of a page are left for what else could go along."""

from __future__ import annotations

from tvmdbg_widgets.answers.bundles import STATIC

#: Figure, text and markup of a page, about.
_MARKUP = 60_000


def frame_bytes(budget: int) -> int:
    """Return about how many bytes of a page are not its data; at most half of the budget."""
    script, style = (
        path.stat().st_size if path.exists() else 0
        for path in (STATIC / "page.js", STATIC / "page.css")
    )
    return min(budget // 2, _MARKUP + (script + style) // 2)


class ByteBudget:
    """Compressed bytes that may still be taken."""

    def __init__(self, budget: int, frame: int) -> None:
        self.total = max(0, budget - frame)
        self.left = self.total * 3 // 4
        #: Bytes that may still be taken before compression: a page unpacks them into memory.
        self.raw = max(1 << 20, 16 * self.total)

    def take(self, compressed: int, raw: int) -> bool:
        """Take so many bytes if they are there."""
        if compressed > self.left or raw > self.raw:
            return False
        self.left -= compressed
        self.raw -= raw
        return True

    def give_back(self, compressed: int, raw: int) -> None:
        """Put back what was taken before."""
        self.left += compressed
        self.raw += raw

    def holds(self, packed: int) -> bool:
        """Whether data of so many bytes in base64 fit the page."""
        return packed <= self.total
