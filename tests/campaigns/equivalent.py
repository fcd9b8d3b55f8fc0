"""Mutants that behave as the source does, each with the reason; read before any is added.

Keys are module, function and change, so that a line may move. What is faster or slower, or bounds
the memory, behaves the same; so does a boundary between numbers that are measured, none of which
stands on it.
"""

from __future__ import annotations

_BOUNDARY = "a boundary between real numbers that are measured"
_SIZE = "how much is held at a time"

EQUIVALENT: dict[tuple[str, str, str], str] = {
    ("atlas/senses", "", "1 -> 2"): _SIZE,
    ("atlas/senses", "", "15 -> 14"): _SIZE,
    (
        "atlas/senses",
        "senses_of",
        "shares >= LEAST_SHARE - _ROUNDING -> shares > LEAST_SHARE - _ROUNDING",
    ): _BOUNDARY,
    (
        "atlas/senses",
        "associates_of",
        "choices.log_in(words[owners[here]], members[here], m) >= least[which] -> "
        "choices.log_in(words[owners[here]], members[here], m) > least[which]",
    ): _BOUNDARY,
    ("atlas/senses", "associates_of", "1 -> 2"): "a value that every block replaces",
    ("atlas/context", "_known", "sorted -> list"): "a set of small numbers is in order",
    ("compute/rows", "", "14 -> 13"): _SIZE,
    ("optimizers/loop", "best_of", "show(k) -> pass"): "how far it is, for who looks",
    (
        "optimizers/loop",
        "_take_steps",
        "np.exp(log_softmin(weights)) > _ACTIVE -> np.exp(log_softmin(weights)) >= _ACTIVE",
    ): _BOUNDARY,
    ("optimizers/momentum", "Steps.guard", "spread < before -> spread <= before"): (
        "the spread before would have been the reference"
    ),
}
