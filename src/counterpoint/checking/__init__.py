"""Does a composition work? Checks for any method, a user's own too."""

from counterpoint.checking.checks import Verdict, check

__all__ = ["Verdict", "check"]
