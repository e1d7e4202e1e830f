"""Names of Vulkan's shaders in events, with the meaning of their parts."""

from __future__ import annotations

import json
import re
from typing import Any, Final, NamedTuple

from tvmdbg_widgets.model.base.text import cut, paired_json

#: Longest text; an operator of 20 tensors has 3,000 letters.
_LONGEST: Final = 200_000
_SHOWN, _MOST_ARGUMENTS, _MOST_SIZES = 120, 12, 8
#: Infinite doubles and NaN as C++ prints them, which JSON lacks.
_NOT_FINITE: Final = re.compile(r'("value": )-?(?:inf|nan)(?=[,}])')
_SHADER: Final = re.compile(r"(?P<kernel>[A-Za-z]\w{0,199})_(?P<id>\d{1,9})")
#: Timed phases around the dispatches: the first holds the others.
PHASES: Final = {
    "ETVK_EXECUTE": "the whole call, which holds the other phases",
    "ETVK_COPY_INPUTS": "inputs are copied to where the GPU reads them",
    "ETVK_RESIZE": "tensors are resized",
    "ETVK_COMPUTE_GRAPH_EXECUTE": "the GPU runs the graph, and the CPU waits for it",
    "ETVK_COPY_OUTPUTS": "outputs are copied from where the GPU wrote them",
}


class Dispatch(NamedTuple):
    """The parsed name of a dispatch's event; missing parts are None."""

    kernel: str
    operator: str | None
    node_id: int | None
    operator_id: int | None
    dispatch_id: int | None

    @property
    def stages(self) -> bool:
        """Whether the shader copies between the GPU's tensors and the program's."""
        return _stages(self.kernel)


def read_name(name: str) -> Dispatch | None:
    """Return the dispatch in the JSON text of an event, or None."""
    decoded = _decoded(name)
    return None if decoded is None else decoded[0]


def is_shader(name: str) -> bool:
    """Return whether a name is a shader and a number without an operator, as before release 1.1."""
    return _SHADER.fullmatch(name) is not None


def event_title(name: str) -> str:
    """Return a delegate's event's title: ``"aten.convolution.default · conv2d_dw #12"``."""
    dispatch = read_name(name)
    if dispatch is None:
        return name
    title = _cut(dispatch.kernel)
    if _stages(dispatch.kernel):
        title = f"staging · {title}"
    elif dispatch.operator is not None:
        title = f"{_cut(dispatch.operator)} · {title}"
    return title if dispatch.dispatch_id is None else f"{title} #{dispatch.dispatch_id}"


def explain_name(name: str) -> tuple[tuple[str, str], ...]:
    """Return the parts of an event's name with their meaning."""
    if name in PHASES:
        return ((name, PHASES[name]),)
    decoded = _decoded(name)
    if decoded is None:
        shader = _SHADER.fullmatch(name)
        if shader is None:
            return ()
        return ((shader["kernel"], "shader"), (shader["id"], "number of the dispatch"))
    dispatch, arguments = decoded
    parts = [(_cut(dispatch.kernel), "shader")]
    if dispatch.stages:
        parts = [(parts[0][0], "shader that copies an input or output of the delegate")]
    elif dispatch.operator is not None:
        parts.insert(0, (_cut(dispatch.operator), "operator of the delegate's graph"))
        if texts := _arguments(arguments):
            parts.append(("arguments", texts))
    if dispatch.dispatch_id is not None:
        parts.append((f"#{dispatch.dispatch_id}", "number of the dispatch in the delegate"))
    return tuple(parts)


def _decoded(name: str) -> tuple[Dispatch, list[Any]] | None:
    """Return the dispatch in a JSON text and its operator's arguments, or None."""
    if not name.startswith("{") or len(name) > _LONGEST:
        return None
    try:
        fields = json.loads(_NOT_FINITE.sub(r"\1null", paired_json(name)[0]))
    except (ValueError, RecursionError):
        return None
    kernel, operator = fields.get("kernel_name"), fields.get("operator")
    ids = _number(fields, "operator_id"), _number(fields, "dispatch_id")
    if not isinstance(kernel, str) or -1 in ids:
        return None
    if operator is None:
        return Dispatch(kernel, None, None, *ids), []
    if not isinstance(operator, dict) or not isinstance(operator.get("name"), str):
        return None
    node = _number(operator, "delegate_node_id")
    arguments = operator.get("args")
    if node == -1:
        return None
    return Dispatch(kernel, operator["name"], node, *ids), (
        arguments if isinstance(arguments, list) else []
    )


def _number(fields: dict[str, Any], name: str) -> int | None:
    """Return an unsigned 32-bit number, None if missing, -1 for others."""
    number = fields.get(name)
    if number is None:
        return None
    return number if type(number) is int and 0 <= number < 1 << 32 else -1


def _arguments(arguments: list[Any]) -> str:
    """Return tensors and numbers among an operator's arguments, in short."""
    if not all(isinstance(argument, dict) for argument in arguments):
        return ""
    texts = [_argument(argument) for argument in arguments[:_MOST_ARGUMENTS]]
    more = len(arguments) - len(texts)
    return ", ".join([*texts, f"{more} more"] if more else texts)


def _argument(argument: dict[str, Any]) -> str:
    sizes, values, value = argument.get("sizes"), argument.get("values"), argument.get("value")
    if isinstance(sizes, list):
        where = f" in {_cut(str(argument['storage']))}" if argument.get("storage") else ""
        return f"{_cut(str(argument.get('dtype', '')))} {_listed(sizes)}{where}"
    if isinstance(values, list):
        return _listed(values)
    return _cut(str(argument.get("type", "") if value is None else value))


def _listed(numbers: list[Any]) -> str:
    more = ", …" if len(numbers) > _MOST_SIZES else ""
    return f"[{', '.join(_cut(str(number)) for number in numbers[:_MOST_SIZES])}{more}]"


def _stages(kernel: str) -> bool:
    return "nchw_to_" in kernel or "_to_nchw" in kernel


def _cut(text: str) -> str:
    return cut(text, _SHOWN)
