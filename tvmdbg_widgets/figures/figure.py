"""A picture of a run that needs no browser and no script."""

from __future__ import annotations

import html
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

#: Characters that may stand in a data URL inside double quotes as they are.
_PLAIN_IN_A_URL = " =:/;,.()!*'"


@dataclass(frozen=True)
class Figure:
    """One view as a static picture, as text, and as the facts behind both.

    Attributes
    ----------
    svg : str
        A complete SVG document without scripts, styles or references to other files.
    text : str
        The same to be read without a picture.
    description : dict
        What is shown, as JSON: the same nodes, order, labels, kinds and numbers as in
        the live view.
    """

    svg: str
    text: str
    description: dict[str, Any]

    @property
    def html(self) -> str:
        """The picture as an image element.

        JupyterLab takes inline SVG out of a notebook it does not trust, and leaves its words.
        """
        data = quote(self.svg, safe=_PLAIN_IN_A_URL)
        title = html.escape(str(self.description.get("title", "")), quote=True)
        return f'<img alt="{title}" src="data:image/svg+xml,{data}">'

    def _repr_mimebundle_(self, **_kwargs: Any) -> dict[str, str]:
        return {"text/plain": self.text, "text/html": self.html, "image/svg+xml": self.svg}

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the picture to a file; an existing one is replaced whole or not at all.

        Parameters
        ----------
        path
            Ends in ``.svg``.

        Raises
        ------
        ValueError
            For another ending.
        OSError
            The folder is missing or cannot be written to.
        """
        target = Path(path)
        if target.suffix.lower() != ".svg":
            raise ValueError(f"a figure is saved as .svg, found {target.name!r}")
        handle, name = tempfile.mkstemp(
            dir=target.parent, prefix=f".{target.name}.", suffix=".part"
        )
        try:
            with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
                file.write(f'<?xml version="1.0" encoding="UTF-8"?>\n{self.svg}\n')
            Path(name).chmod(0o666 & ~_umask())
            Path(name).replace(target)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
        return target

    def __repr__(self) -> str:
        size = len(self.svg.encode()) / 1024
        title = self.description.get("title", "")
        return (
            f"<Figure: {self.description.get('view')} of {title!r}, SVG of {size:.1f} KiB; "
            "save(path), .text, .description>"
        )


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
