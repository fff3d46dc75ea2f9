"""What a person should be warned of: leaks, identifiers, noise, copies, rows that repeat."""

from bestk.diagnosis.diagnose import diagnose
from bestk.diagnosis.findings import Finding

__all__ = ["Finding", "diagnose"]
