"""``tvmdbg memory``: peak memory and the outputs that share a slot."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from tvmdbg_widgets.cli.common.dump import NamedRun, of_run, print_json
from tvmdbg_widgets.cli.common.terminal import note, paragraph, say, styled
from tvmdbg_widgets.cli.common.verbs import UsageError, examples, flag
from tvmdbg_widgets.model.base.numbers import bytes_text, counted

if TYPE_CHECKING:
    from tvmdbg_widgets.analysis.memory.planned import MemoryPlan

EXAMPLES = examples(
    ("Peak memory, what makes it, and what shares memory", "tvmdbg memory /tmp/tvmdbg"),
    ("From a graph alone", "tvmdbg memory graph.json"),
    ("Of an ExecuTorch program", "tvmdbg memory model.pte --method forward"),
    ("For another program", "tvmdbg memory /tmp/tvmdbg --json | jq '.peak'"),
)
_SLOTS = 10


@of_run
def memory(
    named: NamedRun, *, as_json: Annotated[bool, flag("Write JSON.", "--json")] = False
) -> None:
    """Show the memory plan of a run: the peak, what makes it, and which outputs share a slot.

    Computed from the graph's storage ids, shapes and dtypes, or from the buffers that an
    ExecuTorch program plans; no tensor is read.
    """
    run = named.open()
    try:
        plan = run.memory_plan()
    except ValueError as problem:
        raise UsageError("this run has no memory plan", str(problem)) from None
    if as_json:
        print_json(_as_json(run.title, plan))
        return
    say(styled(run.title, "bold"))
    for line in plan.text.splitlines():
        paragraph(line, indent=2, more=2)
    _tell_slots(plan)


def _tell_slots(plan: MemoryPlan) -> None:
    rows = plan.largest_slots(_SLOTS)
    if not rows:
        return
    say()
    say(styled("Largest slots", "bold"))
    for row in rows:
        slot = plan.slots[row]
        held = counted(len(slot.entries), "entry")
        say(f"  {bytes_text(slot.bytes):>24}  ", styled(f"{slot.place}, {held}", "dim"))
    more = int((~plan.slot_is_parameter).sum()) - len(rows)
    if more > 0:
        note(f"  {counted(more, 'smaller slot')}: tvmdbg memory --json")


def _as_json(title: str, plan: MemoryPlan) -> dict[str, Any]:
    from tvmdbg_widgets.model.graph.nodes import roles_text

    return {
        "run": title,
        "allocated": plan.allocated,
        "parameters": plan.parameter_bytes,
        "roles": roles_text(plan.graph) or None,
        "credible": plan.credibility.value,
        "peak": {
            "bytes": plan.peak.bytes,
            "nodes": plan.peak.nodes,
            "entries": [
                {"node": entry.entry.node, "output": entry.entry.output, "bytes": entry.bytes}
                for entry in plan.peak.entries
            ],
        },
        "least": plan.least,
        "unknown_sizes": plan.unknown_sizes,
        "unplaced": plan.unplaced,
        "slots": [
            {
                "storage_id": slot.storage_id,
                "device": None if slot.device < 0 else slot.device,
                **{name: getattr(slot, name) for name in ("bytes", "is_parameter", "entries")},
                **({} if slot.buffer < 0 else {"buffer": slot.buffer, "offset": slot.offset}),
            }
            for slot in plan.slots
        ],
        "lost": [
            {
                "entry": loss.entry,
                "writer": loss.writer,
                "reader": None if loss.reader < 0 else loss.reader,
            }
            for loss in plan.losses
        ],
    }
