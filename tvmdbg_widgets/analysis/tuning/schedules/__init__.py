"""One record's schedule in every form that is shown of it, and two compared."""
