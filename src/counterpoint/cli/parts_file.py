"""Parts of a user's own, loaded from a file."""

import sys


def loaded_parts(file: str | None) -> dict[str, type]:
    """Load a user's own parts, and say so: this runs their file."""
    from counterpoint.parts.own import own_parts

    found = own_parts(file)
    if file is not None:
        sys.stderr.write(f"counterpoint: parts of {file}: {', '.join(found) or 'none'}\n")
    return found
