"""Arguments, progress, output and exit status that several verbs share."""
