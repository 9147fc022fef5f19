"""Pictures for people."""

from counterpoint.report.contact_sheet import contact_sheet

__all__ = ["contact_sheet"]
