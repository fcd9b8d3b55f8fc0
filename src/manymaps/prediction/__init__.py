"""Held-out associations: what predicts them, and sweeps over settings.

What fits is loaded when it is first used: spreading of activation needs none of it.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from manymaps.prediction.held_out import (
        Ranking,
        Split,
        checked_part,
        conditional_probabilities,
        prediction_error,
        rank_held_out,
        score_split,
        split_associations,
        uniform_errors,
        word_errors,
    )
    from manymaps.prediction.predictor import (
        PAPER_2009,
        AssociationPredictor,
        AveragedPredictor,
        PredictionResult,
        Predictor,
        predict_associations,
        score_predictor,
    )

__all__ = [
    "PAPER_2009",
    "AssociationPredictor",
    "AveragedPredictor",
    "PredictionResult",
    "Predictor",
    "Ranking",
    "Split",
    "checked_part",
    "conditional_probabilities",
    "predict_associations",
    "prediction_error",
    "rank_held_out",
    "score_predictor",
    "score_split",
    "split_associations",
    "uniform_errors",
    "word_errors",
]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    homes = map(import_module, (f"{__name__}.held_out", f"{__name__}.predictor"))
    return next(getattr(home, name) for home in homes if hasattr(home, name))
