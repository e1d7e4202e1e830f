"""What an ambiguous type code means in one file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Literal, TypeAlias

from tvmdbg_widgets.model.base.choice import one_of
from tvmdbg_widgets.model.tensors.array_record import AMBIGUOUS, ArrayRecord
from tvmdbg_widgets.model.tensors.dtypes import BOOL, CURRENT_ONLY, DataType

Float8: TypeAlias = Literal["auto", "current", "legacy"]

_LOOKED_AT = 4096
_TOGETHER = 64


def settle_types(
    records: Sequence[ArrayRecord], float8: Float8, dtypes: Mapping[str, DataType | str]
) -> tuple[ArrayRecord, ...]:
    """Give each record of an ambiguous type code its meaning, with a note that says why."""
    one_of("float8", float8, ("auto", "current", "legacy"))
    settled = list(records)
    if any(record.alternatives for record in records):
        era, why = (float8, "as asked for") if float8 != "auto" else _guess(records)
        settled = [_settle(record, era == "legacy", why) for record in records]
    for index, record in enumerate(settled):
        if record.key in dtypes:
            asked = dtypes[record.key]
            settled[index] = record.with_dtype(
                DataType.parse(asked) if isinstance(asked, str) else asked
            )
    return tuple(settled)


def _guess(records: Sequence[ArrayRecord]) -> tuple[Float8, str]:
    if any(record.dtype.code in CURRENT_ONLY for record in records):
        return "current", "other type codes of the file are those of TVM >= 0.21"
    if any((record.dtype.code, record.dtype.bits) == (8, 4) for record in records):
        return "legacy", "code 8 with 4 bits in the file is that of TVM 0.20"
    bools = [record for record in records if record.dtype.code == BOOL and record.nbytes]
    for start in range(0, len(bools), _TOGETHER):
        some = bools[start : start + _TOGETHER]
        heads = some[0].source.read_ranges(
            [(record.offset, min(record.nbytes, _LOOKED_AT)) for record in some]
        )
        if any(head.strip(b"\0\1") for head in heads):
            return "legacy", "arrays of code 6 hold bytes other than 0 and 1"
    return "current", "nothing in the file speaks for TVM 0.13 to 0.20"


def _settle(record: ArrayRecord, legacy: bool, why: str) -> ArrayRecord:
    if not record.alternatives:
        return record
    stored = record.dtype
    old = stored.legacy()
    chosen = old if legacy else stored
    note = (
        f"{AMBIGUOUS}{stored.code} is {old} in TVM 0.13 to 0.20 and {stored} in later ones; read "
        f"as {chosen}, {why} (choose with float8= or with_dtype)"
    )
    return replace(
        record,
        dtype=chosen,
        notes=(*record.notes, note),
        alternatives=tuple(t for t in (stored, old) if t != chosen),
    )
