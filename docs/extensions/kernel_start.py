"""What each kernel of the manual does first: the demo's atlas, sharp figures, shell cells."""


def _shell(line: str, cell: str) -> None:
    """Run a cell by sh, both its streams as they come; the first command that fails ends it.

    `%%sh --may-fail` is for showing what goes wrong.
    """
    import subprocess

    done = subprocess.run(
        ["sh", "-e", "-c", cell],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
    )
    print(done.stdout, end="", flush=True)
    if line.strip() != "--may-fail":
        done.check_returncode()


def _start() -> None:
    import os
    import shutil

    from matplotlib_inline.backend_inline import set_matplotlib_formats

    shell = get_ipython()  # noqa: F821
    shutil.copy(os.environ["MANYMAPS_DEMO"], "demo.atlas")
    shell.run_line_magic("matplotlib", "inline")
    set_matplotlib_formats("retina")
    shell.register_magic_function(_shell, "cell", "sh")


_start()
