"""What the Inspector works out of an ETDump and an ETRecord."""
