"""Does a composition work? Checks for any method, a user's own too."""

from counterpoint.checking.checks import CheckResult, check

__all__ = ["CheckResult", "check"]
