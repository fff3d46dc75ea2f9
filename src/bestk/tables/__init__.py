"""Tables, targets and codes: what users pass, read once."""
