"""The version of Counterpoint, in this one place: hatch, the command and every run read it here."""

VERSION = "0.2.0"
