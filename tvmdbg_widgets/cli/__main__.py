"""``python -m tvmdbg_widgets.cli``, where no script is on the path."""

from __future__ import annotations

from tvmdbg_widgets.cli import main

main()
