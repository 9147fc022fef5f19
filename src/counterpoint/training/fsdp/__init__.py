"""Models whose weights are shared out over the ranks: torch's FSDP2 behind our own strategy."""
