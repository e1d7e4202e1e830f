"""The maps of an ETRecord: which nodes of the edge program an instruction or an identifier means.

``exir/emit/_emitter.py``, ``devtools/etrecord/_etrecord.py`` @ v1.4.1.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import msgspec

from tvmdbg_widgets.formats.json_fields import convert, decode, parse
from tvmdbg_widgets.model.base.errors import FormatError
from tvmdbg_widgets.model.executorch.etrecord import DelegateCall, HandlesByInstruction


class _MappedCall(msgspec.Struct, gc=False):
    name: str | None = None
    delegate_map: dict[str, Any] | None = None


def read_debug_handles(data: bytes, file: str) -> dict[str, HandlesByInstruction]:
    """Read ``debug_handle_map``; FormatError where it is something else."""
    found: dict[str, HandlesByInstruction] = {}
    found.update(decode(data, dict[str, dict[str, int | list[int]]], file))
    return found


def read_num_outputs(data: bytes, file: str) -> dict[str, dict[str, int]]:
    """Read ``instruction_id_to_num_outs_map``; FormatError where it is something else."""
    return decode(data, dict[str, dict[str, int]], file)


def read_delegate_map(
    data: bytes, file: str
) -> tuple[dict[str, dict[str, DelegateCall]], tuple[str, ...]]:
    """Read ``delegate_map``."""
    twice: dict[str, None] = {}

    def noted(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            counts = Counter(key for key, _ in pairs)
            twice.update((key, None) for key, count in counts.items() if count > 1)
        return found

    told = convert(
        parse(data, file, object_pairs_hook=noted), dict[str, dict[str, _MappedCall]], file
    )
    calls = {
        method: {at: DelegateCall(call.name, _identifiers(call, file)) for at, call in each.items()}
        for method, each in told.items()
    }
    return calls, tuple(twice)


def _identifiers(call: _MappedCall, file: str) -> dict[str, tuple[int, ...]] | None:
    if call.delegate_map is None:
        return None
    return {key: _handles(key, value, file) for key, value in call.delegate_map.items()}


def _handles(key: str, value: Any, file: str) -> tuple[int, ...]:
    """Return the handles of an identifier; those of a fused node are a list within the list."""
    listed = value if isinstance(value, list) else [value]
    flat = [handle for each in listed for handle in (each if isinstance(each, list) else [each])]
    if any(type(handle) is not int for handle in flat):
        raise FormatError(
            "this JSON is not what it should be",
            file=file,
            field=f"delegate_map[{key!r}]",
            expected="a list of debug handles",
            found=str(value)[:60],
        )
    return tuple(flat)
