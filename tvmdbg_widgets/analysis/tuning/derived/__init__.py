"""All facts about one tuning log that are derived from its parts."""
