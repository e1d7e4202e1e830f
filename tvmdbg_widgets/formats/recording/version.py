"""What every file of a recording starts with: its format and version."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tvmdbg_widgets.model.base.errors import FormatError

if TYPE_CHECKING:
    from tvmdbg_widgets.formats.json_fields import Fields


def require_version(top: Fields, form: str, version: int) -> None:
    """Raise FormatError unless the document is of this format, and of a version known here."""
    if top.text("format") != form:
        raise FormatError(
            "this is another kind of file",
            file=top.file,
            field="format",
            expected=repr(form),
            found=repr(top.text("format")),
        )
    if top.integer("version") > version:
        raise FormatError(
            "this file is of a newer version",
            file=top.file,
            field="version",
            expected=f"at most {version}",
            found=top.integer("version"),
            hint="Update tvmdbg-widgets: pip install --upgrade tvmdbg-widgets.",
        )
