"""From a table to the selected features."""
