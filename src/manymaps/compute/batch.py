"""The maps whose fields are computed together, and the fields (see `manymaps.compute`)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

__all__ = ["Batch", "Field"]


@dataclass(frozen=True)
class Batch:
    """Charged maps in concatenated arrays, as described in `manymaps.compute`.

    `kind` is the code of the kernel (`manymaps.compute.similarity.Kernel`).
    """

    targets: np.ndarray
    target_offsets: np.ndarray
    sources: np.ndarray
    source_offsets: np.ndarray
    log_charges: np.ndarray
    skip: np.ndarray
    kind: int

    @property
    def d(self) -> int:
        """Number of dimensions."""
        return len(self.targets)

    @property
    def n_maps(self) -> int:
        """Number of maps, of which some may have no targets or no sources."""
        return len(self.target_offsets) - 1

    @property
    def ranges(self) -> np.ndarray:
        """Return rows of (first target, last, first source, last), one per map."""
        sides = self.target_offsets, self.source_offsets
        return np.column_stack([end for side in sides for end in (side[:-1], side[1:])])

    def with_targets(self, rows: np.ndarray) -> Batch:
        """Return a batch with some of the targets, given as sorted indices."""
        return replace(
            self,
            targets=np.ascontiguousarray(self.targets[:, rows]),
            target_offsets=np.searchsorted(rows, self.target_offsets),
            skip=self.skip[rows],
        )

    def with_sources(self, rows: np.ndarray) -> Batch:
        """Return a batch with some of the sources, given as sorted indices."""
        place = np.full(self.sources.shape[1] + 1, -1)
        place[rows] = np.arange(len(rows))
        return replace(
            self,
            sources=np.ascontiguousarray(self.sources[:, rows]),
            source_offsets=np.searchsorted(rows, self.source_offsets),
            log_charges=self.log_charges[rows],
            skip=place[self.skip],
        )


class Field(NamedTuple):
    """Potential (n_targets,), force (d, n_targets) and log scale (n_targets,) of each target."""

    potential: np.ndarray
    force: np.ndarray
    scale: np.ndarray

    @classmethod
    def zeros(cls, batch: Batch) -> Field:
        """Return the field of targets without sources."""
        n = batch.targets.shape[1]
        return cls(np.zeros(n, np.float32), np.zeros_like(batch.targets), np.zeros(n))
