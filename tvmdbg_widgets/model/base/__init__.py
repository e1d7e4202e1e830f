"""Text, numbers, errors, issues and trust, shared by all rooms of the model."""
