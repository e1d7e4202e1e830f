"""What a source holds: folders, archives, and which of their files make one run."""
