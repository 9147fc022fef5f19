"""The watchdog: a run that does not move says so, and who holds it up."""
