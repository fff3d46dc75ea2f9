"""``python -m bestk`` is the ``bestk`` command."""

from bestk.cli import main

if __name__ == "__main__":
    main()
