"""Held-out associations: what predicts them, and sweeps over settings."""

from __future__ import annotations

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
