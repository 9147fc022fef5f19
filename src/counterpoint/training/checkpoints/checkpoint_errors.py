"""How a checkpoint that cannot be written or read is refused."""

from counterpoint.failures import RunFailure


class CheckpointError(RunFailure):
    """A checkpoint that could not be written, or cannot be used."""
