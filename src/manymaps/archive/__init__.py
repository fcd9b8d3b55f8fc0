"""Reading and writing of files, with error handling and archive schemas.

door        errors of reading                        schema      declarations of archives
arrays      .npy, and zips of them
archives    reading and writing by a schema, as a whole
"""
