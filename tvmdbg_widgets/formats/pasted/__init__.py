"""Texts as people paste them: out of consoles, CI logs, issues, chats and spreadsheets."""
