"""One kernel for all executed pages, because a kernel spends several seconds on imports."""

from typing import Any

from jupyter_client.manager import AsyncKernelManager
from jupyter_core.utils import run_sync
from nbclient import NotebookClient

_KERNEL = AsyncKernelManager(kernel_name="python3")


class _Page(NotebookClient):
    """Run a page in the kernel of the earlier pages, without their variables."""

    async def async_start_new_kernel_client(self) -> Any:
        client = await super().async_start_new_kernel_client()
        folder = self.resources["metadata"]["path"]
        reply = await client.execute_interactive(f"%page {folder}", timeout=self.startup_timeout)
        if reply["content"]["status"] != "ok":
            raise RuntimeError(f"the kernel cannot start a page: {reply['content']}")
        return client


def execute(nb: Any, cwd: str, **options: Any) -> Any:
    """Execute the cells of a notebook; the options are those of `nbclient.NotebookClient`."""
    page = _Page(nb, km=_KERNEL, resources={"metadata": {"path": cwd}}, **options)
    try:
        return page.execute()
    finally:
        if page.kc is not None:
            page.kc.stop_channels()


def shut_down(*_: Any) -> None:
    """End the kernel, if one was started."""
    if _KERNEL.has_kernel:
        run_sync(_KERNEL.shutdown_kernel)(now=True)
