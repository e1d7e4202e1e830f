"""``tvmdbg summary``: the run in a few lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tvmdbg_widgets.cli.common.dump import NamedRun, of_run
from tvmdbg_widgets.cli.common.findings import print_issues
from tvmdbg_widgets.cli.common.terminal import (
    for_shell,
    is_terminal,
    note,
    paragraph,
    say,
    shortened,
    styled,
    width,
)
from tvmdbg_widgets.cli.common.verbs import examples
from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.base.text import one_line

if TYPE_CHECKING:
    from tvmdbg_widgets.run import DebugRun

_MOST_DELEGATES = 8
EXAMPLES = examples(
    ("Contents, slowest operators, issues", "tvmdbg summary /tmp/tvmdbg"),
    ("Files instead of a folder", "tvmdbg summary graph.json output_tensors.params"),
    ("ExecuTorch's files", "tvmdbg summary etdump.etdp etrecord.bin debug_buffer.bin"),
    ("From a pipe", "ssh board cat /tmp/tvmdbg/graph.json | tvmdbg summary -"),
)


@of_run
def summary(named: NamedRun) -> None:
    """Summarize a run: contents, slowest operators, issues."""
    from tvmdbg_widgets.analysis.summary import missing
    from tvmdbg_widgets.analysis.times.operator_rows import operators

    run = named.open()
    say(styled(run.title, "bold"), styled(f"  {run.provenance.format}", "dim"))
    for name, part in (("graph", run.graph), ("tensors", run.tensors), ("timeline", run.timeline)):
        text = "missing" if part is None else repr(part).splitlines()[0].partition(": ")[2]
        paragraph(text, label=f"{name:<9}", label_styles=("dim",), indent=2)
    delegation = run.parts.executorch.delegation if run.parts.executorch is not None else None
    if delegation is not None:
        say("  ", styled("delegation ", "dim"), delegation.title)
        for line in repr(delegation).splitlines()[1:]:
            say("           ", styled(line))
    for line in _delegates(run):
        say("  ", styled("delegate ", "dim"), line)
    slowest = operators(run.parts, top=5)
    if len(slowest):
        say()
        say(styled("Slowest", "bold"))
        names = _shortened([row.title for row in slowest])
        for row, name in zip(slowest, names, strict=True):
            time, share = row.time_text, row.share_text
            say(f"  {time:>9}  {share:>7}  ", styled(name), styled(row.owner, "dim"))
    say()
    issues = run.check()
    say(styled("Checks", "bold"), styled(f"  {issues.summary()}", "dim"))
    print_issues(issues[:5])
    if len(issues) > 5:
        note(f"  {len(issues) - 5} more: tvmdbg check")
    for hint in missing(run.parts).values():
        note(for_shell(hint))


def _delegates(run: DebugRun) -> list[str]:
    """Return the payloads of delegate calls in the program."""
    from tvmdbg_widgets.model.executorch.event_nodes import call_titles

    files = run.parts.executorch
    held = [] if files is None else list(files.insides.of(files.method).values())
    titles = call_titles({call.at: call.delegate.id for call in held})
    lines = [one_line(f"{titles[call.at]}: {call.payload}") for call in held[:_MOST_DELEGATES]]
    more = len(held) - len(lines)
    return [*lines, f"{counted(more, 'more call')} of delegates"] if more else lines


def _shortened(names: list[str]) -> list[str]:
    import sys

    from rich.cells import cell_len, set_cell_size

    clean = [one_line(name) for name in names]
    if not is_terminal(sys.stdout):
        return clean
    fitting = [shortened(name, width(sys.stdout) - 34) for name in clean]
    longest = max(map(cell_len, fitting))
    return [set_cell_size(name, longest) for name in fitting]
