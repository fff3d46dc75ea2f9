"""How features are selected from what is known of columns and pairs: one class a method."""
