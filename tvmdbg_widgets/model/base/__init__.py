"""What every part of the model rests on: text, numbers, errors, issues, trust."""
