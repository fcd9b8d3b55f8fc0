"""Arrows and centroids of fitted variables over a map, in Python and by the command `plot`."""

from dataclasses import replace

import numpy as np
import pytest

import manymaps as mm
from figure_samples import assert_apart
from manymaps.errors import ParameterError
from manymaps.model import MULTIPLE_MAPS_T_SNE, T_SNE

SITES = [f"site {k}" for k in range(16)]


@pytest.fixture(scope="module")
def atlas() -> mm.Atlas:
    points = np.random.default_rng(1).normal(size=(1, 16, 2))
    return mm.Atlas(SITES, points, np.ones((1, 16)), T_SNE)


@pytest.fixture(scope="module")
def table(atlas) -> dict[str, list]:
    x, y = atlas.maps[0].T
    noise = np.random.default_rng(2).normal(size=16)
    return {
        "site": SITES, "east": x.tolist(), "north west": (y - x + noise).tolist(),
        "noise": noise.tolist(), "half": np.where(y > 0, "upper", "lower").tolist(),
    }  # fmt: skip


def arrows_of(ax) -> tuple[np.ndarray, np.ndarray]:
    """Starts and steps of all arrows."""
    arrows = [each for each in ax.texts if each.get_gid() == "vector"]
    starts = np.array([each.xyann for each in arrows])
    return starts, np.array([each.xy for each in arrows]) - starts


def assert_along(steps, found):
    directions = steps / np.hypot(*steps.T)[:, None]
    np.testing.assert_allclose(directions, found.arrows[["x", "y"]], atol=1e-9)


@pytest.mark.parametrize("width", [None, "column"])
def test_arrows_point_and_end_as_in_vegan(atlas, table, width):
    found = mm.fit_vectors(atlas, table).significant(0.05)
    assert found.arrows["variable"].tolist() == ["east", "north west"]
    figure = mm.plot_map(atlas, vectors=found, width=width)
    (ax,) = figure.axes
    starts, steps = arrows_of(ax)
    np.testing.assert_allclose(starts, [found.origin] * 2)
    assert_along(steps, found)
    lengths = np.hypot(*steps.T)
    r2 = found.arrows["r2"]
    np.testing.assert_allclose(lengths / lengths[0], np.sqrt(r2 / r2[0]))
    # The longest arrow fills three quarters of the space to the edge.
    low, high = np.array([ax.get_xlim(), ax.get_ylim()]).T
    room = np.where(steps > 0, high - found.origin, found.origin - low)
    assert (np.abs(steps) / room).max() == pytest.approx(0.75)
    names = [text for text in ax.texts if text.get_gid() == "variable"]
    assert all(6 <= text.get_fontsize() <= (8 if width else 12) for text in names)
    texts = {text.get_text() for text in names}
    assert texts == {"east", "north west", "half: lower", "half: upper"}
    assert_apart(figure, [*names, *(text for text in ax.texts if text.get_gid() == "label")])
    (diamonds,) = [dots for dots in ax.collections if dots.get_gid() == "centroid"]
    np.testing.assert_allclose(diamonds.get_offsets(), found.centroids[["x", "y"]])
    np.testing.assert_allclose(found.ends(low, high)[1], starts + steps)


def test_arrows_start_in_the_middle_if_their_origin_is_not_in_the_picture(atlas, table):
    found = mm.fit_vectors(atlas, table).significant(0.05)
    centroids = found.centroids.assign(y=found.centroids["y"] + [0, 99])
    far = replace(found, origin=found.origin + 99, centroids=centroids)
    figure = mm.plot_map(atlas, vectors=far)
    (ax,) = figure.axes
    low, high = np.array([ax.get_xlim(), ax.get_ylim()]).T
    starts, steps = arrows_of(ax)
    np.testing.assert_allclose(starts, [(low + high) / 2] * 2)
    assert_along(steps, found)
    assert (np.abs(steps) / (high - low)).max() == pytest.approx(0.75 / 2)
    names = [text.get_text() for text in ax.texts if text.get_gid() == "variable"]
    assert sorted(names) == ["east", "half: lower", "north west"]


def test_variables_without_a_direction_or_none_at_all_are_no_arrows(atlas):
    found = mm.fit_vectors(atlas, {"site": SITES, "one": [1.0] * 16}, n_permutations=9)
    for shown in (found, found.significant(0.5)):
        (ax,) = mm.plot_map(atlas, vectors=shown).axes
        assert not [x for x in ax.texts if x.get_gid() in ("vector", "variable")]


def test_arrows_of_another_map_or_dimension_are_refused(atlas, table):
    maps = np.concatenate([atlas.maps] * 2)
    two = mm.Atlas(SITES, maps, np.full((2, 16), 0.5), MULTIPLE_MAPS_T_SNE)
    line = mm.Atlas(SITES, atlas.maps[:, :, :1], np.ones((1, 16)), T_SNE)
    for other, m in ((two, 1), (line, 0)):
        vectors = mm.fit_vectors(other, table, n_permutations=9)
        with pytest.raises(ParameterError):
            mm.plot_map(other, m, vectors=vectors)
