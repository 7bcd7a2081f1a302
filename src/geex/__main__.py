"""python -m geex: the command line."""

from geex.cli import main

if __name__ == "__main__":
    main()
