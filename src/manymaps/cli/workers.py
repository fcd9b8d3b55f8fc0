"""The workers of a command with many fits: processes on this machine, or a Dask cluster."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import click

import manymaps as mm
from manymaps.cli.contract import RunFailed
from manymaps.cli.record import option
from manymaps.errors import not_installed

_BACKENDS = ("loky", "threading", "dask")


def _address(value: str) -> str:
    """Check the address of a scheduler: a host and a port."""
    if not re.fullmatch(r"(\w+://)?(\[[\da-fA-F:.]+\]|[^\s:/]+):\d+/?", value):
        raise click.BadParameter(
            f"{value!r} is not the address of a scheduler; use host:port, such as "
            "tcp://10.0.0.1:8786"
        )
    return value


@dataclass(frozen=True, kw_only=True)
class Workers:
    """Options that determine where the fits of a command run."""

    backend: str | None = option(
        _BACKENDS,
        "Run up to --jobs tasks in parallel in processes (loky), in threads, or on a Dask cluster "
        "of this machine.",
    )
    scheduler: str | None = option(
        _address,
        "Run the tasks on the Dask cluster of the scheduler at this address.",
        metavar="ADDRESS",
    )

    @property
    def named(self) -> str | None:
        """The option that was passed, if any."""
        return "--backend" if self.backend else "--scheduler" if self.scheduler else None


def check_workers(workers: Workers) -> None:
    """Reject a scheduler for workers that do not use one."""
    if workers.scheduler is not None and workers.backend not in (None, "dask"):
        raise click.UsageError(f"--scheduler does not apply to --backend {workers.backend}")


@contextmanager
def on_workers(workers: Workers, jobs: int | None) -> Iterator[None]:
    """Run tasks in a joblib context, as the options specify.

    Raises
    ------
    RunFailed
        If there is no cluster, or if workers are lost.
    """
    from joblib import parallel_config

    try:
        if workers.scheduler is not None or workers.backend == "dask":
            with _client(workers.scheduler, jobs or -1), parallel_config(backend="dask"):
                yield
        elif workers.backend is not None:
            with parallel_config(backend=workers.backend, n_jobs=jobs or -1):
                yield
        else:
            yield
    except mm.WorkersLostError as error:
        raise RunFailed(str(error)) from error


@contextmanager
def _client(address: str | None, jobs: int) -> Iterator[None]:
    """Connect to a cluster, or start one on this machine that ends with the block."""
    try:
        from dask.distributed import Client, LocalCluster
    except ImportError as error:
        raise RunFailed(not_installed("a Dask cluster", "distributed")) from error
    # Errors are reported in one line by this package, so the logs of Dask are silenced.
    import logging

    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    if address is None:
        with (
            LocalCluster(
                n_workers=jobs if jobs > 0 else None,
                threads_per_worker=1,
                dashboard_address=":0",
                silence_logs=logging.CRITICAL,
            ) as cluster,
            Client(cluster),
        ):
            yield
        return
    try:
        client = Client(address)
    except (OSError, ValueError) as error:
        raise RunFailed(f"--scheduler {address}: no scheduler responds at this address") from error
    with client:
        yield
