"""Pictures of planes of an array, with a bounded number of cells."""

from tvmdbg_widgets.model.pictures.cells import NAN, NEG_INF, POS_INF
from tvmdbg_widgets.model.pictures.channel_grid import ChannelPictures, channels
from tvmdbg_widgets.model.pictures.grid import Part
from tvmdbg_widgets.model.pictures.kept import Pictures
from tvmdbg_widgets.model.pictures.profiles import Profile, profile
from tvmdbg_widgets.model.pictures.single import Picture, is_cheap, picture

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
