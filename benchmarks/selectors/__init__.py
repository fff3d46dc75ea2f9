"""Running time of whole selections with bestk and other packages."""
