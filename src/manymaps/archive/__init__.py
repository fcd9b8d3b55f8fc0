"""Reading and writing of files, with error handling, size limits and archive schemas.

door        errors and limits of reading             packing     gzip, bzip2 and xz
arrays      .npy, and zips of them                   schema      declarations of archives
archives    reading and writing by a schema, as a whole
"""

from manymaps.archive.archives import (
    read_archive,
    same_content,
    write_archive,
    write_arrays,
    written_whole,
)
from manymaps.archive.schema import ArrayPart, Schema, ValuePart

__all__ = [
    "ArrayPart", "Schema", "ValuePart", "read_archive", "same_content", "write_archive",
    "write_arrays", "written_whole",
]  # fmt: skip
