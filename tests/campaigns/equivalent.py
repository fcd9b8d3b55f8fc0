"""Mutants that behave as the source does, each with the reason; read before any is added.

Keys are module, function and change, so that a line may move. What is faster or slower, or bounds
the memory, behaves the same.
"""

from __future__ import annotations

EQUIVALENT: dict[tuple[str, str, str], str] = {}
