"""``tvmdbg doctor``: whether this installation works."""
