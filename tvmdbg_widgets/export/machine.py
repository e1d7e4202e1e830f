"""What texts must not tell of the machine they were made on."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

from tvmdbg_widgets.analysis.derived.derived import Derived

#: Words that begin no address are taken as well, so that no letter is looked at twice.
_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]*+(://[^\s'\"<>]*)?", re.IGNORECASE)
_ROOTED = re.compile(r"(?:[A-Za-z]:)?[\\/](?:[^\s\\/:;,'\"()\[\]]+[\\/]+)+")


@dataclass(frozen=True)
class MachineFolders:
    """Folders of this machine, longest first."""

    folders: tuple[str, ...]

    @classmethod
    def of(cls, run: Derived) -> MachineFolders:
        """Return the folders that the run's files lie in, the current one, and home."""
        named = [tensor.file for tensor in (run.tensors or {}).values()]
        named += [issue.file for issue in run.check()]
        named += [re.sub(r" \([\d,]+ bytes\)$", "", each) for each in run.provenance.files]
        named += list(run.timeline.sources) if run.timeline is not None else []
        named += [run.graph.file] if run.graph is not None else []
        found = {os.getcwd(), str(Path.home())}  # noqa: PTH109 (as messages spell it)
        for name in set(named):
            path = Path(name)
            if path.is_absolute():
                found |= {os.fspath(path.parent), os.fspath(path.parent.resolve())}
        return cls(tuple(sorted((f for f in found if len(f) > 1), key=len, reverse=True)))

    def without_paths(self, text: str) -> str:
        """Return text with files by name alone: no folders of this machine, no addresses.

        Names of nodes may look like paths (``/encoder/layer.0``): what is no known folder goes
        only where its first part exists on this machine.
        """
        if "://" in text:
            text = _ADDRESS.sub(lambda found: _last(found[0]) if found[1] else found[0], text)
        for folder in self.folders:
            text = text.replace(folder + os.sep, "").replace(folder, Path(folder).name)
        return _ROOTED.sub(lambda found: "" if _exists(found[0]) else found[0], text)


def _last(address: str) -> str:
    path = re.split(r"[?#]", address.partition("://")[2])[0].rstrip("/")
    return path.rpartition("/")[2] or "address"


def _exists(path: str) -> bool:
    first = re.match(r"(?:[A-Za-z]:)?[\\/][^\\/]+", path)
    return first is not None and Path(first[0]).is_dir()
