"""Write the TypeScript types of the views' options: `python -m tests.make.option_types`."""

import json
from pathlib import Path

from tvmdbg_widgets.analysis.node_columns import OWN_COLORS
from tvmdbg_widgets.figures import options as of_figures
from tvmdbg_widgets.model.base.options import ViewOptions, options_of
from tvmdbg_widgets.widgets.comparison import ComparisonOptions
from tvmdbg_widgets.widgets.session import SessionOptions
from tvmdbg_widgets.widgets.tuning import TuningOptions

PATH = Path(__file__).parents[2] / "js/src/shared/client/options.ts"
#: What stands above is written by hand.
MARK = "// Written by tests/make/option_types.py from the options that Python declares.\n"
VIEWS: tuple[type[ViewOptions], ...] = (
    of_figures.GraphOptions,
    of_figures.TensorOptions,
    of_figures.TimelineOptions,
    of_figures.MemoryOptions,
    of_figures.DebuggerOptions,
    ComparisonOptions,
    TuningOptions,
    SessionOptions,
)
_WIDE = 100


def written() -> str:
    """Return the file as it should be."""
    by_hand, _, _ = PATH.read_text("utf-8").partition(MARK)
    colors = "/** What a graph is colored by without asking for a column. */\n"
    colors += f"export const OWN_COLORS: readonly string[] = {json.dumps(OWN_COLORS)};\n"
    return by_hand + MARK + colors + "".join(map(_interface, VIEWS))


def _interface(kind: type[ViewOptions]) -> str:
    """Return one interface; of the debugger, what it has beside the options of its views."""
    bases = [base.__name__ for base in kind.__bases__ if base in VIEWS]
    above = [base for base in kind.__mro__[1:] if base in VIEWS]
    known = {each.name for base in above for each in options_of(base)}
    extends = ", ".join(bases)
    if kind is of_figures.DebuggerOptions:
        above.append(of_figures.TensorOptions)
        known |= {each.name for each in options_of(of_figures.TensorLook)}
        extends += ', Omit<TensorOptions, "show">'
    lines = [f"\nexport interface {kind.__name__}{extends and f' extends {extends}'} {{"]
    own = (each for each in options_of(kind) if each.live and each.name not in known)
    lines += [f"  {each.name}: {each.typescript};" for each in own]
    return "\n".join([*lines, "}", ""])


if __name__ == "__main__":
    PATH.write_text(written(), "utf-8")
