"""The arguments of the command, in every order and spelling."""
