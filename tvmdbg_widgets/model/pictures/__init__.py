"""Pictures of planes of an array, with a bounded number of cells."""

from tvmdbg_widgets.model.pictures.cells import NAN, NEG_INF, POS_INF
from tvmdbg_widgets.model.pictures.channels import Channels, channels
from tvmdbg_widgets.model.pictures.grid import Part
from tvmdbg_widgets.model.pictures.kept import Pictures
from tvmdbg_widgets.model.pictures.picture import Picture, picture
from tvmdbg_widgets.model.pictures.profile import Profile, profile

__all__ = [
    "NAN",
    "NEG_INF",
    "POS_INF",
    "Channels",
    "Part",
    "Picture",
    "Pictures",
    "Profile",
    "channels",
    "picture",
    "profile",
]
