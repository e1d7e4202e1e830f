"""Two logs of the same schedules: how far what is fast on one machine is fast on another."""
