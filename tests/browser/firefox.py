"""Firefox as it is installed, driven by its own protocol (WebDriver BiDi) over one socket.

Playwright has a browser of its own in Firefox's place, which no registry of packages holds, and
asks of Firefox itself what it does not know yet. A few steps need little: open, read, press.
"""

from __future__ import annotations

import itertools
import json
import re
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from types import TracebackType
from typing import Any

import websocket

FIREFOX = shutil.which("firefox-esr") or shutil.which("firefox")
LISTENING = re.compile(r"WebDriver BiDi listening on (ws://\S+)")
# Seconds; machines are slow at times.
PATIENCE = 60.0
KEYS = {"Enter": "\ue007", "Escape": "\ue00c", "Tab": "\ue004"}


class Firefox:
    """One window of a browser without a screen."""

    def __init__(self, width: int = 1280, height: int = 800):
        self._profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self._log = Path(self._profile.name, "log")
        command = [str(FIREFOX), "--headless", "--no-remote", "--profile", self._profile.name]
        command += ["--remote-debugging-port", "0", f"--width={width}", f"--height={height}"]
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(command, stdout=log, stderr=log)
        self._numbers = itertools.count(1)
        self._socket: websocket.WebSocket | None = None
        # What pages wrote as errors.
        self.complaints: list[str] = []
        try:
            self._socket = websocket.create_connection(
                f"{self._address()}/session", timeout=PATIENCE, suppress_origin=True
            )
            self._ask("session.new", capabilities={})
            self._ask("session.subscribe", events=["log.entryAdded"])
            tree = self._ask("browsingContext.getTree")
            self._window = tree["contexts"][0]["context"]
            size = {"width": width, "height": height}
            self._ask("browsingContext.setViewport", context=self._window, viewport=size)
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Firefox:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:  # fmt: skip
        self.close()

    def close(self) -> None:
        if self._socket is not None:
            self._socket.close()
        self._process.terminate()
        self._process.wait(PATIENCE)
        self._profile.cleanup()

    def open(self, address: str) -> None:
        self._ask("browsingContext.navigate", context=self._window, url=address, wait="complete")

    def back(self) -> None:
        self._ask("browsingContext.traverseHistory", context=self._window, delta=-1)

    def read(self, expression: str) -> Any:
        """What a JavaScript expression of `atlas` and `page` (its shadow root) is."""
        told = (
            "() => { const host = document.querySelector('#manymaps');"
            " const { atlas, shadowRoot: page } = host ?? {};"
            " if (!page) return 'null';"  # not there yet
            f" return JSON.stringify({expression}) ?? 'null'; }}"
        )
        answer = self._ask(
            "script.callFunction", functionDeclaration=told, awaitPromise=True,
            target={"context": self._window},
        )  # fmt: skip
        assert answer["type"] == "success", answer
        return json.loads(answer["result"]["value"])

    def becomes(self, expression: str) -> bool:
        """Whether an expression is true before the time is over."""
        until = time.monotonic() + PATIENCE
        while not (true := bool(self.read(expression))) and time.monotonic() < until:
            time.sleep(0.02)
        return true

    def press(self, *keys: str) -> None:
        """Press keys, by name or as text, one after the other."""
        values = [KEYS.get(key, key) for key in keys]
        presses = [{"type": kind, "value": v} for v in values for kind in ("keyDown", "keyUp")]
        self._act({"type": "key", "id": "keys", "actions": presses})

    def click(self, selector: str) -> None:
        """Click on the first part of the page that a selector finds."""
        left, top = self.middle(selector)
        moves: list[dict[str, Any]] = [{"type": "pointerMove", "x": round(left), "y": round(top)}]
        moves += [{"type": kind, "button": 0} for kind in ("pointerDown", "pointerUp")]
        self._act({"type": "pointer", "id": "mouse", "actions": moves})

    def wheel(self, selector: str, by: int) -> None:
        """Turn the wheel over the middle of a part of the page."""
        left, top = self.middle(selector)
        turn = {"type": "scroll", "x": round(left), "y": round(top), "deltaX": 0, "deltaY": by}
        self._act({"type": "wheel", "id": "wheel", "actions": [turn]})

    def middle(self, selector: str) -> tuple[float, float]:
        box = self.read(f"page.querySelector({json.dumps(selector)}).getBoundingClientRect()")
        return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2

    def _act(self, *sources: dict[str, Any]) -> None:
        self._ask("input.performActions", context=self._window, actions=list(sources))

    def _address(self) -> str:
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until and self._process.poll() is None:
            said = LISTENING.search(self._log.read_text("utf-8", "replace"))
            if said:
                return said[1]
            time.sleep(0.05)
        raise RuntimeError(f"Firefox did not start:\n{self._log.read_text('utf-8', 'replace')}")

    def _ask(self, method: str, **parameters: Any) -> dict[str, Any]:
        number = next(self._numbers)
        assert self._socket is not None
        self._socket.send(json.dumps({"id": number, "method": method, "params": parameters}))
        while True:
            answer = json.loads(self._socket.recv())
            if answer.get("method") == "log.entryAdded" and answer["params"]["level"] == "error":
                self.complaints.append(str(answer["params"].get("text")))
            if answer.get("id") == number:
                assert answer["type"] == "success", answer
                return answer["result"]
