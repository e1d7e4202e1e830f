"""Values written into the script as Python literals."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

_BEGIN, _END = "# <data>\n", "# </data>\n"


def template() -> str:
    """Return the script with empty data."""
    return Path(__file__).with_name("rerun_script.py").read_text("utf-8")


def with_data(
    script: str, values: Mapping[str, Any], notes: Mapping[str, Sequence[str]] | None = None
) -> str:
    """Return a script with other values between its data marks."""
    head, _, rest = script.partition(_BEGIN)
    _, _, tail = rest.partition(_END)
    lines = [line for name, value in values.items() for line in _assigned(name, value, notes or {})]
    return "\n".join([head + _BEGIN.rstrip("\n"), *lines, _END + tail])


def _assigned(name: str, value: Any, notes: Mapping[str, Sequence[str]]) -> Iterable[str]:
    """Yield the lines of an assignment, with one line per item of a list or dict."""
    if isinstance(value, dict) and value:
        items = (f"{key!a}: {item!a}" for key, item in value.items())
        yield from (f"{name} = {{", *(f"    {item}," for item in items), "}")
    elif isinstance(value, list) and value:
        yield f"{name} = ["
        for item, note in zip(value, notes.get(name) or [""] * len(value), strict=True):
            if note:
                yield f"    # {ascii(note)[1:-1]}"
            yield f"    {item!a},"
        yield "]"
    else:
        yield f"{name} = {value!a}"
