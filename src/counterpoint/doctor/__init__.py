"""A look at a data set and a machine before anything is trained."""

from counterpoint.doctor.examination import Examination, examined
from counterpoint.doctor.packages import Version, package_versions
from counterpoint.doctor.record import doctor_record
from counterpoint.doctor.suggestion import Suggestion, suggested
from counterpoint.doctor.tables import tables

__all__ = [
    "Examination",
    "Suggestion",
    "Version",
    "doctor_record",
    "examined",
    "package_versions",
    "suggested",
    "tables",
]
