"""The memory plan of a run, as its view takes it."""

from __future__ import annotations

from typing import Any

import numpy as np

from tvmdbg_widgets.analysis.memory.planned import why_not
from tvmdbg_widgets.analysis.memory.sentences import loss_sentences
from tvmdbg_widgets.answers.answering import Context, Reply
from tvmdbg_widgets.answers.messages import Question
from tvmdbg_widgets.model.graph.devices import device_name
from tvmdbg_widgets.model.graph.nodes import roles_text


def memory(context: Context, _question: Question) -> Reply:
    """Answer the plan, or why there is none."""
    why = why_not(context.run.parts)
    if why:
        return Reply({"missing": why})
    plan = context.run.memory_plan()
    planned = plan.graph.planned_memory
    lost = np.array([(*each.entry, each.writer, each.reader) for each in plan.losses], np.int32)
    lost = lost.reshape(-1, 4)
    columns: dict[str, Any] = {
        "order": plan.order,
        "live": plan.live.astype(np.float64),
        "entryBytes": plan.entry_bytes.astype(np.float64),
        "entrySlot": plan.entry_slot,
        "first": plan.first,
        "last": plan.last,
        "slotStorage": plan.slot_storage_ids,
        "slotDevice": plan.slot_devices,
        "slotBytes": plan.slot_bytes.astype(np.float64),
        "slotParameter": plan.slot_is_parameter,
        "slotBuffer": plan.slot_buffers,
        "slotOffset": plan.slot_offsets.astype(np.float64),
        "lostNode": lost[:, 0],
        "lostOutput": lost[:, 1],
        "lostWriter": lost[:, 2],
        "lostReader": lost[:, 3],
    }
    info = {
        "said": plan.said,
        "wrong": loss_sentences(plan),
        "allocated": plan.allocated,
        "parameters": plan.parameter_bytes,
        "roles": roles_text(plan.graph),
        "buffers": 0 if planned is None else planned.num_buffers,
        "peak": plan.peak.bytes,
        "peakNodes": list(plan.peak.nodes),
        "devices": {
            str(each): device_name(each)
            for each in np.unique(plan.slot_devices).tolist()
            if each >= 0
        },
    }
    return Reply.of("memory", columns, info)
