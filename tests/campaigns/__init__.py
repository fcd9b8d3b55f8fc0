"""Campaigns: many cases that nobody chose, run for long, for what no written test has thought of.

    python -m campaigns [NAME ...] [--minutes M] [--seed S]      (`make campaigns`: all, an hour)

Each campaign is a module with `run(seconds, seed)`, which returns an `Outcome`; `make test` runs a
short one of each with a fixed seed (`test_*.py` beside it). Another seed gives other cases.
"""
