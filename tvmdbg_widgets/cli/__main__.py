"""``python -m tvmdbg_widgets.cli``, for installations without scripts on the path."""

from __future__ import annotations

from tvmdbg_widgets.cli import main

main()
