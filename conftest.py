"""All tests and examples check the types and shapes of every call in the package."""

import type_checks

type_checks.install("counterpoint")
