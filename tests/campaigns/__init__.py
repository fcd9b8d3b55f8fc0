"""Cases that nobody chose: random data and settings, and changes of the source.

`make test` runs a fixed set of random cases. `python -m campaigns.mutants` changes the source.
"""
