"""Faults put in on purpose: killed, interrupted, out of disk, out of memory, alone."""
