"""Entry point of `python -m manymaps`, which runs the command `manymaps`.

Until a command runs, Ctrl-C ends the process immediately and without a message, so the handler is
set before slow imports. The command then defines the effect of Ctrl-C
(`manymaps.cli.interruption`).
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
