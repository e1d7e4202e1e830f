"""Which layout of ``DLDataType`` a params file has: the one given, or the one its bytes fit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

from tvmdbg_widgets.formats.tvm.params.record import DTYPE_AT, MAX_CODE, HeaderReader
from tvmdbg_widgets.model.abi.dtype_layout import NARROW, WIDE, DTypeLayout
from tvmdbg_widgets.model.base.errors import FormatError

#: ``"auto"``, a layout, or several to choose from; text separates several by ``|``.
LayoutLike: TypeAlias = "str | DTypeLayout | Sequence[str | DTypeLayout]"

AUTO = (NARROW, WIDE)
#: The byte after the first of the dtype: ``bits`` (never 0) or the high byte of ``code``, which is
#: 0 for the type codes of every release.
_DECIDING_BYTE = DTYPE_AT + 1


class LayoutChoice(NamedTuple):
    """A layout and why it was taken."""

    layout: DTypeLayout
    reason: str
    also: tuple[DTypeLayout, ...] = ()


def layouts_to_try(given: LayoutLike) -> tuple[DTypeLayout, ...]:
    """Return the layouts that a file may have."""
    several = given.split("|") if isinstance(given, str) else given
    several = [several] if isinstance(several, DTypeLayout) else several
    found: list[DTypeLayout] = []
    for each in several:
        if isinstance(each, str) and each.strip() == "auto":
            found += AUTO
            continue
        try:
            found.append(each if isinstance(each, DTypeLayout) else DTypeLayout(each))
        except ValueError as problem:
            raise ValueError(f"dtype_layout: {problem}") from None
    if not found:
        raise ValueError("dtype_layout: no layout given; 'auto' chooses between narrow and wide")
    return tuple(dict.fromkeys(found))


def layout_text(given: LayoutLike) -> str:
    """Return what :func:`layouts_to_try` takes as one text, to be written down."""
    if isinstance(given, str):
        return given
    return " | ".join(layout.name for layout in layouts_to_try(given))


def choose_layout(
    headers: HeaderReader, offset: int, label: str, among: Sequence[DTypeLayout]
) -> LayoutChoice:
    """Choose by the first record of a file."""
    if len(among) == 1:
        return LayoutChoice(among[0], "as asked for")
    names = f"{', '.join(each.name for each in among[:-1])} and {among[-1].name}"
    if tuple(among) == AUTO:
        deciding = headers.peek(offset, _DECIDING_BYTE + 1, f"{label}: header")[-1]
        chosen, other = (NARROW, WIDE) if deciding else (WIDE, NARROW)
        meaning = (
            "bits in narrow, where wide has the high byte of the type code, 0 in every release"
            if deciding
            else "the high byte of the type code in wide, where narrow has bits, which are never 0"
        )
        where = f"byte {offset + _DECIDING_BYTE} of {label} is {deciding:#04x}"
        return LayoutChoice(chosen, f"not {other.name}: {where}, {meaning}")
    fitting: list[DTypeLayout] = []
    odd: list[DTypeLayout] = []
    refused: dict[DTypeLayout, FormatError] = {}
    why: list[str] = []
    for layout in among:
        try:
            code = headers.read(offset, layout, label).dtype.code
        except FormatError as error:
            refused[layout] = error
            why.append(f"{layout.name}: {_short(error, label)}")
            continue
        (fitting if code <= MAX_CODE else odd).append(layout)
        if code > MAX_CODE:
            why.append(f"{layout.name}: dtype code would be {code}, which no release has")
    fitting = fitting or odd
    if not fitting:
        raise FormatError(
            f"no layout among {names} fits",
            file=next(iter(refused.values())).file,
            field=f"{label}: dtype",
            offset=offset + DTYPE_AT,
            expected="a data type in one of them",
            found="; ".join(why),
            hint="Declare the layout of the build that wrote the file, or the file is damaged.",
        )
    chosen = fitting[0]
    because = f"among {names}: not {'; not '.join(why)}" if why else f"the first of {names}"
    return LayoutChoice(chosen, because, tuple(fitting[1:]))


def _short(error: FormatError, label: str) -> str:
    field = (error.field or "").removeprefix(f"{label}: ")
    return f"{field} would be {error.found} (expected {error.expected})"
