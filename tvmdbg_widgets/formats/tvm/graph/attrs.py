"""The attributes of a node in a graph file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tvmdbg_widgets.formats.tvm.graph.log import shown
from tvmdbg_widgets.model.base.issues import Severity

if TYPE_CHECKING:
    from tvmdbg_widgets.formats.tvm.graph.log import GraphLog

_REQUIRED_ATTRS = ("func_name", "num_inputs", "num_outputs", "flatten_data")
_UNKNOWN = -1
#: More inputs or outputs than that no graph has.
_MOST_DIGITS = 9


def string_attrs(nid: int, attrs: Any, log: GraphLog) -> dict[str, str]:
    """Return the attributes of a node, those that are no strings as text."""
    if not isinstance(attrs, dict):
        log.add(
            "node-attrs",
            f"nodes[{nid}].attrs",
            expected="an object of strings",
            found=shown(attrs),
            done="They are left out",
            nodes=(nid,),
        )
        return {}
    if set(map(type, attrs.values())) <= {str}:
        return attrs
    for key, value in attrs.items():
        if not isinstance(value, str):
            log.add(
                "node-attr-not-string",
                f"nodes[{nid}].attrs.{key}",
                expected="a string",
                found=shown(value),
                done="It is kept as text",
                nodes=(nid,),
            )
    return {k: v if isinstance(v, str) else shown(v) for k, v in attrs.items()}


def check_attrs(
    nid: int, attrs: dict[str, str], has_attrs: bool, num_inputs: int, log: GraphLog
) -> None:
    """Tell what an operator's attributes lack, and where they disagree with its inputs."""
    if (
        attrs.get("num_inputs") == str(num_inputs)
        and attrs.get("flatten_data") == "0"
        and "func_name" in attrs
        and _decimal(attrs.get("num_outputs", "")) != _UNKNOWN
    ):
        return
    path = f"nodes[{nid}].attrs"
    if not has_attrs:
        log.add(
            "node-attrs-missing",
            path,
            expected="the attributes of an operator",
            found="nothing",
            nodes=(nid,),
        )
        return
    lacking = [key for key in _REQUIRED_ATTRS if key not in attrs]
    if lacking:
        log.add(
            "node-attrs-incomplete",
            path,
            expected=", ".join(_REQUIRED_ATTRS),
            found=f"no {' and no '.join(lacking)}",
            loader="invalid format",
            nodes=(nid,),
        )
    for key in ("num_inputs", "num_outputs"):
        if key in attrs and _decimal(attrs[key]) == _UNKNOWN:
            log.add(
                f"{key.replace('_', '-')}-invalid",
                f"{path}.{key}",
                expected=f"at most {10**_MOST_DIGITS - 1:,}"
                if _is_decimal(attrs[key])
                else "a decimal number in a string",
                found=shown(attrs[key]),
                nodes=(nid,),
            )
    counted = _decimal(attrs.get("num_inputs", ""))
    if counted not in (_UNKNOWN, num_inputs):
        log.add(
            "num-inputs-disagrees",
            f"{path}.num_inputs",
            expected=f"{num_inputs}, the length of inputs",
            found=f"{counted}",
            done="The list inputs is believed",
            nodes=(nid,),
        )
    flatten = attrs.get("flatten_data", "0")
    if flatten != "0":
        valid = flatten == "1"
        log.add(
            "flatten-data" if valid else "flatten-data-invalid",
            f"{path}.flatten_data",
            expected='"0"' if valid else '"0" or "1"',
            found=shown(flatten),
            done="The executor views every argument of this node as one-dimensional"
            if valid
            else "",
            severity=Severity.NOTE if valid else Severity.ERROR,
            nodes=(nid,),
        )


def num_outputs(attrs: dict[str, str], *, null: bool) -> int:
    """Return how many outputs a node says it has, -1 where it does not say."""
    return 1 if null else _decimal(attrs.get("num_outputs", ""))


def _decimal(text: str) -> int:
    """Return the value of a short decimal number, else -1."""
    return int(text) if len(text) <= _MOST_DIGITS and _is_decimal(text) else _UNKNOWN


def _is_decimal(text: str) -> bool:
    return text.isascii() and text.isdigit()
