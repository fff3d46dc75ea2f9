"""The readers of files, given bytes of every kind."""
