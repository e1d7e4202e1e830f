"""Options of the views: TypeScript has the types that Python declares."""

import pytest

from tests.make.option_types import PATH, VIEWS, written
from tvmdbg_widgets.model.base.options import ViewOptions, options_of


def test_typescript_has_the_options_that_python_declares() -> None:
    assert PATH.read_text("utf-8") == written(), "python -m tests.make.option_types"


@pytest.mark.parametrize("kind", VIEWS, ids=lambda kind: kind.__name__)
def test_every_option_accepts_its_default_and_says_what_it_is(kind: type[ViewOptions]) -> None:
    made = kind()
    for each in options_of(kind):
        assert getattr(made, each.name) == each.default
        assert each.about or not each.live, each.name
