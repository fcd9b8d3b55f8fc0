"""The Shepard plot: every pair, a line that rises, and the plane beside it."""

import numpy as np
import pytest

from manymaps.analysis.diagnosis import Diagnosis, diagnose
from manymaps.errors import ParameterError
from manymaps.figures.shepard import plot_shepard


@pytest.fixture(scope="module")
def found() -> Diagnosis:
    angles = np.arange(9) * 2 * np.pi / 9
    points = np.column_stack([np.cos(angles), np.sin(angles)])
    values = np.exp(-np.linalg.norm(points[:, None] - points, axis=-1))
    values += np.random.default_rng(0).normal(0, 0.02, values.shape)
    return diagnose((values + values.T) / 2, affinity="precomputed")


def test_every_pair_and_the_rising_line_are_drawn(found):
    figure = plot_shepard(found)
    pairs, plane = figure.axes
    dots = next(one for one in pairs.collections if one.get_gid() == "pair")
    scaling = found.scaling
    np.testing.assert_allclose(
        dots.get_offsets(), np.column_stack([scaling.dissimilarities, scaling.distances])
    )
    line = next(one for one in pairs.lines if one.get_gid() == "rising")
    across, upwards = line.get_data()
    assert len(across) == 36
    assert (np.diff(across) >= 0).all()
    assert (np.diff(upwards) >= -1e-12).all()
    labels = {text.get_text() for text in plane.texts if text.get_gid() == "label"}
    assert labels == {str(i) for i in range(9)}
    assert any(f"Stress {found.stress:.3f}" in text.get_text() for text in figure.texts)


def test_a_size_without_room_is_refused(found):
    with pytest.raises(ParameterError, match="leaves no space"):
        plot_shepard(found, size=(2, 2))
