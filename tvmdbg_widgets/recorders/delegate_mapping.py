"""Delegate debug maps as a backend builds them while it compiles; needs no ExecuTorch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

from tvmdbg_widgets.model.base.numbers import counted

#: What a delegate calls one of its operations: a number, or a name.
Identifier: TypeAlias = int | str


class DelegateMappingError(Exception):
    """An entry that cannot be added; ExecuTorch raises a plain ``Exception`` of the same text."""


class HasMeta(Protocol):
    """A node: whatever keeps its debug handle in ``meta["debug_handle"]``, as torch.fx does."""

    @property
    def meta(self) -> Mapping[str, Any]:
        """What is known of the node."""


class DelegateMappingBuilder:
    """Builds a delegate debug map: the handles of the nodes that each identifier stands for.

    It does what ``DelegateMappingBuilder`` of ``exir/backend/utils.py`` @ v1.4.1 does, in the same
    order and with the same messages, and takes its place in a backend.

    ::

        builder = DelegateMappingBuilder(generated_identifiers=True)
        builder.insert_delegate_mapping_entry(nodes=[conv, relu])  # 0
        PreprocessResult(blob, debug_handle_map=builder.get_delegate_mapping())

    Parameters
    ----------
    generated_identifiers : bool
        Number the entries 0, 1, 2 …; else each is given its identifier.
    """

    def __init__(self, generated_identifiers: bool = False) -> None:
        self._generated_identifiers = generated_identifiers
        self._handles: dict[Identifier, set[Any]] = {}
        self._next = 0

    def insert_delegate_mapping_entry(
        self,
        nodes: HasMeta | list[HasMeta] | None = None,
        handles: int | Sequence[int | None] | None = None,
        identifier: Identifier | None = None,
    ) -> Identifier:
        """Add an entry and return its identifier.

        Parameters
        ----------
        nodes : node or list of nodes
            What has ``.meta``; a node without ``"debug_handle"`` is left out. A tuple is no list.
        handles : int, or list or tuple of int or None
            Debug handles in place of nodes; None is left out, 0 is kept.
        identifier : int or str
            Only, and always, where identifiers are not generated.

        Raises
        ------
        DelegateMappingError
            An identifier that is missing, not to be given, or there already; not exactly one of
            nodes and handles; or no handle at all. The last uses up a generated identifier.
        """
        if self._generated_identifiers and identifier is not None:
            raise DelegateMappingError(
                "Builders using generated identifiers can't manually add identifiers: "
                f"{identifier}. Failed to add or update entry"
            )
        if identifier is not None and identifier in self._handles:
            raise DelegateMappingError(
                "This delegate debug identifier was already inserted. Duplicate delegate debug "
                "identifiers are not allowed."
            )
        if (nodes is None) == (handles is None):
            raise DelegateMappingError(
                "Only one of nodes or handles must be provided. Either both were provided or "
                "neither were provided. Failed to add or update entry."
            )
        if identifier is None:
            identifier = self._generated()
        found = set(_of_nodes(nodes) if nodes is not None else _as_list(handles)) - {None}
        if not found:
            raise DelegateMappingError("No valid debug handles found. Failed to add entry.")
        self._handles[identifier] = found
        return identifier

    def get_delegate_mapping(self) -> dict[Identifier, tuple[int, ...]]:
        """Return the handles of each entry, ascending and each once, in the order of insertion."""
        return {identifier: tuple(sorted(found)) for identifier, found in self._handles.items()}

    def _generated(self) -> int:
        if not self._generated_identifiers:
            raise DelegateMappingError("No identifier provided. Failed to add or update entry.")
        self._next += 1
        return self._next - 1

    def __repr__(self) -> str:
        how = "generated" if self._generated_identifiers else "given"
        return f"DelegateMappingBuilder({counted(len(self._handles), 'identifier')}, {how})"


def _of_nodes(nodes: HasMeta | list[HasMeta]) -> list[Any]:
    return [
        node.meta.get("debug_handle") for node in (nodes if isinstance(nodes, list) else [nodes])
    ]


def _as_list(handles: Any) -> Sequence[Any]:
    return handles if isinstance(handles, list | tuple) else [handles]


@dataclass
class PreprocessResult:
    """What a backend's ``preprocess`` returns, for notebooks without ExecuTorch.

    The fields of ``PreprocessResult`` of ``exir/backend/backend_details.py`` @ v1.4.1.

    Attributes
    ----------
    processed_bytes : bytes
        The compiled program.
    debug_handle_map : dict of int or str to tuple of int, or None
        As of :meth:`DelegateMappingBuilder.get_delegate_mapping`.
    data_store_output : object
        Named data, such as weights.
    """

    processed_bytes: bytes = b""
    debug_handle_map: dict[Identifier, tuple[int, ...]] | None = None
    data_store_output: Any = None
    _delegate_info_meta: Any = None
