"""A picture of a run that needs no browser and no script."""

from __future__ import annotations

import html
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

from tvmdbg_widgets.model.base.writing import replacing

#: Characters of one output in a saved notebook.
_MOST_OF_A_CELL = 100_000
#: Characters that may stand in a data URL inside double quotes as they are.
_PLAIN_IN_A_URL = " =:/;,.()!*'"


class Hover(NamedTuple):
    """A part of a picture, and what is said where the pointer rests there."""

    x: float
    y: float
    width: float
    height: float
    text: str

    @property
    def html(self) -> str:
        """A transparent element over an image."""
        place = ("left", self.x), ("top", self.y), ("width", self.width), ("height", self.height)
        style = ";".join(f"{name}:{100 * share:.2f}%" for name, share in place)
        title = html.escape(self.text, quote=True)
        return f'<span title="{title}" style="position:absolute;{style}"></span>'


@dataclass(frozen=True)
class Figure:
    """One view as a static picture, as text, and as the facts behind both.

    Attributes
    ----------
    svg : str
        A complete SVG document without scripts or references to other files.
    text : str
        The same to be read without a picture.
    description : dict
        What is shown, as JSON: the same nodes, order, labels, kinds and numbers as in
        the live view.
    hover : tuple of Hover
        What is said where the pointer rests, where the picture has such places.
    """

    svg: str
    text: str
    description: dict[str, Any]
    hover: tuple[Hover, ...] = ()

    @property
    def html(self) -> str:
        """The picture as an image element.

        JupyterLab takes inline SVG out of a notebook it does not trust, and leaves its words; of an
        image map it takes the name. It leaves the elements that lie over the picture here.
        """
        # A quotation mark in the attribute would take three characters.
        data = quote(self.svg.replace('"', "'"), safe=_PLAIN_IN_A_URL)
        title = html.escape(str(self.description.get("title", "")), quote=True)
        source = f'alt="{title}" src="data:image/svg+xml,{data}"'
        if not self.hover:
            return f"<img {source}>"
        image = f'<img style="display:block" {source}>'
        over = "".join(each.html for each in self.hover)
        return f'<div style="position:relative;display:inline-block">{image}{over}</div>'

    def bundle(self, text: str, more_html: str = "") -> dict[str, str]:
        """Return the picture as outputs of a notebook cell, with more HTML below it.

        The SVG goes beside the HTML, for sites that show no HTML, where both together take no more
        than a cell should.
        """
        found = {"text/plain": text, "text/html": self.html + more_html}
        if sum(map(len, found.values())) + len(self.svg) <= _MOST_OF_A_CELL:
            found["image/svg+xml"] = self.svg
        return found

    def _repr_mimebundle_(self, **_kwargs: Any) -> dict[str, str]:
        return {"text/plain": self.text, "text/html": self.html, "image/svg+xml": self.svg}

    def png(self, scale: float = 2) -> bytes:
        """Return the picture as PNG; it needs ``pip install "tvmdbg-widgets[png]"``.

        A figure of ``theme="auto"`` is drawn light.

        Parameters
        ----------
        scale : float
            Pixels for one px: 2 gives a figure of width 720 a picture 1,440 pixels wide.

        Raises
        ------
        ImportError
            The rasteriser is not installed.
        RuntimeError
            None of the fonts is installed: the picture would have no text.
        ValueError
            The scale is no positive number, or gives more than 100 million pixels.

        Warns
        -----
        UserWarning
            No installed font has some of the characters.
        """
        from tvmdbg_widgets.figures.raster import rasterise

        return rasterise(self.svg, scale)

    def svg_file(self) -> bytes:
        """Return the picture as the bytes of an ``.svg`` file."""
        return f'<?xml version="1.0" encoding="UTF-8"?>\n{self.svg}\n'.encode()

    def save(self, path: str | os.PathLike[str], scale: float | None = None) -> Path:
        """Write the picture to a file; an existing one is replaced whole or not at all.

        Parameters
        ----------
        path
            Ends in ``.svg`` or ``.png``.
        scale : float or None
            Of a PNG, pixels for one px: 2 where left out.

        Raises
        ------
        ValueError
            For another ending, or a scale for an SVG, which has none.
        ImportError, RuntimeError
            As :meth:`png`.
        OSError
            The folder is missing or cannot be written to.
        """
        target = Path(path)
        ending = target.suffix.lower()
        if ending == ".png":
            data = self.png(2 if scale is None else scale)
        elif ending == ".svg":
            if scale is not None:
                raise ValueError("an SVG is drawn at any size; scale is for .png")
            data = self.svg_file()
        else:
            raise ValueError(f"a figure is saved as .svg or .png, found {target.name!r}")
        with replacing(target) as file:
            file.write(data)
        return target

    def __repr__(self) -> str:
        size = len(self.svg.encode()) / 1024
        title = self.description.get("title", "")
        return (
            f"<Figure: {self.description.get('view')} of {title!r}, SVG of {size:.1f} KiB; "
            "save(path), .png(scale), .text, .description>"
        )
