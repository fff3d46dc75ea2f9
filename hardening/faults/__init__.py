"""Fault injection: kill, interrupt, full disk, little memory, lost workers."""
