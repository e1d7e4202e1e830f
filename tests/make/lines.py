"""Write tests/data/numbers/lines.json: texts cut and broken to fit, for both languages.

``python -m tests.make.lines``
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.make.numbers import write
from tvmdbg_widgets.figures.texts import fit, width_tables, wrap

PATH = Path(__file__).parents[1] / "data/numbers/lines.json"

TEXTS = (
    "",
    "conv2d + add + relu",
    "tvmgen_default_fused_nn_contrib_conv2d_NCHWc_add_nn_relu_51",
    "peak 204.0 KiB (208,896) live while conv2d + add + add + relu #9 runs (and at 2 other nodes)",
    "  two  blanks\tand\na new line ",
    "权重 与 偏置 的 卷积层",
    "e\u0301tude nai\u0308ve",
    "flags \U0001f1e9\U0001f1ea\U0001f1eb\U0001f1f7 and \U0001f469\u200d\U0001f52c",
    "WWWWWWWWWW iiiiiiiiii \u0646\u0645\u0648\u0630\u062c",
    "a/very/long/path/of/a/file.json:12:34",
)
ROOMS = (5, 40, 90, 200, 620)
SIZES = ((11, False), (13, True))


def lines() -> dict[str, Any]:
    """Return the tables of widths, and texts with what of them has room, as Python finds it."""
    cases = [(text, room, *size) for text in TEXTS for room in ROOMS for size in SIZES]
    return {
        "tables": width_tables(),
        "fit": [[*case, fit(*case)] for case in cases],
        "wrap": [
            [text, room, size, most, bold, wrap(text, room, size, most, bold)]
            for text, room, size, bold in cases
            for most in (1, 3)
        ],
    }


if __name__ == "__main__":
    write(PATH, lines())
