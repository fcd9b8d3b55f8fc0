"""Choice models, targets P, and costs with their gradients."""

from __future__ import annotations

from manymaps.model.choice import (
    CODE,
    MULTIPLE_MAPS_SNE,
    MULTIPLE_MAPS_T_SNE,
    SNE,
    SYMMETRIC_SNE,
    T_SNE,
    UNI_SNE,
    ChoiceModel,
)

__all__ = [
    "CODE", "MULTIPLE_MAPS_SNE", "MULTIPLE_MAPS_T_SNE", "SNE", "SYMMETRIC_SNE", "T_SNE", "UNI_SNE",
    "ChoiceModel",
]  # fmt: skip
