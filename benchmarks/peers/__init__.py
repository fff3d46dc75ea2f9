"""Features of other packages, checked by running them as documented."""
