"""Entry point of `python -m manymaps`, which runs the command `manymaps`.

Until a command runs, Ctrl-C ends the process at once and without a message. Then the command
defines its effect (`manymaps.cli.interruption`). The handler is therefore set before slow imports.
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
