"""What goes wrong outside of a user's settings: a disk, a process, a number."""


class RunFailure(RuntimeError):  # noqa: N818 (each kind of it is an error)
    """A run that cannot go on; its message is for people, and the command prints nothing else."""
