"""``tvmdbg compare``: what differs between two runs."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tvmdbg_widgets.cli.dump import Named
from tvmdbg_widgets.cli.examples import examples
from tvmdbg_widgets.cli.failures import FOUND, verb

if TYPE_CHECKING:
    from tvmdbg_widgets.analysis.compare import Comparison

EXAMPLES = examples(
    ("What another optimisation level changed", "tvmdbg compare /tmp/tvmdbg_o0 /tmp/tvmdbg_o3"),
    ("In a pipeline: the same graph as before", "tvmdbg compare before after --fail-on structure"),
    ("For another program", "tvmdbg compare before after --json | jq '.differences[]'"),
)


class FailOn(StrEnum):
    """What makes the status 1."""

    ANY = "any"
    STRUCTURE = "structure"


@verb
def compare(
    a: Annotated[str, typer.Argument(metavar="A", help="A folder the debugger wrote, or a file.")],
    b: Annotated[str, typer.Argument(metavar="B", help="What it is compared with.")],
    *,
    fail_on: Annotated[
        FailOn | None,
        typer.Option(
            "--fail-on",
            help="Exit with status 1 if anything but times differs; 'structure': nodes, operators, "
            "wiring, dtypes or shapes.",
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", metavar="", help="Write JSON.")] = False,
) -> None:
    """Tell which nodes of two graphs stand for each other, how sure that is, and what differs.

    The runs may be of other releases, precisions, layouts or optimisation levels. Times are two
    numbers, the largest differences first; whether they are more than noise is not said.
    """
    import tvmdbg_widgets as tvmdbg

    found = tvmdbg.compare(Named([a]).open(), Named([b]).open())
    if as_json:
        from tvmdbg_widgets.cli.json_text import json_text

        print(json_text(_record(found)))
    else:
        print(found)
    if fail_on is not None and _differs(found, fail_on):
        raise typer.Exit(FOUND)


def _differs(found: Comparison, fail_on: FailOn) -> bool:
    from tvmdbg_widgets.analysis.differences import DifferenceKind

    last = DifferenceKind.SHAPE if fail_on is FailOn.STRUCTURE else DifferenceKind.STORAGE
    return any(each.kind <= last for each in found)


def _record(found: Comparison) -> dict[str, Any]:
    return {
        "a": found.titles[0],
        "b": found.titles[1],
        "matched": found.matching.counts(),
        "pairs": [
            {
                "a": each.a,
                "b": each.b,
                "certainty": each.certainty.label,
                "reason": each.reason.label,
            }
            for each in found.matching
        ],
        "only_a": found.matching.only_a.tolist(),
        "only_b": found.matching.only_b.tolist(),
        "differences": [
            {
                "kind": each.kind.label,
                "a": each.a if each.a >= 0 else None,
                "b": each.b if each.b >= 0 else None,
                "what": each.what,
                "in_a": each.in_a,
                "in_b": each.in_b,
            }
            for each in found
        ],
    }
