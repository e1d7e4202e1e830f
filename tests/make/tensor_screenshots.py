"""Pictures of the tensor inspector on recorded runs, to look at before a release.

``TVMDBG_CORPUS=… python -m tests.make.tensor_screenshots FOLDER`` (front ends built) writes a
picture of each case in light and dark.
"""

from __future__ import annotations

import argparse
import json
import os
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright

import tvmdbg_widgets as tvmdbg
from tests.chromium import ARGUMENTS, find_or_install
from tests.ui.host import serve

#: Name, what is opened below the corpus, and the inspector's state.
CASES: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("activations", "tvm/resnet20_cifar", {"entry": [9, 0]}),
    ("channels", "tvm/resnet20_cifar", {"entry": [9, 0], "show": "channels"}),
    ("profile", "tvm/resnet20_cifar", {"entry": [9, 0], "show": "profile"}),
    ("weight", "tvm/resnet20_cifar", {"entry": [4, 0]}),
    ("nan_hunt", "tvm/resnet20_cifar_fp16_overflow", {"entry": [41, 0]}),
    ("int8", "tvm/resnet20_cifar_int8", {"entry": [7, 0]}),
    ("bf16", "relax/dtypes/params_all.bin", {"entry": [12, 0], "value_format": "bits"}),
    ("nchw8c", "tvm/resnet20_cifar_nchw8c", {"entry": [7, 0]}),
    ("read_after_reuse", "tvm/resnet20_cifar_v0.6", {"entry": [6, 0]}),
)
WIDTH = 900


def main() -> None:
    """Write the pictures into the folder that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    folder: Path = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    corpus = Path(os.environ["TVMDBG_CORPUS"])
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_or_install(), args=ARGUMENTS)
        for name, path, state in CASES:
            query = "".join(f"&tensor.{key}={json.dumps(each)}" for key, each in state.items())
            with serve(tvmdbg.open(corpus / path)) as address:
                for theme in ("light", "dark"):
                    page = browser.new_page(viewport={"width": WIDTH + 16, "height": 760})
                    page.goto(f"{address}?views=tensor&width={WIDTH}&theme={theme}{query}")
                    root = page.locator(".tvmdbg-tensor[data-ready=true]")
                    root.wait_for()
                    page.wait_for_load_state("networkidle")
                    root.screenshot(path=folder / f"{name}-{theme}.png")
                    page.close()
        browser.close()


if __name__ == "__main__":
    main()
