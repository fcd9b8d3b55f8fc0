"""Random atlases, and their similarities by the definition."""

import numpy as np

import reference
from manymaps.atlas.atlas import Atlas
from manymaps.model.choice import MULTIPLE_MAPS_T_SNE


def random_atlas(model=MULTIPLE_MAPS_T_SNE, n=14, n_maps=3, d=2, seed=0, spread=1.0, **parts):
    rng = np.random.default_rng(seed)
    maps = spread * rng.normal(size=(n_maps, n, d)).astype(np.float32)
    proportions = rng.dirichlet(np.ones(n_maps), n).T.astype(np.float32)
    return Atlas([f"word {i}" for i in range(n)], maps, proportions, model, **parts)


def similarities_by_map(atlas):
    """v_ij^m of all pairs without factors, (n_maps, n, n); 0 for an object with itself."""
    positions = atlas.maps.astype(float) / atlas.model.kernel_width
    pi = atlas.proportions.astype(float)
    v = np.exp(reference.log_kernel(atlas.model.kernel, positions, positions))
    v *= pi[:, :, None] * pi[:, None]
    v[:, np.eye(pi.shape[1], dtype=bool)] = 0
    return v
