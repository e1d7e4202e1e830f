"""How a trait says what is wrong with a value."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import traitlets

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def as_trait_error(name: str) -> Iterator[None]:
    """Raise what a check of a trait raises as a ``TraitError`` that names the trait.

    Raises
    ------
    TraitError
        For what a check raises; its message follows the trait's name.
    """
    try:
        yield
    except (TypeError, ValueError, LookupError, OverflowError) as problem:
        raise traitlets.TraitError(f"{name}: {problem.args[0]}") from None
