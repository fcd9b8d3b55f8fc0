"""Reading and writing of files, with error handling and archive schemas.

door        errors of reading                        schema      declarations of archives
arrays      .npy, and zips of them
archives    reading and writing by a schema, as a whole
"""

from manymaps.archive.archives import read_archive, same_content, write_archive, written_whole
from manymaps.archive.schema import ArrayPart, Schema, ValuePart

__all__ = [
    "ArrayPart", "Schema", "ValuePart", "read_archive", "same_content", "write_archive",
    "written_whole",
]  # fmt: skip
