"""Features that are informative only together: published problems, and false discoveries."""
