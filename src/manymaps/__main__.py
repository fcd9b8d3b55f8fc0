"""`python -m manymaps` is the command `manymaps`.

Ctrl-C ends the process at once, and in silence, until a command runs, which says what it does then
(`manymaps.cli.interruption`). So it is set before anything is imported that takes a while.
"""

import signal

__all__ = ["main"]


def main() -> None:
    """Run the command line."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from manymaps.cli import main as command_line

    command_line()


if __name__ == "__main__":
    main()
