"""Bundles the front ends when those in tvmdbg_widgets/static are not the sources' own.

An sdist carries sources and bundles alike, so an install from one needs no Node.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

try:
    from hatchling.builders.hooks.plugin.interface import BuildHookInterface
except ModuleNotFoundError:  # `tvmdbg doctor` compares the hashes where nothing is built
    BuildHookInterface = list  # type: ignore[assignment,misc]

HASHED_FILES = ("package-lock.json", "js/build.mjs", "tvmdbg_widgets/figures/tokens.json")


def content_hash(root: Path) -> str:
    """Hash everything a bundle is made of, as js/build.mjs does.

    Parameters
    ----------
    root
        The folder that holds ``pyproject.toml``.

    Returns
    -------
    str
        SHA-256 in hexadecimal over path, NUL, size, NUL, bytes of each file, in order of paths.
    """
    sources = (root / "js/src").rglob("*")
    names = [
        path.relative_to(root).as_posix()
        for path in sources
        if path.is_file() and not path.name.startswith(".")
    ]
    digest = hashlib.sha256()
    for name in sorted([*names, *HASHED_FILES]):
        path = root / name
        if path.exists():
            contents = path.read_bytes()
            digest.update(f"{name}\0{len(contents)}\0".encode() + contents)
    return digest.hexdigest()


def is_current(root: Path) -> bool:
    """Tell whether the bundles were made of the sources beside them.

    Parameters
    ----------
    root
        The folder that holds ``pyproject.toml``.

    Returns
    -------
    bool
        True also where there are no sources to compare with.
    """
    if not (root / "js/src").is_dir():
        return True
    try:
        recorded = json.loads((root / "tvmdbg_widgets/static/hash.json").read_text("utf-8"))
    except (FileNotFoundError, ValueError):
        return False
    return bool(recorded == {"sha256": content_hash(root)})


class FrontEndHook(BuildHookInterface[Any]):
    """Runs before sdist, wheel and editable install; ``TVMDBG_SKIP_JS=1`` leaves the bundles be."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002
        """Bundle if need be.

        Raises
        ------
        RuntimeError
            If a bundle is missing or stale and there is no npm.
        """
        root = Path(self.root)
        if os.environ.get("TVMDBG_SKIP_JS") == "1" or is_current(root):
            return
        npm = shutil.which("npm")
        if npm is None:
            raise RuntimeError(
                "tvmdbg_widgets/static does not hold the bundles of js/src, and there is no npm. "
                "Install Node >= 20.19, or set TVMDBG_SKIP_JS=1 to go without the views."
            )
        subprocess.run([npm, "ci"], cwd=root, check=True)  # noqa: S603
        subprocess.run([npm, "run", "build"], cwd=root, check=True)  # noqa: S603
