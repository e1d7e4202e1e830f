"""The tables of a page's data: what every page of a run carries, and what was chosen for one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tvmdbg_widgets.export.page.stored_facts import tensor_columns, variant_columns
from tvmdbg_widgets.export.page.stored_nodes import device_names, node_columns
from tvmdbg_widgets.export.page.stored_pack import Binary
from tvmdbg_widgets.export.page.stored_pictures import picture_columns
from tvmdbg_widgets.export.page.stored_values import Whole, code_table, float_limit
from tvmdbg_widgets.model.strings import StringColumn
from tvmdbg_widgets.widgets.answers import answer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tvmdbg_widgets.export.page.stored_choice import Candidate
    from tvmdbg_widgets.export.page.stored_facts import Variant
    from tvmdbg_widgets.export.page.stored_paths import PathEraser
    from tvmdbg_widgets.run import DebugRun


def common(run: DebugRun, findings: dict[str, Any] | None, eraser: PathEraser) -> Binary:
    """Return what every page of a run carries: all answers but those about single tensors."""
    binary = Binary()
    binary.head["answers"] = answers = {}
    answers["summary"] = eraser.json(answer(run, {"kind": "summary"}).result)
    answers["findings"] = eraser.json(findings)
    for kind in ("graph", "timeline", "tensors"):
        reply = answer(run, {"kind": kind})
        if reply.result is not None:
            answers[kind] = eraser.json(reply.result["info"])
            binary.add_packed(kind, reply.result["columns"], reply.buffers[0])
    if run.graph is not None:
        binary.head["devices"] = device_names(run)
        binary.add_columns("nodes", node_columns(run, eraser))
    return binary


def with_facts(
    binary: Binary,
    run: DebugRun,
    variants: Sequence[Variant],
    notes: Sequence[str],
    eraser: PathEraser,
    *,
    histograms: bool,
) -> Binary:
    """Return the binary with header, notes and statistics of each tensor."""
    found = binary.copy()
    if run.tensors is not None:
        tensors = list(run.tensors.values())
        found.add_columns("facts", tensor_columns(tensors, notes, eraser))
        found.add_columns("variants", variant_columns(variants, histograms=histograms))
    return found


def add_values(binary: Binary, candidates: Sequence[Candidate], variants: int) -> None:
    """Add pictures and whole values to a binary that tells of so many variants."""
    pictures = [picture for each in candidates for picture in each.pictures]
    places = [binary.add_blob(each.data)[0] for each in pictures]
    if pictures:
        binary.add_columns("pictures", picture_columns(pictures, places))
    chosen = [(each, each.whole) for each in candidates if each.whole is not None]
    if not chosen:
        return
    at = [binary.add_blob(found.data) for _, found in chosen]
    kinds = [""] * variants
    bits = np.zeros(variants, np.int32)
    masks = np.full(variants, -1, np.int32)
    for each, found in chosen:
        for place, row in enumerate(each.variants):
            kinds[row] = found.kinds[place]
            bits[row], masks[row] = found.bits[place], found.masks[place]
    binary.add_columns(
        "wholes",
        {
            "tensor": np.array([found.row for _, found in chosen], np.int32),
            "width": np.array([found.width for _, found in chosen], np.int32),
            "at": np.array([begin for begin, _ in at], np.float64),
            "size": np.array([size for _, size in at], np.float64),
        },
    )
    told: dict[str, np.ndarray[Any, Any] | StringColumn] = {
        "kind": StringColumn.from_strings(kinds),
        "bits": bits,
        "mask": masks,
    }
    binary.add_columns("kinds", told)
    binary.head["floatLimit"] = float_limit()
    _add_codes(binary, chosen)


def _add_codes(binary: Binary, chosen: Sequence[tuple[Candidate, Whole]]) -> None:
    codes: dict[str, np.ndarray[Any, Any]] = {}
    types = {}
    for each, found in chosen:
        for kind, own in found.codes.items():
            codes[kind] = np.union1d(codes[kind], own) if kind in codes else own
            types[kind] = each.tensor.dtype
        if found.texts is not None:
            count = len(found.texts.unique)
            table: dict[str, np.ndarray[Any, Any] | StringColumn] = {
                "codes": np.arange(count, dtype=np.int32),
                "values": np.full(count, np.nan),
                "texts": StringColumn.from_strings(found.texts.unique),
            }
            binary.add_columns(f"codes {found.kinds[0]}", table)
    for kind, own in codes.items():
        binary.add_columns(f"codes {kind}", code_table(kind, types[kind], own))
