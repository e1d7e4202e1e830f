"""``tvmdbg explain``: console output in, what is known about its messages out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from tvmdbg_widgets.cli.common.dump import print_json
from tvmdbg_widgets.cli.common.terminal import examples, say, verb

if TYPE_CHECKING:
    from tvmdbg_widgets.analysis.explanation import Explanation

EXAMPLES = examples(
    ("What a failed run printed", "tvmdbg explain < log.txt"),
    ("As it fails", "python run.py 2>&1 | tvmdbg explain"),
    ("Where DLDataType was changed", "tvmdbg explain --places"),
    ("For another program", "tvmdbg explain log.txt --json | jq '.messages[].cause'"),
)


@verb
def explain(
    file: Annotated[
        str,
        typer.Argument(metavar="[FILE]", help="Console output; [bold]-[/] for standard input."),
    ] = "-",
    *,
    places: Annotated[
        bool, typer.Option("--places", help="List the places that know DLDataType instead.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", metavar="", help="Write JSON.")] = False,
) -> None:
    """Explain the messages of TVM, ExecuTorch's Inspector and the tuners in console output.

    Says of each what causes it, how to tell it from its neighbors, and what to look at next. With
    --places it reads nothing and lists what must change together where DLDataType was changed.
    """
    from tvmdbg_widgets.analysis.explanation import explain as explained
    from tvmdbg_widgets.analysis.explanation import places_lines
    from tvmdbg_widgets.cli.common.dump import source_of
    from tvmdbg_widgets.sources.given import as_source

    if places:
        for line in places_lines():
            say(line)
        return
    source = as_source(source_of(file))
    found = explained(source.read(0, source.size))
    if as_json:
        print_json(_as_json(found))
        return
    for line in found.text.splitlines():
        say(line)


def _as_json(found: Explanation) -> dict[str, Any]:
    return {
        "lines": found.lines,
        "messages": [
            {
                "id": each.message.id,
                "line": each.line,
                "count": each.count,
                "text": each.text,
                "facts": dict(each.facts),
                "details": list(each.details),
                "versions": each.message.versions,
                "cause": each.message.cause,
                "how_to_tell": each.message.tell,
                "next": list(each.message.next),
                "source": each.message.source,
            }
            for each in found
        ],
        "unknown": [{"line": line, "text": text} for line, text in found.unknown],
    }
