"""Names of Vulkan's shaders in events, with the meaning of their parts."""

from __future__ import annotations

import json
import re
from typing import Any, Final, NamedTuple

from tvmdbg_widgets.model.base.text import paired_json
from tvmdbg_widgets.model.executorch.etrecord import PHASES

#: Longer texts are not read; an operator of 20 tensors has 3,000 letters.
_LONGEST: Final = 200_000


_SHOWN_vulkan_names, _MOST_ARGUMENTS, _MOST_SIZES = 120, 12, 8


#: A double that is not finite is written as C++ prints it, which JSON has no word for.
_NOT_FINITE: Final = re.compile(r'("value": )-?(?:inf|nan)(?=[,}])')


_SHADER: Final = re.compile(r"(?P<kernel>[A-Za-z]\w{0,199})_(?P<id>\d{1,9})")


class Dispatch(NamedTuple):
    """What the name of an event says of a dispatch; None for what it does not say.

    The operator of a staging dispatch, which copies inputs or outputs, is the last one before it.
    """

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
    """Return what the JSON text of an event says, None where it is no such text."""
    found = _decoded(name)
    return None if found is None else found[0]


def is_shader(name: str) -> bool:
    """Whether a name is of a release before 1.1: a shader and a number, without an operator."""
    return _SHADER.fullmatch(name) is not None


def event_title(name: str) -> str:
    """Return what an event of a delegate is called on screen; other names stay as they are.

    ``"aten.convolution.default · conv2d_dw_output_tile #12"`` is a dispatch of Vulkan.
    """
    found = read_name(name)
    if found is None:
        return name
    title = _cut(found.kernel)
    if _stages(found.kernel):
        title = f"staging · {title}"
    elif found.operator is not None:
        title = f"{_cut(found.operator)} · {title}"
    return title if found.dispatch_id is None else f"{title} #{found.dispatch_id}"


def explain_name(name: str) -> tuple[tuple[str, str], ...]:
    """Return the parts of an event's name, each with what it means."""
    if name in PHASES:
        return ((name, PHASES[name]),)
    found = _decoded(name)
    if found is None:
        shader = _SHADER.fullmatch(name)
        if shader is None:
            return ()
        return ((shader["kernel"], "shader"), (shader["id"], "number of the dispatch"))
    dispatch, arguments = found
    parts = [(_cut(dispatch.kernel), "shader")]
    if dispatch.stages:
        parts = [(parts[0][0], "shader that copies an input or output of the delegate")]
    elif dispatch.operator is not None:
        parts.insert(0, (_cut(dispatch.operator), "operator of the delegate's graph"))
        if told := _arguments(arguments):
            parts.append(("arguments", told))
    if dispatch.dispatch_id is not None:
        parts.append((f"#{dispatch.dispatch_id}", "number of the dispatch in the delegate"))
    return tuple(parts)


def _decoded(name: str) -> tuple[Dispatch, list[Any]] | None:
    """Return what a JSON text says and the arguments of its operator, None where it is none."""
    if not name.startswith("{") or len(name) > _LONGEST:
        return None
    try:
        told = json.loads(_NOT_FINITE.sub(r"\1null", paired_json(name)[0]))
    except (ValueError, RecursionError):
        return None
    kernel, operator = told.get("kernel_name"), told.get("operator")
    ids = _number(told, "operator_id"), _number(told, "dispatch_id")
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


def _number(told: dict[str, Any], name: str) -> int | None:
    """Return an unsigned number of 32 bits, None where there is none, -1 where it is another."""
    found = told.get(name)
    if found is None:
        return None
    return found if type(found) is int and 0 <= found < 1 << 32 else -1


def _arguments(found: list[Any]) -> str:
    """Return tensors and numbers among the arguments of an operator, in short."""
    if not all(isinstance(each, dict) for each in found):
        return ""
    told = [_argument(each) for each in found[:_MOST_ARGUMENTS]]
    more = len(found) - len(told)
    return ", ".join([*told, f"{more} more"] if more else told)


def _argument(each: dict[str, Any]) -> str:
    sizes, values, value = each.get("sizes"), each.get("values"), each.get("value")
    if isinstance(sizes, list):
        where = f" in {_cut(str(each['storage']))}" if each.get("storage") else ""
        return f"{_cut(str(each.get('dtype', '')))} {_listed(sizes)}{where}"
    if isinstance(values, list):
        return _listed(values)
    return _cut(str(each.get("type", "") if value is None else value))


def _listed(numbers: list[Any]) -> str:
    more = ", …" if len(numbers) > _MOST_SIZES else ""
    return f"[{', '.join(_cut(str(each)) for each in numbers[:_MOST_SIZES])}{more}]"


def _stages(kernel: str) -> bool:
    return "nchw_to_" in kernel or "_to_nchw" in kernel


def _cut(text: str) -> str:
    return text if len(text) <= _SHOWN_vulkan_names else text[: _SHOWN_vulkan_names - 1] + "…"
