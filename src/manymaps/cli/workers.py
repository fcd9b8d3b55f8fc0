"""Where the many fits of a command run: in processes of this machine, or on a Dask cluster."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import click

from manymaps.cli.contract import RunFailed
from manymaps.cli.options import combined

__all__ = ["check_workers", "on_workers", "worker_options"]

_BACKENDS = ("loky", "threading", "dask")


class _Address(click.ParamType):
    """That of a scheduler: a host and a port."""

    name = "address"

    def convert(self, value: Any, param: Any, ctx: Any) -> str:
        """The address."""
        if not re.fullmatch(r"(\w+://)?(\[[\da-fA-F:.]+\]|[^\s:/]+):\d+/?", str(value)):
            self.fail(
                f"{value!r} is no address of a scheduler; give host:port, such as "
                "tcp://10.0.0.1:8786",
                param,
                ctx,
            )
        return str(value)


worker_options = combined(
    click.option(
        "--backend",
        type=click.Choice(_BACKENDS),
        help="How several run beside one another, --jobs at a time: in processes (loky), threads, "
        "or a Dask cluster of this machine.",
    ),
    click.option(
        "--scheduler",
        type=_Address(),
        metavar="ADDRESS",
        help="That of a Dask cluster, on all of which they run.",
    ),
)


def check_workers(ctx: click.Context, options: Mapping[str, Any]) -> None:
    """Refuse a scheduler for workers that have none."""
    if options["scheduler"] is not None and options["backend"] not in (None, "dask"):
        raise click.UsageError(f"--scheduler does not apply to --backend {options['backend']}", ctx)


@contextmanager
def on_workers(options: Mapping[str, Any]) -> Iterator[None]:
    """Run tasks where the options say, which joblib's context then knows.

    Raises
    ------
    RunFailed
        Where there is no cluster, and for workers that are lost.
    """
    from joblib import parallel_config

    from manymaps.compute.tasks import WorkersLost

    jobs = options["jobs"] or -1
    try:
        if options["scheduler"] is not None or options["backend"] == "dask":
            with _client(options["scheduler"], jobs), parallel_config(backend="dask"):
                yield
        elif options["backend"] is not None:
            with parallel_config(backend=options["backend"], n_jobs=jobs):
                yield
        else:
            yield
    except WorkersLost as error:
        raise RunFailed(str(error)) from error


@contextmanager
def _client(address: str | None, jobs: int) -> Iterator[None]:
    """The client of a cluster, or of one of this machine that ends with the block."""
    try:
        from dask.distributed import Client, LocalCluster
    except ImportError as error:
        raise RunFailed(
            "a Dask cluster needs dask[distributed]; pip install 'manymaps[distributed]'"
        ) from error
    # What goes wrong is told in a line of ours.
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
        raise RunFailed(f"--scheduler {address}: no scheduler answers there") from error
    with client:
        yield
