"""Which features predict best on rows that nobody has seen: bestk's methods and their peers."""
