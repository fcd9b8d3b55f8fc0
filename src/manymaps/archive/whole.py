"""Files written whole or not at all.

Whatever is written goes to a temporary file beside its final place, which is renamed when it is
complete: a reader never sees half a file, and a failure leaves the old one.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["written_whole"]


@contextmanager
def written_whole(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A temporary path with the same suffix that becomes `path` when the block ends well.

    Raises
    ------
    OSError
        Where the place cannot be written; nothing is left behind.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with written_whole(Path(folder, "a.txt")) as temporary:
    ...         _ = temporary.write_text("whole")
    ...     Path(folder, "a.txt").read_text()
    'whole'
    """
    final = Path(os.path.realpath(path))
    handle, name = tempfile.mkstemp(
        prefix=f".{final.stem[:40]}.", suffix=final.suffix, dir=final.parent
    )
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        umask = os.umask(0)
        os.umask(umask)
        temporary.chmod(0o666 & ~umask)
        temporary.replace(final)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
