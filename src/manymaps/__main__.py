"""`python -m manymaps` is the command `manymaps`."""

from manymaps.cli import main

if __name__ == "__main__":
    main()
