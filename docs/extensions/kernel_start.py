"""Startup of the kernel that runs all pages: shell cells, and an empty state for each page.

IPython deletes the names of this file between pages, so each function imports its modules itself.
"""


def _shell(line: str, cell: str) -> None:
    """Run the lines of a shell cell and print both streams; the first command that fails ends it.

    A line with only a command `manymaps` runs in this process, because a new process would spend a
    second of processor time or more on imports. The rest, and whole cells with a here-document or
    with `--may-fail`, which shows errors, run in sh.
    """
    import re
    import shlex
    import subprocess
    from unittest.mock import patch

    from click.testing import CliRunner

    from manymaps.cli import cli

    may_fail = line.strip() == "--may-fail"
    whole = may_fail or "<<" in cell
    for command in [cell] if whole else cell.replace("\\\n", " ").splitlines():
        if not whole and re.fullmatch(r"manymaps [^<>|&;$`*]*", command):
            with patch("rich.console._is_jupyter", return_value=False):  # print plain text
                done = CliRunner().invoke(cli, shlex.split(command)[1:], prog_name="manymaps")
            printed, failed = done.output, done.exit_code != 0
        else:
            run = subprocess.run(
                ["sh", "-e", "-c", command],
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                encoding="utf-8",
            )
            printed, failed = run.stdout, run.returncode != 0
        print(printed, end="", flush=True)
        if failed and not may_fail:
            raise RuntimeError(f"this command failed: {command}")


def _page(folder: str) -> None:
    """Start a page: only the demo's atlas in its folder, no variables, the default figures."""
    import os
    import shutil
    import warnings

    import matplotlib.pyplot as plt
    from IPython import get_ipython
    from matplotlib_inline.backend_inline import set_matplotlib_formats

    os.chdir(folder)  # the folder of the page before is deleted
    shell = get_ipython()
    shell.reset(new_session=True)
    warnings.filters[:] = shell.first_warning_filters
    plt.close("all")
    plt.rcdefaults()
    shell.run_line_magic("matplotlib", "inline")
    set_matplotlib_formats("retina")
    shutil.copy(os.environ["MANYMAPS_DEMO"], "demo.atlas")


def _start() -> None:
    import warnings

    from IPython import get_ipython

    shell = get_ipython()
    shell.first_warning_filters = warnings.filters[:]
    shell.register_magic_function(_shell, "cell", "sh")
    shell.register_magic_function(_page, "line", "page")


_start()
