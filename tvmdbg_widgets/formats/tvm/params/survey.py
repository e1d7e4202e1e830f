"""What the arrays of a params file say about themselves, one issue per kind."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from tvmdbg_widgets.model.base.issues import Issue, IssueSeverity
from tvmdbg_widgets.model.base.numbers import agree
from tvmdbg_widgets.model.base.text import cut, listed
from tvmdbg_widgets.model.tensors.array_record import STORED_AS, ArrayRecord

_NAMES_SHOWN, _LETTERS_SHOWN = 5, 80
#: Issues that repeat what the notes of single arrays say, by rule.
KINDS = {
    "values-lost": "the file holds their shapes only, no values (TVM up to 0.7 with bool)",
    "lanes-left-out": "only the first 1/lanes of the values are stored, by a fault of TVM's writer",
    "below-one-byte": "less than 8 bits an element: read as packed, low bits first; TVM up to 0.20 "
    "has a byte for each, and in which order its kernels pack them is not known",
    "ambiguous-type-code": "their type code had several meanings; see the notes of each array",
    "stored-as": "float32 values stored as bfloat16 (f32-to-bf16), TVM's default for a tensor "
    "cache: their lower 16 bits were dropped when they were saved",
    "no-numpy-type": "numpy has no such type: shown as bytes",
}


def survey(records: Sequence[ArrayRecord], file: str) -> list[Issue]:
    """Collect repeated names, and the notes of the records by their kind."""
    issues = []
    counts = Counter(record.key for record in records)
    repeated = [key for key, count in counts.items() if count > 1]
    if repeated:
        verb = agree(len(repeated), "occurs")
        text = f"{_list(repeated)} {verb} more than once; TVM keeps the last of each"
        issues.append(Issue("duplicate-name", IssueSeverity.WARNING, text, file=file))
    return issues + note_issues([(record, None) for record in records], file)


def note_issues(
    records: Sequence[tuple[ArrayRecord, tuple[int, int] | None]], file: str
) -> list[Issue]:
    """Collect the notes of records, one issue a kind."""
    kinds: dict[str, list[tuple[ArrayRecord, tuple[int, int] | None]]] = {}
    for record, entry in records:
        if record.notes:
            kinds.setdefault(_kind(record), []).append((record, entry))
    issues = []
    for rule, found in kinds.items():
        harmless = rule in ("no-numpy-type", "stored-as")
        severity = IssueSeverity.NOTE if harmless else IssueSeverity.WARNING
        what = "; ".join(found[0][0].notes) if len(found) == 1 else KINDS[rule]
        text = f"{_list([record.key for record, _ in found])}: {what}"
        entries = tuple(entry for _, entry in found if entry is not None)
        nodes = tuple(dict.fromkeys(node for node, _ in entries))
        issues.append(Issue(rule, severity, text, nodes=nodes, entries=entries, file=file))
    return issues


def _kind(record: ArrayRecord) -> str:
    if any(note.startswith(STORED_AS) for note in record.notes):
        return "stored-as"
    if record.size and not record.nbytes:
        return "values-lost"
    if record.dtype.lanes > 1:
        return "lanes-left-out"
    if record.dtype.is_packed:
        return "below-one-byte"
    return "ambiguous-type-code" if record.alternatives else "no-numpy-type"


def _list(names: Sequence[str]) -> str:
    return listed([repr(cut(name, _LETTERS_SHOWN)) for name in names], most=_NAMES_SHOWN)
