"""What several verbs share: arguments, progress, output, exit status."""
