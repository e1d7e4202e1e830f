"""A program as flatc prints it, from what our reader found."""

from dataclasses import asdict
from itertools import chain
from typing import Any

from tvmdbg_widgets.model.executorch import program as of
from tvmdbg_widgets.model.executorch.program_instructions import Chain, Instruction, kind_of
from tvmdbg_widgets.model.executorch.scalar_types import RUNTIME
from tvmdbg_widgets.sources.byte_source import ByteSource


def as_flatc(program: of.Program, source: ByteSource) -> dict[str, Any]:
    """Return the program with the keys and the order of values of ``flatc --json``."""
    base = 0 if program.header is None else program.header.segment_base_offset
    return {
        "version": program.version,
        "execution_plan": [_plan(plan) for plan in program.plans],
        "constant_buffer": [{"storage": [*source.read(*span)]} for span in program.constant_buffer],
        "backend_delegate_data": [{"data": [*source.read(*span)]} for span in program.inline_data],
        "segments": [{"offset": at - base, "size": size} for at, size in program.segments],
        "constant_segment": None if program.constants is None else _part(program.constants),
        "mutable_data_segments": [_part(part) for part in program.mutable_data],
        "named_data": [each._asdict() for each in program.named_data],
    }


def _part(part: of.Subsegments) -> dict[str, Any]:
    return {"segment_index": part.segment_index, "offsets": [*part.offsets]}


def _plan(plan: of.Plan) -> dict[str, Any]:
    return {
        "name": plan.name,
        "container_meta_type": {
            "encoded_inp_str": plan.encoded_inputs,
            "encoded_out_str": plan.encoded_outputs,
        },
        "values": [_value(value) for value in plan.values],
        "inputs": [*plan.inputs],
        "outputs": [*plan.outputs],
        "chains": [_chain(each) for each in plan.chains],
        "operators": [each._asdict() for each in plan.operators],
        "delegates": [
            {
                "id": each.id,
                "processed": {"location": of.DataLocation(each.location).name, "index": each.index},
                "compile_specs": [{"key": k, "value": [*value]} for k, value in each.compile_specs],
            }
            for each in plan.delegates
        ],
        "non_const_buffer_sizes": [*plan.buffer_sizes],
        "non_const_buffer_device": [each._asdict() for each in plan.buffer_devices],
    }


def _chain(found: Chain) -> dict[str, Any]:
    return {
        "inputs": [*found.inputs],
        "outputs": [*found.outputs],
        "instructions": [_instruction(each) for each in found.instructions],
        "stacktrace": [{"items": [asdict(each) for each in trace]} for trace in found.stacktraces],
    }


def _instruction(instruction: Instruction) -> dict[str, Any]:
    args = {
        name: [*value] if isinstance(value, tuple) else value
        for name, value in asdict(instruction).items()
    }
    return {"instr_args_type": kind_of(instruction), "instr_args": args}


def _value(value: of.Value) -> dict[str, Any]:
    kind = getattr(value, "kind", of.ValueKind.TENSOR)
    name = of.ValueKind(kind).name.title().replace("_", "")
    held: dict[str, Any] = {}
    match value:
        case of.TensorValue():
            held = _tensor(value)
        case of.ScalarValue():
            held = {f"{name.lower()}_val": value.value}
        case of.ListValue():
            held = {"items": [*value.items]}
    return {"val_type": name, "val": held}


def _tensor(tensor: of.TensorValue) -> dict[str, Any]:
    place, extra = tensor.allocation, tensor.extra
    return {
        "scalar_type": RUNTIME[tensor.scalar_type][0],
        "storage_offset": tensor.storage_offset,
        "sizes": [*tensor.sizes],
        "dim_order": [*tensor.dim_order],
        "requires_grad": tensor.requires_grad,
        "data_buffer_idx": tensor.data_buffer_idx,
        "allocation_info": place
        and {
            "memory_id": place.memory_id,
            "memory_offset_low": place.offset & 0xFFFFFFFF,
            "memory_offset_high": place.offset >> 32,
        },
        "layout": tensor.layout,
        "shape_dynamism": of.ShapeDynamism(tensor.shape_dynamism).name,
        "extra_tensor_info": extra
        and asdict(extra)
        | {
            "location": of.TensorLocation(extra.location).name,
            "device_type": ("CPU", "CUDA")[extra.device_type],
        },
    }


def differences(ours: Any, flatcs: Any, path: str = "") -> list[str]:
    """Return where the two differ; what flatc leaves out must be empty in ours."""
    if isinstance(flatcs, dict) and isinstance(ours, dict):
        more = [f"{path}.{key}" for key in ours.keys() - flatcs.keys() if ours[key]]
        found = [
            differences(ours.get(key), value, f"{path}.{key}") for key, value in flatcs.items()
        ]
        return [*more, *chain.from_iterable(found)]
    if isinstance(flatcs, list) and isinstance(ours, list) and len(flatcs) == len(ours):
        pairs = enumerate(zip(ours, flatcs, strict=True))
        return [*chain.from_iterable(differences(*pair, f"{path}[{at}]") for at, pair in pairs)]
    same = ours == flatcs and isinstance(ours, type(flatcs))
    return [] if same else [f"{path}: {ours!r:.100}, flatc has {flatcs!r:.100}"]
