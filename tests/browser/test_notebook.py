"""The widget in JupyterLab: a click selects and Python learns of it; what Python sets shows."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec

import pytest
from chromium import missing

pytestmark = pytest.mark.slow

# The first cells; what Python learned is asked for in further ones, each when its time has come.
CELLS = (
    "from manymaps import load_atlas\n"
    "from manymaps.viewer.widget import AtlasWidget\n"
    "widget = AtlasWidget(load_atlas('tiny.atlas'), height=620)\n"
    "widget.map = 0\n"
    "widget",
    "print('selected:', *widget.selection, ';', widget.word or 'no word', ';', widget.map)",
    "widget.selection = ['rope', 'bow']\nwidget.word = 'KNOT'\nwidget.map = 2",
)


@dataclass(frozen=True)
class Lab:
    """A running JupyterLab."""

    url: str
    token: str


def notebook() -> str:
    usual = {"cell_type": "code", "metadata": {}, "execution_count": None, "outputs": []}
    cells = [usual | {"id": f"cell{k}", "source": source} for k, source in enumerate(CELLS)]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    metadata = {"kernelspec": kernel}
    return json.dumps({"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5})


@pytest.fixture
def lab(tmp_path, tiny, browser) -> Iterator[Lab]:
    """JupyterLab on a free port of this machine, with a folder of its own for all it writes."""
    for module in ("jupyterlab", "anywidget", "ipykernel"):
        if find_spec(module) is None:
            missing(f"{module}; pip install 'manymaps[dev]'")
    folder = tmp_path / "notebooks"
    folder.mkdir()
    tiny.save(folder / "tiny.atlas")
    (folder / "atlas.ipynb").write_text(notebook(), encoding="utf-8")
    token = secrets.token_hex(16)
    # Jupyter and IPython keep what they write in the home folder.
    places = {"HOME": str(tmp_path), "JUPYTER_TOKEN": token}
    options = [
        "--no-browser", "--ip=127.0.0.1", "--ServerApp.port_retries=0",
        f"--ServerApp.root_dir={folder}", "--LabApp.extension_manager=readonly",
        "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
        "--LabApp.news_url=None", "--ServerApp.open_browser=False",
    ]  # fmt: skip
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        options.append("--allow-root")
    said = tmp_path / "lab.log"
    with said.open("wb") as log:
        server, port = started(options, folder, os.environ | places, log, said)
        try:
            yield Lab(f"http://127.0.0.1:{port}", token)
        finally:
            ended(server)


def ended(server: subprocess.Popen) -> None:
    """End a server, which ends its kernels before itself."""
    server.terminate()
    try:
        server.wait(60)
    except subprocess.TimeoutExpired:
        server.kill()
        server.wait(10)


def started(options, folder, environment, log, said) -> tuple[subprocess.Popen, int]:
    """A server that answers; another port is taken where somebody was quicker."""
    until = time.monotonic() + 300
    while time.monotonic() < until:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        server = subprocess.Popen(
            [sys.executable, "-m", "jupyterlab", *options, f"--port={port}"], cwd=folder,
            env=environment, stdout=log, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
        )  # fmt: skip
        # Another server on the port would not know the token.
        address = f"http://127.0.0.1:{port}/api/status?token={environment['JUPYTER_TOKEN']}"
        while server.poll() is None and time.monotonic() < until:
            with contextlib.suppress(OSError), urllib.request.urlopen(address, timeout=30):
                return server, port
            time.sleep(0.2)
        ended(server)
    pytest.fail(f"JupyterLab does not answer; it says {said.read_text(errors='replace')[-3000:]}")


@pytest.fixture
def page(browser, lab) -> Iterator[object]:
    """A page of JupyterLab that asks for nothing beyond this machine."""
    context = browser.new_context(viewport={"width": 1500, "height": 1000})
    context.set_default_timeout(90_000)
    context.route(
        lambda url: not url.startswith((lab.url, "data:", "blob:")), lambda route: route.abort()
    )
    opened = context.new_page()
    yield opened
    end_kernels(context, lab)
    context.close()


def end_kernels(context, lab: Lab) -> None:
    said = {"Authorization": f"token {lab.token}"}
    for kernel in context.request.get(f"{lab.url}/api/kernels", headers=said).json():
        context.request.delete(f"{lab.url}/api/kernels/{kernel['id']}", headers=said)


def run(page, cell: int) -> None:
    """Run a cell, with the keyboard."""
    page.locator(".jp-Notebook .jp-Cell").nth(cell).locator(".cm-content").click()
    page.keyboard.press("Shift+Enter")


def until_shown(part, text: str, step) -> None:
    """Take a step again until a part of the page contains a text."""
    from playwright.sync_api import expect

    for _ in range(10):
        step()
        with contextlib.suppress(AssertionError):
            expect(part).to_contain_text(text, timeout=5000)
            return
    expect(part).to_contain_text(text)


def test_widget_in_jupyterlab(page, lab):
    from playwright.sync_api import expect

    errors: list[str] = []
    # JupyterLab complains of its own affairs too; the widget's module is a blob.
    page.on("pageerror", lambda error: "blob:" in (error.stack or "") and errors.append(str(error)))
    page.goto(f"{lab.url}/lab/tree/atlas.ipynb?token={lab.token}&reset")
    page.locator(".jp-Notebook .jp-Cell").nth(2).wait_for()
    # Widgets live only where a kernel does.
    page.get_by_text("| Idle").first.wait_for()
    run(page, 0)
    map = page.get_by_role("application", name="Map 0")
    map.wait_for()
    box = map.bounding_box()
    assert box["width"] > 300
    assert box["height"] > 200
    map.scroll_into_view_if_needed()
    chosen = page.get_by_role("region", name="Selection")
    # JupyterLab may move what it shows at any time, even after it stood still.
    until_shown(
        chosen, "1 object selected", lambda: page.mouse.click(*page.evaluate(PLACE_OF, "knot"))
    )
    expect(chosen).to_contain_text("knot")
    page.get_by_role("combobox", name="Find objects").fill("tie")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="tie: on three maps")).to_be_visible()

    # A cell may overtake the news that the kernel is being sent, so it is asked until it has them.
    output = page.locator(".jp-Notebook .jp-Cell").nth(1)
    until_shown(output, "selected: knot ; tie ; 0", lambda: run(page, 1))
    run(page, 2)
    expect(page.get_by_role("heading", name=": on two maps")).to_be_visible()
    expect(page.get_by_role("application", name="Map 2")).to_be_visible()
    expect(chosen).to_contain_text("2 objects selected")
    assert errors == []


# Where the label of a word stands on the page, once it has stood there for some frames.
PLACE_OF = """async (word) => {
  const everything = [...document.querySelectorAll("*")];
  const host = everything.find((one) => one.atlas?.shown);
  const map = host.shadowRoot.querySelector("[role=application]");
  let [place, frames] = ["", 0];
  for (;;) {
    const label = host.atlas.shown().find(({ text }) => text === word);
    const { left, top } = map.getBoundingClientRect();
    const now = label && [left + label.x + label.width / 2, top + label.y + label.height / 2];
    frames = now && host.atlas.isAtRest && place === String(now) ? frames + 1 : 0;
    if (frames === 5) return now;
    place = String(now);
    await new Promise(requestAnimationFrame);
  }
}"""
