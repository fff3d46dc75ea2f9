"""From a table to a selection: where the time goes, and how long others take."""
