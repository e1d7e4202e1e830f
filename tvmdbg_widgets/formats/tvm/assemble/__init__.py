"""The files of one dump put together as a run."""
