"""Numbers as text, like ``js/src/shared/format.ts``; fields of bytes, tables, trust."""

from __future__ import annotations

import enum
import html
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Context, Decimal
from typing import Literal

_UNITS = ((1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1.0, "ns"))
_ALL_DIGITS = Context(prec=400)
_FOUR_DIGITS = Context(prec=4, rounding=ROUND_HALF_UP)
_SI_PREFIXES = ("", "k", "M", "G", "T", "P")
_SEVERAL = {
    "axis": "axes",
    "has": "have",
    "index": "indices",
    "is": "are",
    "it": "they",
    "its": "their",
    "series": "series",
    "this": "these",
    "was": "were",
}


def as_float(value: float | str) -> float:
    """Return the nearest float of a number; ±inf for integers beyond all floats."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if int(value) > 0 else -math.inf


def fixed(value: float, digits: int) -> str:
    """Write with `digits` decimals, halves away from zero like JavaScript's ``toFixed``."""
    if not math.isfinite(as_float(value)):
        return str(as_float(value))
    return str(Decimal(value).quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP, _ALL_DIGITS))


def duration_text(ns: float, rounding_ns: float = 0.0) -> str:
    """Write a duration with four significant digits and a unit."""
    ns = as_float(ns)
    if math.isnan(ns):
        return "unknown"
    if ns == 0 < rounding_ns:
        size, unit = next((u for u in _UNITS if rounding_ns >= u[0]), _UNITS[-1])
        return f"< {rounding_ns / size:g} {unit}"
    if ns == 0 or math.isinf(ns):
        return f"{ns:.0f} ns"
    rounded = float(_FOUR_DIGITS.create_decimal_from_float(ns))
    size, unit = next((u for u in _UNITS if abs(rounded) >= u[0]), _UNITS[-1])
    digits = 3 - math.floor(math.log10(abs(rounded) / size))
    return f"{rounded / size:.{max(digits, 0)}f} {unit}"


def exact_ns(ns: float) -> str:
    """Write nanoseconds to the hundredth, which is finer than any clock: ``"2,570,716.80 ns"``."""
    return f"{as_float(ns):,.2f} ns"


def percent(share: float) -> str:
    """Write a share with two decimals below 10 %; only zero is written as zero."""
    value = 100 * as_float(share)
    if not math.isfinite(value):
        return "unknown"
    if value == 0:
        return "0 %"
    return "< 0.01 %" if value < 0.01 else f"{fixed(value, 1 if value >= 10 else 2)} %"


def time_share(ns: float, share: float, rounding_ns: float = 0.0, between: str = ", ") -> str:
    """``"523.4 µs, 28.3 %"``; a time below the resolution has no share: ``"< 1 µs"``."""
    duration = duration_text(ns, rounding_ns)
    return duration if ns == 0 < rounding_ns else f"{duration}{between}{percent(share)}"


def speed_text(ratio: float) -> str:
    """Write the speed of the second of two times by its ratio to the first."""
    ratio = as_float(ratio)
    if not 0 < ratio < math.inf:
        return "unknown"
    how = "slower" if ratio > 1 else "faster"
    factor = max(ratio, 1 / ratio)
    times = fixed(factor, 3 if factor < 1.01 else 2 if factor < 2 else 1 if factor < 10 else 0)
    return "same speed" if times == "1.000" else f"{times}× {how}"


def integer(count: float) -> str:
    """Write a rounded number with thousands separators."""
    near = as_float(count)
    if math.isfinite(near):
        return f"{round(count):,}"
    # A product of sizes that a file claims may be a number of any length.
    return "more than 10^308" if isinstance(count, int) and near > 0 else "unknown"


def bytes_text(count: float) -> str:
    """Write bytes with the exact count if a unit rounds it: ``"16.0 KiB (16,384)"``."""
    if not math.isfinite(as_float(count)):
        exact = integer(count)
        return exact if exact == "unknown" else f"{exact} B"
    count = round(count)
    if count < 1024:
        return f"{count} B"
    power = min(4, (count.bit_length() - 1) // 10)
    unit = ("KiB", "MiB", "GiB", "TiB")[power - 1]
    return f"{fixed(count / 1024**power, 1)} {unit} ({count:,})"


def counted(count: float, noun: str) -> str:
    """``"1 node"``, ``"1,024 nodes"``, ``"2 more entries"``, ``"0 activations or inputs"``."""
    number = integer(count)
    return f"{number} {noun if number == '1' else ' or '.join(map(_plural, noun.split(' or ')))}"


def agree(count: float, one: str, several: str = "") -> str:
    """Return the verb or pronoun for a count: ``"has"`` or ``"have"``, or `several`."""
    if integer(count) == "1":
        return one
    regular = re.sub(r"(ch|sh|ss|x|o)es$|s$", r"\1", re.sub(r"(\w\w)ies$", r"\1y", one))
    return several or _SEVERAL.get(one, regular)


def _plural(noun: str) -> str:
    words, blank, last = noun.rpartition(" ")
    if re.search(r"[^aeiou]y$", last):
        regular = f"{last[:-1]}ies"
    else:
        regular = last + ("es" if re.search(r"([sxz]|ch|sh)$", last) else "s")
    return words + blank + _SEVERAL.get(last, regular)


def significant(value: float) -> str:
    """Three significant digits: ``"12.3"``, ``"0.00417"``."""
    return f"{float(f'{as_float(value):.3g}'):g}"


def rate_text(value: float, unit: str) -> str:
    """``"12.3 GFLOP/s"``; ``"unknown"`` for NaN."""
    scaled = as_float(value)
    if math.isnan(scaled):
        return "unknown"
    power = 0
    while float(f"{scaled:.3g}") >= 1000 and power < len(_SI_PREFIXES) - 1:
        scaled /= 1000
        power += 1
    return f"{significant(scaled)} {_SI_PREFIXES[power]}{unit}"


ByteKind = Literal["group", "number", "pointer", "text", "data", "padding", "unknown"]


@dataclass(frozen=True, slots=True)
class ByteField:
    """One field, or a group of fields.

    Attributes
    ----------
    name : str
    offset : int
        Bytes from the start of the shown data.
    size : int
        Bytes.
    kind : str
        ``"group"`` has ``children``; ``"data"`` is a payload; ``"unknown"`` could not be read.
    value : str
        Description of the value; empty for padding.
    note : str
        Fault or oddity, or empty.
    children : tuple of ByteField
        In order, inside these bytes.
    """

    name: str
    offset: int
    size: int
    kind: ByteKind
    value: str = ""
    note: str = ""
    children: tuple[ByteField, ...] = ()

    @property
    def end(self) -> int:
        """Offset of the first byte after it."""
        return self.offset + self.size

    def walk(self, depth: int = 0) -> Iterator[tuple[int, ByteField]]:
        """Yield this field and all below it with their depths."""
        yield depth, self
        for child in self.children:
            yield from child.walk(depth + 1)


_HEX_SHOWN = 16


def byte_rows(root: ByteField, data: bytes) -> list[tuple[str, str, str, str, str]]:
    """Return the fields as rows of a table: offset, bytes, name, hex, and value."""
    return [
        (
            str(field.offset),
            str(field.size),
            "  " * depth + field.name,
            "" if field.children else hex_bytes(data, field, _HEX_SHOWN),
            f"{field.value} ({field.note})" if field.note else field.value,
        )
        for depth, field in root.walk()
    ]


def hex_bytes(data: bytes | memoryview, field: ByteField, most: int) -> str:
    """Return the first bytes of a field as hex."""
    own = bytes(data[field.offset : min(field.end, field.offset + most)])
    return own.hex(" ") + (" …" if field.size > len(own) else "")


_LEFT = "text-align: left"
#: Widest column: one long cell does not widen all rows.
_WIDEST = 200


def text_lines(rows: Sequence[Sequence[str]], *, right: bool = False) -> list[str]:
    """Return a table's rows as lines with aligned cells."""
    widths = [min(_WIDEST, max(map(len, column))) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            cell.rjust(width) if right and place else cell.ljust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]


def html_table(
    head: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    caption: str = "",
    below: Iterable[str] = (),
    style: str = "white-space: nowrap",
) -> str:
    """Return a table with paragraphs below it; all text is escaped."""
    above = f"<caption>{html.escape(caption)}</caption>" if caption else ""
    look = f'style="{_LEFT}{f"; {style}" if style else ""}"'

    def row(cells: Sequence[str], tag: str) -> str:
        return "".join(f"<{tag} {look}>{html.escape(cell)}</{tag}>" for cell in cells)

    body = "".join(f"<tr>{row(cells, 'td')}</tr>" for cells in rows)
    thead = f"<thead><tr>{row(head, 'th')}</tr></thead>"
    paragraphs = "".join(f"<p>{html.escape(text)}</p>" for text in below)
    return f"<table>{above}{thead}<tbody>{body}</tbody></table>{paragraphs}"


class Trust(enum.IntEnum):
    """Grade of one joined item; the lower, the surer."""

    EXACT = 0
    BY_ORDER = 1
    BY_NAME = 2
    AMBIGUOUS = 3
    ABSENT = 4

    @property
    def label(self) -> str:
        """The grade in words: ``exact``, ``by order``, ``by name``, ``ambiguous``, ``absent``."""
        return self.name.lower().replace("_", " ")
