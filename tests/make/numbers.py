"""Write tests/data/numbers/texts.json: numbers and how people read them, for both languages.

``python -m tests.make.numbers``
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from tvmdbg_widgets.model.base.numbers import (
    agree,
    bytes_text,
    counted,
    duration_text,
    integer,
    percent,
    speed_text,
)

PATH = Path(__file__).parents[1] / "data/numbers/texts.json"

WRITTEN: dict[str, Callable[[Any], str]] = {
    "duration": duration_text,
    "percent": percent,
    "speed": speed_text,
    "bytes": bytes_text,
    "agree": lambda case: agree(*case),
    "counted": lambda count: counted(count, "node"),
    "nouns": lambda case: counted(*case),
    "integer": integer,
}

#: One of each rule, and what none holds for.
NOUNS = (
    *("node", "more entry", "key", "box", "match", "pass", "axis", "index", "flow series"),
    "query",
)
VERBS = (
    *("has", "is", "was", "does", "matches", "carries", "lies", "passes", "writes", "differs"),
    *("this", "it", "its"),
)


def numbers() -> dict[str, list[Any]]:
    """Return numbers of all sizes, and those where a text changes."""
    rng = np.random.default_rng(7)
    sizes = [int(10**power) for power in rng.uniform(0, 15, 60)]
    ends = [1, 1023, 1024, 1025, 999_949, 999_950, 1024**2 - 1, 1024**2, 1024**4]
    ns = [0.5, 999.94, 999.96, 999_950.0, 1_000_500.0, -2500.0, 2.5e-5]
    shares = [1e-9, 0.0000999, 0.0001, 0.00125, 0.0999949, 0.09995, 0.1, 0.99951, 1.0, 2.345]
    floats = [6681980.880000001, 0.5, 1.5, 2.5, -0.4, -0.5, -1.5, 999.5, 1023.5, 1e15 + 0.5]
    floats += [-6681980.880000001, 1e21, 1.25e25, 1e-7, *(10 ** rng.uniform(-3, 18, 60)).tolist()]
    ratios = [1.0, 1.0004, 0.9951, 1.0999, 1.1, 1.995, 2.0, 9.95, 10.0, 0.5, 0.0, -1.0]
    return {
        "duration": [0.0, *ns, *(10 ** rng.uniform(-2, 12, 60)).tolist()],
        "percent": [0.0, *shares, *(10 ** rng.uniform(-6, 0.5, 60)).tolist()],
        "speed": [*ratios, *(10 ** rng.uniform(-2, 2, 60)).tolist()],
        "bytes": [0, *ends, *sizes, *(each for each in floats if each >= 0)],
        "agree": [
            *([count, verb] for verb in VERBS for count in (0, 1, 2)),
            *([count, "it", "them"] for count in (0, 1, 2)),
        ],
        "counted": [0, *ends, *sizes, *floats],
        "nouns": [[count, noun] for noun in NOUNS for count in (0, 1, 2, 1234)],
        "integer": [0, *ends, *sizes, *floats],
    }


def texts() -> dict[str, list[tuple[Any, str]]]:
    """Return each number with its text, as Python writes it."""
    return {
        name: [(number, WRITTEN[name](number)) for number in some]
        for name, some in numbers().items()
    }


def write(path: Path, parts: dict[str, Any]) -> None:
    """Write JSON with a line for each part."""
    path.parent.mkdir(exist_ok=True)
    rows = (
        f"{json.dumps(name)}: {json.dumps(part, ensure_ascii=False)}"
        for name, part in parts.items()
    )
    path.write_text("{\n" + ",\n".join(rows) + "\n}\n", "utf-8")


if __name__ == "__main__":
    write(PATH, texts())
