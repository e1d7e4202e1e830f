"""Pictures of planes of an array, with a bounded number of cells."""

from tvmdbg_widgets.model.pictures.cells import NAN, NEG_INF, POS_INF
from tvmdbg_widgets.model.pictures.profiles import Profile, profile
from tvmdbg_widgets.model.pictures.single import (
    ChannelPictures,
    Picture,
    Pictures,
    channels,
    is_cheap,
    picture,
)
from tvmdbg_widgets.model.pictures.stack import Part

__all__ = [
    "NAN",
    "NEG_INF",
    "POS_INF",
    "ChannelPictures",
    "Part",
    "Picture",
    "Pictures",
    "Profile",
    "channels",
    "is_cheap",
    "picture",
    "profile",
]
