"""``tvmdbg explain``: known messages in console output, with their causes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from tvmdbg_widgets.cli.common.dump import print_json, source_of
from tvmdbg_widgets.cli.common.terminal import say
from tvmdbg_widgets.cli.common.verbs import argument, examples, flag, verb

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
        str, argument("[FILE]", "Console output; [bold]-[/] for standard input.")
    ] = "-",
    *,
    places: Annotated[
        bool, typer.Option("--places", help="List the places that know DLDataType instead.")
    ] = False,
    as_json: Annotated[bool, flag("Write JSON.", "--json")] = False,
) -> None:
    """Explain the messages of TVM, ExecuTorch's Inspector and the tuners in console output.

    Gives the cause of a message, how to confirm it, and what to look at next. With
    --places it reads nothing and lists what must change together where DLDataType was changed.
    """
    from tvmdbg_widgets.analysis.explanation import explain as explained
    from tvmdbg_widgets.analysis.explanation import places_lines
    from tvmdbg_widgets.sources.given import as_source

    if places:
        for line in places_lines():
            say(line)
        return
    source = as_source(source_of(file))
    explanation = explained(source.read(0, source.size))
    if as_json:
        print_json(_as_json(explanation))
        return
    for line in explanation.text.splitlines():
        say(line)


def _as_json(explanation: Explanation) -> dict[str, Any]:
    return {
        "lines": explanation.lines,
        "messages": [
            {
                "id": match.message.id,
                **{name: getattr(match, name) for name in ("line", "count", "text")},
                "facts": dict(match.facts),
                "details": list(match.details),
                "versions": match.message.versions,
                "cause": match.message.cause,
                "how_to_confirm": match.message.tell,
                "next": list(match.message.next),
                "source": match.message.source,
            }
            for match in explanation
        ],
        "unknown": [{"line": line, "text": text} for line, text in explanation.unknown],
    }
