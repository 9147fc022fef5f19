"""Pictures for people: the contact sheet of views, and the report of runs."""

from counterpoint.report.contact_sheet import contact_sheet
from counterpoint.report.write import write_report

__all__ = ["contact_sheet", "write_report"]
