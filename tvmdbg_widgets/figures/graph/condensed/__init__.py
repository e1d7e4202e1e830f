"""A large graph condensed to groups of its nodes."""
