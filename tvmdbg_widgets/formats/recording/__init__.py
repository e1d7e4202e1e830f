"""Our own files of a saved run, ``docs/recording.md``: read and written."""
