"""``tvmdbg extract``: some nodes of a run as a small dump."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from tvmdbg_widgets.cli.common.dump import NamedRun, of_run, several_nodes
from tvmdbg_widgets.cli.common.terminal import note, say
from tvmdbg_widgets.cli.common.verbs import examples, flag, option
from tvmdbg_widgets.model.base.numbers import agree, counted

EXAMPLES = examples(
    (
        "The node that overflows, and its neighbors",
        "tvmdbg extract /tmp/tvmdbg --nodes 38 --hops 1 -o mini/",
    ),
    ("Ids, names and ranges (30 to 39)", "tvmdbg extract DUMP --nodes 38,conv2d_3,30:40 -o mini/"),
    ("Look at what you attach", "tvmdbg check mini/ && tvmdbg show mini/"),
)


@of_run
def extract(
    named: NamedRun,
    nodes: Annotated[
        str, option("LIST", "Node ids, names and ranges: 38,conv2d_3,30:40 (40 is excluded).")
    ],
    output: Annotated[Path, option("FOLDER", "Output folder, such as mini/", "-o", "--output")],
    *,
    hops: Annotated[int, option("N", "Also keep nodes up to N edges away.", min=0)] = 0,
    parameters: Annotated[bool, flag("Include the values of parameters.", "--parameters")] = False,
) -> None:
    """Extract some nodes of a run as a small dump that opens like any other.

    Values that the nodes read from others become inputs, with bit-exact values. Times and names are
    kept; nodes are renumbered, and README.txt in the folder maps new ids to old ones. Values of
    parameters are excluded unless you ask for them.
    """
    from tvmdbg_widgets.export.extract import extract as take

    run = named.open()
    made = take(run.parts, several_nodes(run, nodes), output, hops=hops, parameters=parameters)
    say(str(output))
    size = sum(path.stat().st_size for path in made.path.rglob("*") if path.is_file())
    note(
        f"{counted(len(made.nodes), 'node')}, {counted(len(made.inputs), 'output')} of others as "
        f"inputs, {counted(size, 'byte')}"
    )
    left = len(made.parameters_left_out)
    if left:
        note(
            f"The values of {counted(left, 'parameter')} {agree(left, 'is')} left out "
            "(--parameters takes them)."
        )
    for text in made.notes[:5]:
        note(text)
    if len(made.notes) > 5:
        note(
            f"{counted(len(made.notes) - 5, 'more remark')} {agree(len(made.notes) - 5, 'is')} in "
            "README.txt"
        )
