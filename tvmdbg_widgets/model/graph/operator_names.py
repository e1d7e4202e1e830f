"""Names of operators and their families, from operator_names.toml."""

from __future__ import annotations

import tomllib
from pathlib import Path

_FILE = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))


def family_by_name(of: str) -> dict[str, str]:
    """Return the families of operators of ``tvm``, ``torch``, ``xnnpack``, ``xnnpack_nodes``."""
    return {
        name: family
        for family, names in _FILE[of].items()
        for name in (names.split() if isinstance(names, str) else names)
    }
