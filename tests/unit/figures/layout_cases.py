"""Random layouts and shapes that have them."""

from hypothesis import strategies as st

from tvmdbg_widgets.model.tensors.layouts import Layout


@st.composite
def stored(draw: st.DrawFn) -> tuple[Layout, tuple[int, ...]]:
    """A layout and a stored shape of at most a few thousand items."""
    letters = draw(st.lists(st.sampled_from("NCHWO"), min_size=1, max_size=4, unique=True))
    axes = [(letter, None) for letter in letters]
    for _ in range(draw(st.integers(0, 3))):
        split = (draw(st.sampled_from(letters)).lower(), draw(st.integers(1, 5)))
        axes.insert(draw(st.integers(0, len(axes))), split)
    shape = tuple(size or draw(st.integers(1, 4)) for _, size in axes)
    return Layout.parse("".join(f"{size or ''}{letter}" for letter, size in axes)), shape
