"""The widget in JupyterLab: a click selects and Python learns of it; what Python sets shows."""

from __future__ import annotations

import json
import os
import secrets
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec

import pytest

# The first cells; what Python learned is asked for in further ones, each when its time has come.
CELLS = (
    "from manymaps import load_atlas\n"
    "from manymaps.widget import AtlasWidget\n"
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
    cells = [
        {
            "cell_type": "code", "id": f"cell{k}", "metadata": {}, "execution_count": None,
            "outputs": [], "source": source,
        }
        for k, source in enumerate(CELLS)
    ]  # fmt: skip
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return json.dumps(
        {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}
    )


@pytest.fixture
def lab(tmp_path, tiny, browser) -> Iterator[Lab]:
    """JupyterLab on a free port of this machine, with a folder of its own for all it writes."""
    from conftest import missing

    for module in ("jupyterlab", "anywidget", "ipykernel"):
        if find_spec(module) is None:
            missing(f"{module}; pip install 'manymaps[dev]'")
    folder = tmp_path / "notebooks"
    folder.mkdir()
    tiny.save(folder / "tiny.atlas")
    (folder / "atlas.ipynb").write_text(notebook(), encoding="utf-8")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    token = secrets.token_hex(16)
    places = {
        f"JUPYTER_{name}_DIR": str(tmp_path / name.lower())
        for name in ("CONFIG", "DATA", "RUNTIME")
    }
    places |= {
        "IPYTHONDIR": str(tmp_path / "ipython"),
        "JUPYTERLAB_SETTINGS_DIR": str(tmp_path / "settings"),
        "JUPYTERLAB_WORKSPACES_DIR": str(tmp_path / "workspaces"),
        "JUPYTER_TOKEN": token,
    }
    options = [
        "--no-browser", "--ip=127.0.0.1", f"--port={port}", "--ServerApp.port_retries=0",
        f"--ServerApp.root_dir={folder}", "--LabApp.extension_manager=readonly",
        "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
        "--LabApp.news_url=None", "--ServerApp.open_browser=False",
    ]  # fmt: skip
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        options.append("--allow-root")
    with (tmp_path / "lab.log").open("wb") as log:
        server = subprocess.Popen(
            [sys.executable, "-m", "jupyterlab", *options], cwd=folder, env=os.environ | places,
            stdout=log, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
        )  # fmt: skip
        try:
            yield Lab(f"http://127.0.0.1:{port}", token)
        finally:
            # It ends its kernels before itself.
            server.terminate()
            try:
                server.wait(30)
            except subprocess.TimeoutExpired:
                server.kill()
                server.wait(10)


@pytest.fixture
def page(browser, lab) -> Iterator[object]:
    """A page of JupyterLab that asks for nothing beyond this machine."""
    context = browser.new_context(viewport={"width": 1500, "height": 1000})
    context.set_default_timeout(90_000)
    context.route(
        lambda url: not url.startswith((lab.url, "data:", "blob:")), lambda route: route.abort()
    )
    opened = context.new_page()
    wait_for_server(context, lab)
    yield opened
    end_kernels(context, lab)
    context.close()


def wait_for_server(context, lab: Lab) -> None:
    from playwright.sync_api import Error

    for _ in range(300):
        try:
            if context.request.get(f"{lab.url}/api?token={lab.token}").ok:
                return
        except Error:
            pass
        time.sleep(0.2)
    pytest.fail("JupyterLab does not answer")


def end_kernels(context, lab: Lab) -> None:
    said = {"Authorization": f"token {lab.token}"}
    for kernel in context.request.get(f"{lab.url}/api/kernels", headers=said).json():
        context.request.delete(f"{lab.url}/api/kernels/{kernel['id']}", headers=said)


def run(page, cell: int) -> None:
    """Run a cell, with the keyboard."""
    page.locator(".jp-Notebook .jp-Cell").nth(cell).locator(".cm-content").click()
    page.keyboard.press("Shift+Enter")


def test_widget_in_jupyterlab(page, lab):
    from playwright.sync_api import expect

    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(f"{lab.url}/lab/tree/atlas.ipynb?token={lab.token}&reset")
    page.locator(".jp-Notebook .jp-Cell").nth(2).wait_for()
    # Widgets live only where a kernel does.
    page.get_by_text("| Idle").first.wait_for()
    run(page, 0)
    map = page.get_by_role("application", name="Map 0")
    map.wait_for()
    view = page.get_by_role("region", name="Words in view")
    expect(view.get_by_role("rowheader").filter(has_text="knot")).to_have_count(1)

    box = map.bounding_box()
    assert box["width"] > 300
    assert box["height"] > 200
    map.scroll_into_view_if_needed()
    spot = page.evaluate(PLACE_OF, "knot")
    page.mouse.click(*spot)
    chosen = page.get_by_role("region", name="Selection")
    expect(chosen).to_contain_text("1 object selected")
    expect(chosen).to_contain_text("knot")
    page.get_by_role("combobox", name="Look a word up").fill("tie")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="tie lives in 3 maps")).to_be_visible()

    run(page, 1)
    expect(page.get_by_text("selected: knot ; tie ; 0")).to_be_visible()
    run(page, 2)
    expect(page.get_by_role("heading", name="knot lives in 2 maps")).to_be_visible()
    expect(page.get_by_role("application", name="Map 2")).to_be_visible()
    expect(chosen).to_contain_text("2 objects selected")
    assert errors == []


# Where the label of a word stands on the page.
PLACE_OF = """async (word) => {
  const everything = [...document.querySelectorAll("*")];
  const host = everything.find((one) => one.atlas?.shown);
  const map = host.shadowRoot.querySelector("[role=application]");
  for (;;) {
    const label = host.atlas.shown().find(({ text }) => text === word);
    if (label) {
      const { left, top } = map.getBoundingClientRect();
      return [left + label.x + label.width / 2, top + label.y + label.height / 2];
    }
    await new Promise(requestAnimationFrame);
  }
}"""
