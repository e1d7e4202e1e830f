"""Names as states print them."""

from __future__ import annotations

_REPLACED = ((".", "_"), ("@", "_"), ("outer", "o"), ("inner", "i"))


def clean_name(name: str) -> str:
    """Return an axis' name as its loop has it (``CleanName``, src/auto_scheduler/utils.h).

    >>> clean_name("k.inner@router")
    'k_i_ro'
    """
    for old, new in _REPLACED:
        name = name.replace(old, new)
    return name
