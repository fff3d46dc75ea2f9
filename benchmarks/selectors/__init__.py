"""How long a selection takes, from a table to names: bestk and what a user would pick instead."""
