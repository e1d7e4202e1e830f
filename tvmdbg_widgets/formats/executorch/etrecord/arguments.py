"""Arguments in an exported program: objects with one key, which says what they are.

``Argument`` in ``exir/serde/schema.py`` @ v1.4.1; those with a later ``as_…`` are
``torch/_export/serde/schema.py`` @ v2.13.0.
"""

from __future__ import annotations

from typing import Any, Final

from tvmdbg_widgets.model.executorch.scalar_types import exported_dtype

_ONE: Final = frozenset(
    (
        *("as_tensor", "as_optional_tensor", "as_custom_obj", "as_token"),
        *("as_sym_int", "as_sym_float", "as_sym_bool"),
    )
)
_SEVERAL: Final = frozenset(
    ("as_tensors", "as_optional_tensors", "as_sym_ints", "as_sym_floats", "as_sym_bools")
)
_MEMORY_FORMATS: Final = {
    1: "contiguous_format",
    2: "channels_last",
    3: "channels_last_3d",
    4: "preserve_format",
}
_LAYOUTS: Final = {
    1: "sparse_coo",
    2: "sparse_csr",
    3: "sparse_csc",
    4: "sparse_bsr",
    5: "sparse_bsc",
    6: "_mkldnn",
    7: "strided",
}


def read_argument(argument: dict[str, Any]) -> tuple[tuple[str, ...], str | None]:
    """Read one argument."""
    if len(argument) != 1:
        return (), str(argument)
    kind, value = next(iter(argument.items()))
    if kind in _ONE:
        name = _name(value)
        return ((), _text(value)) if name is None else ((name,), None)
    if kind not in _SEVERAL or not isinstance(value, list):
        return (), _constant(kind, value)
    names = [_name(item) for item in value]
    known = tuple(name for name in names if name is not None)
    if value and len(known) == len(names):
        return known, None
    words = [_text(item) if name is None else name for name, item in zip(names, value, strict=True)]
    return known, f"[{', '.join(words)}]"


def _name(item: Any) -> str | None:
    """Return the value that an item names: by ``name``, ``as_name``, or within ``as_tensor``."""
    if isinstance(item, dict):
        item = item.get("as_tensor", item)
    name = item.get("as_name", item.get("name")) if isinstance(item, dict) else None
    return name if isinstance(name, str) else None


def _text(item: Any) -> str:
    """Return the text of an item that may be an argument itself."""
    if isinstance(item, dict) and len(item) == 1:
        return _constant(*next(iter(item.items())))
    return str(item)


def _constant(kind: str, value: Any) -> str:
    if kind == "as_none":
        return "None"
    if isinstance(value, dict):
        if kind == "as_device":
            index = value.get("index")
            return str(value.get("type")) + ("" if index is None else f":{index}")
        if kind in ("as_graph", "as_expr"):
            return str(value.get("name", value.get("expr_str")))
    if type(value) is int:
        if kind == "as_scalar_type":
            return str(exported_dtype(value) or value)
        if kind == "as_memory_format":
            return _MEMORY_FORMATS.get(value, str(value))
        if kind == "as_layout":
            return _LAYOUTS.get(value, str(value))
    return str(value)
