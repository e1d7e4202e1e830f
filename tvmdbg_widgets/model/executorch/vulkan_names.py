"""Names that Vulkan's delegate gives its events: texts of JSON, words for phases, shaders.

Since ExecuTorch 1.1 a dispatch is ``{"operator": {"name": …, "args": […]}, "kernel_name": …,
"operator_id": …, "dispatch_id": …}``; before, ``kernel_name_3``
(``backends/vulkan/runtime/VulkanBackend.cpp``, ``graph/ops/DispatchNode.cpp``,
``graph/Logging.cpp``).
"""

from __future__ import annotations

import re
from typing import Annotated, Final, NamedTuple

import msgspec

#: Longer texts are not read; an operator of 20 tensors has 3,000 letters.
_LONGEST: Final = 200_000
_SHOWN, _MOST_ARGUMENTS, _MOST_SIZES = 120, 12, 8
#: A double that is not finite is written as C++ prints it, which JSON has no word for.
_NOT_FINITE: Final = re.compile(r'("value": )-?(?:inf|nan)(?=[,}])')
_SHADER: Final = re.compile(r"(?P<kernel>[A-Za-z]\w{0,199})_(?P<id>\d{1,9})")

#: What the runtime times around the dispatches: the first holds the others.
PHASES: Final = {
    "ETVK_EXECUTE": "the whole call, which holds the other phases",
    "ETVK_COPY_INPUTS": "inputs are copied to where the GPU reads them",
    "ETVK_RESIZE": "sizes of tensors are set anew",
    "ETVK_COMPUTE_GRAPH_EXECUTE": "the GPU runs the graph, and the CPU waits for it",
    "ETVK_COPY_OUTPUTS": "outputs are copied from where the GPU wrote them",
}

_Number = Annotated[int, msgspec.Meta(ge=0, lt=2**32)]


class _Argument(msgspec.Struct, gc=False):
    type: str = ""
    dtype: str = ""
    sizes: list[int] | None = None
    storage: str = ""
    value: int | float | None = None
    values: list[int] | None = None


class _Operator(msgspec.Struct, gc=False):
    name: str
    delegate_node_id: _Number | None = None
    args: msgspec.Raw = msgspec.Raw(b"[]")


class _Dispatch(msgspec.Struct, gc=False):
    kernel_name: str
    operator: _Operator | None = None
    operator_id: _Number | None = None
    dispatch_id: _Number | None = None


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
    if found is None:
        return None
    operator, node_id = None, None
    if found.operator is not None:
        operator, node_id = found.operator.name, found.operator.delegate_node_id
    return Dispatch(found.kernel_name, operator, node_id, found.operator_id, found.dispatch_id)


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
    parts = [(_cut(found.kernel_name), "shader")]
    if _stages(found.kernel_name):
        parts = [(parts[0][0], "shader that copies an input or output of the delegate")]
    elif found.operator is not None:
        parts.insert(0, (_cut(found.operator.name), "operator of the delegate's graph"))
        told = _arguments(found.operator.args)
        if told:
            parts.append(("arguments", told))
    if found.dispatch_id is not None:
        parts.append((f"#{found.dispatch_id}", "number of the dispatch in the delegate"))
    return tuple(parts)


def _decoded(name: str) -> _Dispatch | None:
    if not name.startswith("{") or len(name) > _LONGEST:
        return None
    try:
        return msgspec.json.decode(_NOT_FINITE.sub(r"\1null", name), type=_Dispatch)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return None


def _arguments(raw: msgspec.Raw) -> str:
    """Return tensors and numbers among the arguments of an operator, in short."""
    try:
        found = msgspec.json.decode(raw, type=list[_Argument])
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return ""
    told = [_argument(each) for each in found[:_MOST_ARGUMENTS]]
    more = len(found) - len(told)
    return ", ".join([*told, f"{more} more"] if more else told)


def _argument(each: _Argument) -> str:
    if each.sizes is not None:
        where = f" in {_cut(each.storage)}" if each.storage else ""
        return f"{_cut(each.dtype)} {_listed(each.sizes)}{where}"
    if each.values is not None:
        return _listed(each.values)
    return _cut(each.type) if each.value is None else str(each.value)


def _listed(numbers: list[int]) -> str:
    more = ", …" if len(numbers) > _MOST_SIZES else ""
    return f"[{', '.join(map(str, numbers[:_MOST_SIZES]))}{more}]"


def _stages(kernel: str) -> bool:
    return "nchw_to_" in kernel or "_to_nchw" in kernel


def _cut(text: str) -> str:
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"
