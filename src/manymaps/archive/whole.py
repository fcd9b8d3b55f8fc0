"""Files written whole or not at all.

Whatever is written goes to a temporary file beside its final place, which is renamed when it is
complete: a reader never sees half a file, and a failure leaves the old one.
"""

from __future__ import annotations

import os
import secrets
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
        Where the place cannot be written, which it names; nothing is left behind.

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
    # The name is known before the file is there, so that no moment is wrong for an interruption.
    temporary = final.parent / f".{final.stem[:40]}.{secrets.token_hex(6)}{final.suffix}"
    try:
        temporary.touch(0o600, exist_ok=False)
        yield temporary
        umask = os.umask(0)
        os.umask(umask)
        temporary.chmod(0o666 & ~umask)
        temporary.replace(final)
    except BaseException as error:
        temporary.unlink(missing_ok=True)
        names = (None, str(temporary))
        if isinstance(error, OSError) and error.errno is not None and error.filename in names:
            error.filename = str(path)  # a full disk does not say which file it was
        raise
