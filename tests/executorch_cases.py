"""ExecuTorch's files in tests/data/executorch, with what ExecuTorch's own tools said of them."""

import json
import lzma
from functools import cache
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "data" / "executorch"

#: Folders with the files of one run and the Inspector's answers.
CASES = tuple(
    sorted(path.name for path in FOLDER.iterdir() if path.is_dir() and path.name != "pte")
)


def case_dir(name: str) -> Path:
    """Return the folder of a case."""
    return FOLDER / name


@cache
def read_json(name: str) -> Any:
    """Return a JSON file of the folder, packed or not, by its name without ``.xz``."""
    path = FOLDER / name
    if path.exists():
        return json.loads(path.read_bytes())
    return json.loads(lzma.decompress(path.with_name(path.name + ".xz").read_bytes()))


def answers(name: str) -> dict[str, Any]:
    """Return what the Inspector answered for a case."""
    return read_json(f"{name}/inspector.json")
