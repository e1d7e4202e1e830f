"""What one input is: files, how they are handed over, and to which function."""

import contextlib
import io
import tarfile
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tvmdbg_widgets as tvmdbg
from tvmdbg_widgets.formats.hexdump import read_hexdump
from tvmdbg_widgets.sources.byte_source import RATIO


def _text(sources: Any) -> str:
    return "\n".join(each.decode("utf-8", "surrogateescape") for each in sources)


#: What opens files, by name.
OPENERS: dict[str, Callable[[Any], Any]] = {
    "open": tvmdbg.open,
    "open_rpc": lambda sources: tvmdbg.open_rpc(*sources[:2]),
    "open_tuning": tvmdbg.open_tuning,
    "explain": lambda sources: tvmdbg.explain(_text(sources)),
    "hex dump": lambda sources: read_hexdump(_text(sources)),
    "LLVM IR": lambda sources: tvmdbg.abi.layout_of_ir(sources[0]),
}


@dataclass(frozen=True)
class Files:
    """What is opened together; `holds` are the bytes that an archive unpacks to, 0 of all else."""

    kind: str
    contents: dict[str, bytes]
    pack: str = "bytes"
    opener: str = "open"
    holds: int = 0

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return sum(map(len, self.contents.values()))

    @property
    def counted(self) -> int:
        """Bytes that the limits of time and memory are for."""
        return max(self.size, min(self.holds, RATIO * self.size))

    def read(self, sources: Any) -> Any:
        """Open what :meth:`opened` yields."""
        return OPENERS[self.opener](sources)

    @contextlib.contextmanager
    def opened(self) -> Iterator[Any]:
        """Yield what the opener takes."""
        if self.pack == "folder":
            with tempfile.TemporaryDirectory() as folder:
                self.write(Path(folder))
                yield folder
        elif self.pack == "bytes":
            yield list(self.contents.values())
        else:
            yield (tarred if self.pack == "tar" else zipped)(self.contents)

    def write(self, folder: Path) -> None:
        """Write the files below a folder."""
        for name, content in self.contents.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)


def tarred(contents: dict[str, bytes], mode: str = "w:gz") -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode=mode) as archive:
        for name, content in contents.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return out.getvalue()


def zipped(contents: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        for name, content in contents.items():
            archive.writestr(name, content)
    return out.getvalue()
