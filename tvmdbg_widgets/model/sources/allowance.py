"""How much a packed file may become in memory."""

from __future__ import annotations

import threading
from typing import Final

from tvmdbg_widgets.model.base.errors import FormatError

_MB = 1 << 20
#: Bytes that one file may become in memory, however large it is.
MOST_UNPACKED: Final = 512 * _MB
#: Unpacked bytes by packed byte. The largest ratio of a real file is 57 of gzip and 97 of bzip2: a
#: log of Ansor for one task.
RATIO: Final = 150
#: Bytes for which the ratio does not count: of texts, whose bytes are all looked at; of tensors,
#: which may be nothing but zeros.
SMALL_TEXT: Final = 1 * _MB
SMALL_TENSORS: Final = 64 * _MB
#: Bytes of Python objects by byte of a text. The densest real file that is parsed whole makes 11;
#: a list of empty maps makes 73 by the same count.
DENSITY: Final = 16
_ANY_DENSITY: Final = 64 * _MB
#: Bytes that Python's objects take at most, by the character that begins, ends or parts them.
_COSTS: Final = {b"{": 184, b"[": 56, b",": 28, b'"': 25, b"\n": 57}


class Allowance:
    """What may still be unpacked of one file; all that lies in it shares this, however nested."""

    def __init__(self, packed: int, chosen: int = 0) -> None:
        self.packed, self.chosen = packed, chosen
        self.most = max(chosen, min(MOST_UNPACKED, max(SMALL_TENSORS, RATIO * packed)))
        # The head of a member is looked at before the whole.
        self.most_text = max(2 * chosen, SMALL_TEXT, RATIO * packed)
        self._left, self._left_text = self.most, self.most_text
        self._lock = threading.Lock()

    def take(self, count: int, name: str) -> None:
        """Take so many bytes; FormatError where they are not left."""
        with self._lock:
            if count > self._left:
                raise self._too_large(name, self.most - self._left + count, self.most)
            self._left -= count

    def take_text(self, size: int, name: str) -> None:
        """Take so many bytes that are looked through; FormatError where they are not left."""
        with self._lock:
            if size > self._left_text:
                raise self._too_large(name, self.most_text - self._left_text + size, self.most_text)
            self._left_text -= size

    def check_density(self, content: bytes | bytearray, name: str) -> None:
        """Raise FormatError where parsing these unpacked bytes may take too much memory each."""
        most = _ANY_DENSITY + DENSITY * len(content)
        if len(content) <= max(self.chosen, _ANY_DENSITY // max(_COSTS.values())):
            return
        if (may_take := cost(content)) > most:
            raise FormatError(
                "this has too many brackets, commas and lines to be parsed in memory",
                file=name,
                expected=f"what takes at most {most:,} bytes parsed, for {len(content):,} unpacked",
                found=f"up to {may_take:,}",
                hint=_hint(len(content)),
            )

    def _too_large(self, name: str, count: int, most: int) -> FormatError:
        return FormatError(
            "this is too large to be unpacked in memory",
            file=name,
            expected=f"at most {most:,} bytes unpacked, for {self.packed:,} packed",
            found=f"{count:,} or more",
            hint=_hint(2 * count),
        )

    def __getstate__(self) -> dict[str, int]:
        return {name: value for name, value in self.__dict__.items() if name != "_lock"}

    def __setstate__(self, state: dict[str, int]) -> None:
        self.__dict__.update(state)
        self._lock = threading.Lock()


def cost(content: bytes | bytearray) -> int:
    """Return the bytes of memory that a text takes at most once it is parsed, about."""
    return sum(cost * content.count(mark) for mark, cost in _COSTS.items())


def _hint(count: int) -> str:
    return (
        "Unpack it yourself and open the folder, for which no such limit holds; or "
        f"open(…, limits={{'trace': {max(1, -(-count >> 30))} * 2**30}}) unpacks as much, where "
        "'trace' names the part it gives."
    )
