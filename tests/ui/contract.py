"""The contract that a host's models must keep, whatever the host (``contract.js``)."""

import json
import subprocess
from functools import cache
from pathlib import Path

from playwright.sync_api import Locator

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
DONE_MS = 60_000


@cache
def contract_module() -> str:
    """The contract as one module, with our own clients inside."""
    command = [
        *("node_modules/.bin/esbuild", "tests/ui/contract.js"),
        *("--bundle", "--format=esm", "--target=es2022"),
    ]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout


def broken(shown: Locator) -> dict[str, str]:
    """What a host breaks, by the name of the check; fails where too few checks ran."""
    done = shown.and_(shown.page.locator("[data-done]"))
    done.wait_for(timeout=DONE_MS)
    results = json.loads(done.text_content() or "[]")
    assert len(results) >= 15
    return {each["name"]: each["detail"] for each in results if each["detail"] is not None}
