"""Notebook hosts for tests, without user settings or any network but the loopback."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from typing import Any

START_SECONDS = 90
RUN_MS = 120_000

_SETTINGS = {
    "@jupyterlab/apputils-extension/notification": {"fetchNews": "false", "checkForUpdates": False},
    # Else cells off the screen are not in the page.
    "@jupyterlab/notebook-extension/tracker": {"windowingMode": "none"},
    # Else the run notebook is saved, and the next test sees stale widgets.
    "@jupyterlab/docmanager-extension/plugin": {"autosave": False},
}
_FOLDERS = {
    "HOME": "home",
    "JUPYTER_CONFIG_DIR": "config",
    "JUPYTER_DATA_DIR": "data",
    "JUPYTER_RUNTIME_DIR": "runtime",
    "JUPYTERLAB_SETTINGS_DIR": "settings",
    "JUPYTERLAB_WORKSPACES_DIR": "workspaces",
    "IPYTHONDIR": "ipython",
}


class JupyterLab:
    """A running server over a folder of notebooks.

    Parameters
    ----------
    notebooks : Path
        Folder that the server shows.
    scratch : Path
        Empty folder for its settings and its log.
    """

    module = "jupyterlab"
    address = "lab/tree"
    options: tuple[str, ...] = (
        "--LabApp.expose_app_in_browser=True",
        "--LabApp.extension_manager=readonly",
    )

    ready = "/api/status"

    def __init__(self, notebooks: Path, scratch: Path) -> None:
        self.notebooks = notebooks
        self.port = _free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.log = scratch / "log.txt"
        with self.log.open("w") as log:
            self._server = subprocess.Popen(
                [sys.executable, "-m", self.module, *self.arguments()],
                env=_environment(scratch), cwd=notebooks, stdout=log, stderr=subprocess.STDOUT,
            )  # fmt: skip
        self._wait()

    def arguments(self) -> list[str]:
        """List the arguments of the program."""
        return [
            "--no-browser", "--allow-root", "--ServerApp.ip=127.0.0.1",
            f"--ServerApp.port={self.port}", "--ServerApp.port_retries=0",
            "--IdentityProvider.token=", "--ServerApp.password=",
            "--ServerApp.disable_check_xsrf=True", f"--ServerApp.root_dir={self.notebooks}",
            *self.options,
        ]  # fmt: skip

    def _wait(self) -> None:
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline and self._server.poll() is None:
            try:
                with urllib.request.urlopen(self.url + self.ready, timeout=5):
                    return
            except OSError:
                time.sleep(0.2)
        self.stop()
        raise RuntimeError(f"{self.module} did not start:\n{self.log.read_text()[-3000:]}")

    def end_sessions(self) -> None:
        """Shut down the kernels: a live one would keep widgets of the previous test."""
        for session in self._request("GET", "/api/sessions"):
            self._request("DELETE", f"/api/sessions/{session['id']}")

    def _request(self, method: str, path: str) -> Any:
        request = urllib.request.Request(self.url + path, method=method)
        with urllib.request.urlopen(request, timeout=30) as response:
            text = response.read()
        return json.loads(text) if text else None

    def stop(self) -> None:
        """End the server and its kernels."""
        self._server.terminate()
        try:
            self._server.wait(timeout=20)
        except subprocess.TimeoutExpired:
            self._server.kill()
            self._server.wait(timeout=20)


class NotebookSeven(JupyterLab):
    """A server of Notebook 7, which shows one notebook per page."""

    module = "notebook"
    address = "notebooks"
    options = ("--JupyterNotebookApp.expose_app_in_browser=True",)


class Voila(JupyterLab):
    """A server of Voilà, which shows the outputs of a notebook as a page."""

    module = "voila"
    ready = "/"

    def arguments(self) -> list[str]:
        """List the arguments of the program."""
        return [
            "--no-browser", "--Voila.ip=127.0.0.1", f"--port={self.port}", "--port_retries=0",
            f"--Voila.root_dir={self.notebooks}",
        ]  # fmt: skip


class Marimo(JupyterLab):
    """A server of marimo that shows the notebook ``app.py`` of a folder as an app."""

    module = "marimo"
    ready = "/health"

    def arguments(self) -> list[str]:
        """List the arguments of the program."""
        return [
            "-q", "-y", "run", "app.py", "--headless", "--no-token",
            "--host=127.0.0.1", f"--port={self.port}",
        ]  # fmt: skip


def open_notebook(page: Any, lab: JupyterLab, name: str) -> None:
    """Open a notebook in a page and wait until its kernel is ready."""
    page.goto(f"{lab.url}/{lab.address}/{name}?reset", timeout=RUN_MS)
    page.wait_for_function("window.jupyterapp !== undefined", timeout=RUN_MS)
    page.wait_for_selector(".jp-Notebook", timeout=RUN_MS)
    page.wait_for_function(_READY, timeout=RUN_MS)


def run_all_cells(page: Any) -> None:
    """Run all cells of the open notebook and wait for them."""
    page.evaluate(_RUN_ALL, RUN_MS)
    page.wait_for_function(_ALL_RUN, timeout=RUN_MS)


def change_theme(page: Any, name: str, *, is_light: bool) -> None:
    """Switch the theme of JupyterLab and wait until the page shows it."""
    page.evaluate(
        "theme => window.jupyterapp.commands.execute('apputils:change-theme', {theme})", name
    )
    page.wait_for_function(
        "light => document.body.dataset.jpThemeLight === light", arg=str(is_light).lower()
    )


def evaluate_in_kernel(page: Any, expression: str) -> str:
    """Return the repr of a Python expression in the open notebook's kernel."""
    return str(page.evaluate(_EVALUATE, [f"print(repr({expression}))", RUN_MS])).strip()


def wait_for_kernel(page: Any, expression: str, expected: str) -> None:
    """Wait until the kernel knows what happened in the page."""
    deadline = time.monotonic() + 20
    found = evaluate_in_kernel(page, expression)
    while found != expected and time.monotonic() < deadline:
        page.wait_for_timeout(50)
        found = evaluate_in_kernel(page, expression)
    assert found == expected


_READY = """() => {
  const context = window.jupyterapp.shell.currentWidget?.sessionContext;
  return context?.isReady && context.session?.kernel?.status === "idle";
}"""

_RUN_ALL = """ms => Promise.race([
  window.jupyterapp.commands.execute("notebook:run-all-cells"),
  new Promise((_, fail) => setTimeout(() => fail(new Error(`cells run for over ${ms} ms`)), ms)),
])"""

_ALL_RUN = """() => {
  const panel = window.jupyterapp.shell.currentWidget;
  const cells = Array.from(panel.content.model.cells).filter((cell) => cell.type === "code");
  const ran = cells.every((cell) => cell.executionCount !== null);
  return ran && panel.sessionContext.session.kernel.status === "idle";
}"""

_EVALUATE = """async ([code, ms]) => {
  const kernel = window.jupyterapp.shell.currentWidget.sessionContext.session.kernel;
  const future = kernel.requestExecute({ code, store_history: false });
  let text = "";
  future.onIOPub = (message) => {
    if (message.header.msg_type === "stream") text += message.content.text;
    if (message.header.msg_type === "error") text += message.content.evalue;
  };
  const late = new Promise((_, fail) => {
    setTimeout(() => fail(new Error(`the kernel is silent for ${ms} ms`)), ms);
  });
  await Promise.race([future.done, late]);
  return text;
}"""


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _environment(scratch: Path) -> dict[str, str]:
    environment = {**os.environ, "JUPYTER_PLATFORM_DIRS": "0", "PYTHONDONTWRITEBYTECODE": "1"}
    for variable, folder in _FOLDERS.items():
        (scratch / folder).mkdir(parents=True, exist_ok=True)
        environment[variable] = str(scratch / folder)
    for plugin, values in _SETTINGS.items():
        path = scratch / "settings" / f"{plugin}.jupyterlab-settings"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(values))
    return environment
