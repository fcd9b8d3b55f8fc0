"""File format of a sweep: a header and one JSON line per finished point.

    {"format": "manymaps sweep", "version": 1, "data": ..., "split": ..., "predictor": ...}
    {"settings": {"n_maps": 2, ...}, "split": 0, "seed": 0, "measures": {"train": ...}, ...}

Lines are only appended, and each line is written to disk before the sweep continues. A sweep can
therefore be interrupted at any time. An incomplete last line is dropped, and its point is run
again. Failed points are also run again. The header identifies the data, splits and predictor, so
that the file of a different sweep is rejected.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
from collections.abc import Mapping
from pathlib import Path
from types import NoneType, TracebackType
from typing import IO, Any, Self

import numpy as np
from scipy import sparse

from manymaps.archive import Schema, ValuePart
from manymaps.errors import DataError
from manymaps.prediction.points import MEASURES, Point, PointResult

JOURNAL = Schema(
    "manymaps sweep",
    1,
    "A text file stores the finished points of a sweep, one JSON line per point, below a header "
    "line with these values. `sweep` and `predict` write it and continue from it.",
    values={
        "data": ValuePart((str,), "fingerprint of the associations"),
        "split": ValuePart((str,), "description of the split"),
        "predictor": ValuePart((str,), "textual representation of the predictor"),
    },
)
POINT = Schema(
    "point of a sweep",
    1,
    "Each line below the header is one point.",
    values={
        "settings": ValuePart((dict,), "parameters of the point"),
        "split": ValuePart((int,), "index of the split", least=0),
        "seed": ValuePart((int,), "seed of the fit", least=0),
        "measures": ValuePart(
            (dict,), 'measures by name; infinity as the text "inf"',
            each=ValuePart((float, str), "a measure"),
        ),
        "n_iterations": ValuePart((int,), "number of iterations", least=0),
        "seconds": ValuePart((float,), "duration of the fit", least=0),
        "failure": ValuePart((str, NoneType), "reason of a failure"),
    },
)  # fmt: skip
_BEGINNING = f'{{"format": "{JOURNAL.kind}"'.encode()
_OURS = re.compile(r"^manymaps(\.[a-z_0-9]+)*(?=\.|$)")
_NAMES = {"data": "other data", "split": "other splits", "predictor": "another predictor"}


def fingerprint(*tables: sparse.csr_array) -> str:
    """Return a digest of sparse tables that depends only on their values and indices.

    Examples
    --------
    >>> table = sparse.csr_array([[0.0, 1.0], [0.5, 0.0]])
    >>> same, other = table.copy(), 2 * table
    >>> fingerprint(table) == fingerprint(same), fingerprint(table) == fingerprint(other)
    (True, False)
    """
    digest = hashlib.sha256()
    for table in tables:
        digest.update(repr(table.shape).encode())
        for array, kind in (
            (table.indptr, "<i8"), (table.indices, "<i8"), (table.data, "<f8")
        ):  # fmt: skip
            digest.update(np.ascontiguousarray(array, kind).tobytes())
    return digest.hexdigest()


def stable_home(name: str) -> str:
    """Return a dotted name without the modules of this package, which may be renamed.

    Examples
    --------
    >>> stable_home("manymaps.prediction.AssociationPredictor()"), stable_home("theirs.models")
    ('manymaps.AssociationPredictor()', 'theirs.models')
    """
    return _OURS.sub("manymaps", name)


class Journal:
    """Finished points of a sweep, which are stored in a file if a path is given.

    Parameters
    ----------
    path : path or None
        File to create, or to continue if it exists. If it is None, no file is written.
    header : mapping of str to str
        Values shared by all points: "data", "split", "predictor".

    Attributes
    ----------
    done : dict of str to PointResult
        Results of all points, including failed points. The keys are the keys of the points.

    Raises
    ------
    DataError
        If the file has a different format or header, is damaged, or is in use by another sweep.
    """

    def __init__(self, path: str | os.PathLike[str] | None, header: Mapping[str, str]):
        self.path = None if path is None else Path(path)
        self.header = {"format": JOURNAL.kind, "version": JOURNAL.version, **header}
        self.done: dict[str, PointResult] = {}
        self._file: IO[bytes] | None = None

    def __enter__(self) -> Self:
        if self.path is not None:
            self._file = self.path.open("a+b")
            try:
                self._claim(self._file)
                self._read(self._file)
            except BaseException:
                self._file.close()
                raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._file is not None:
            self._file.close()

    def add(self, result: PointResult) -> None:
        """Store a finished point."""
        self.done[result.point.key] = result
        self._write(_record(result))

    def _write(self, record: Mapping[str, Any]) -> None:
        if self._file is not None:
            line = json.dumps(record, allow_nan=False, ensure_ascii=False) + "\n"
            self._file.write(line.encode())
            self._file.flush()
            os.fsync(self._file.fileno())

    def _claim(self, file: IO[bytes]) -> None:
        """Lock the file so that two sweeps cannot write interleaved lines."""
        if os.name != "posix":
            return
        import fcntl

        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise DataError(
                f"{self.path}: another sweep is writing to this file; wait until it ends, or use "
                "another name"
            ) from error
        except OSError:
            return  # the file system does not support locks

    def _read(self, file: IO[bytes]) -> None:
        """Read the stored points and position the file for appending."""
        file.seek(0)
        content = file.read()
        whole = content.rfind(b"\n") + 1
        torn = len(content) >= 2 and _BEGINNING.startswith(content[: len(_BEGINNING)])
        if whole == 0 and content and not torn:
            raise DataError(f"{self.path}: this is not a file of a sweep")
        for number, line in enumerate(content[:whole].splitlines(), 1):
            try:
                record = json.loads(line)
                if number > 1:
                    result = _result(record)
                    self.done[result.point.key] = result
            except (ValueError, RecursionError) as error:
                problem = (
                    "this is not a file of a sweep" if number == 1 else "this point is damaged"
                )
                raise DataError(
                    f"{self.path}, line {number}: {problem} ({error!s:.200})"
                ) from error
            if number == 1:
                self._check(record)
        if whole < len(content):
            file.truncate(whole)
        if whole == 0:
            self._write(self.header)

    def _check(self, header: Any) -> None:
        if not isinstance(header, dict) or header.get("format") != JOURNAL.kind:
            raise DataError(f"{self.path}: this is not a file of a sweep")
        if type(header.get("version")) is not int or header["version"] > JOURNAL.version:
            raise DataError(
                f"{self.path}: written by a newer manymaps (format {header.get('version')}, this "
                f"one reads {JOURNAL.version}); upgrade manymaps"
            )
        for name, description in _NAMES.items():
            if stable_home(str(header.get(name))) != self.header[name]:
                raise DataError(
                    f"{self.path}: this file stores a sweep of {description}; use another name, or "
                    "the same data and options as before"
                )


def _record(result: PointResult) -> dict[str, Any]:
    """Convert a result to JSON values, with exact numbers and with infinity as a string."""
    measures = {
        name: value if math.isfinite(value) else str(value)
        for name, value in result.measures.items()
    }
    return {
        **json.loads(result.point.key),
        "measures": measures,
        "n_iterations": result.n_iterations,
        "seconds": result.seconds,
        "failure": result.failure,
    }


def _result(record: Any) -> PointResult:
    if not isinstance(record, dict):
        raise ValueError("expected a mapping")
    POINT.check(record, {})
    point = Point(record["settings"], record["split"], record["seed"])
    measures = {name: float(value) for name, value in record["measures"].items()}
    if any(map(math.isnan, measures.values())):
        raise ValueError("a measure is not a number")
    failure = record["failure"]
    if failure is None and set(measures) != set(MEASURES):
        raise ValueError("measures are missing")
    return PointResult(point, measures, record["n_iterations"], record["seconds"], failure)
