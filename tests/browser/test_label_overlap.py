"""No two visible labels overlap, at any zoom and threshold."""

import numpy as np
import pytest

pytestmark = pytest.mark.slow

# Opens each view and returns its labels at rest, with the widths of their texts measured again in
# both weights.
VISIT = """async ([views, font]) => {
  const atlas = document.querySelector("#manymaps").atlas;
  const pen = document.createElement("canvas").getContext("2d");
  const measured = (label, weight) => {
    pen.font = `${weight} ${label.height / 1.25}px ${font}`;
    return pen.measureText(label.text).width;
  };
  const found = [];
  for (const { word, map, camera, threshold } of views) {
    atlas.change({ word, map, camera, threshold });
    for (let frame = 0; frame < 5 || !atlas.isAtRest; frame++) {
      await new Promise(requestAnimationFrame);
    }
    const labels = atlas.shown().map((label) => [
      label.x, label.y, label.width, label.height, measured(label, 400), measured(label, 600),
      label.object,
    ]);
    found.push({ camera: { ...atlas.camera }, labels });
  }
  return found;
}"""
FONT = (
    '"Source Sans 3", "Source Sans Pro", Inter, "Open Sans", "Noto Sans", "Helvetica Neue", '
    '"Segoe UI", Arial, "DejaVu Sans", sans-serif'
)


def views_of(atlas, rng, count=20):
    """Random views: near and far, at some object, some of them with its word looked up."""
    chosen = []
    for k in range(count):
        map = int(rng.integers(atlas.n_maps))
        threshold = float(rng.choice([0, 0.02, 0.1, 0.3, 0.7]))
        # No view is empty, so the object that it shows must be drawn.
        there = np.flatnonzero(atlas.map_weights[map] > max(threshold, 1e-3))
        if len(there) == 0:
            there = np.array([int(atlas.map_weights[map].argmax())])
        object = int(rng.choice(there))
        shares = atlas.map_weights[map]
        points = atlas.maps[map, shares >= min(0.01, shares.max())]
        whole = 700 / max(np.ptp(points, axis=0).max(), 1e-3)
        x, y = atlas.maps[map, object].tolist()
        camera = {"x": x, "y": y, "zoom": float(whole * 2 ** rng.uniform(-1, 7))}
        word = object if k % 4 == 0 else None
        chosen.append({"word": word, "map": map, "camera": camera, "threshold": threshold})
    return chosen


def overlapping(boxes):
    """The pairs of boxes (left, top, width, height) that have more than an edge in common."""
    left, top, width, height = boxes.T
    wide = np.minimum.outer(left + width, left + width) - np.maximum.outer(left, left)
    high = np.minimum.outer(top + height, top + height) - np.maximum.outer(top, top)
    return np.argwhere(np.triu((wide > 0.01) & (high > 0.01), 1))


@pytest.mark.parametrize("name", ["relations", "norms"])
def test_no_two_labels_overlap(request, open_page, rng, name):
    atlas = request.getfixturevalue(name)
    at = open_page(request.getfixturevalue(f"{name}_page"), "#map=0")
    at.map.wait_for()
    at.settle()
    views = views_of(atlas, rng)
    counts = []
    for view, found in zip(views, at.page.evaluate(VISIT, [views, FONT]), strict=True):
        assert found["camera"] == pytest.approx(view["camera"])
        labels = np.array(found["labels"], dtype=float).reshape(-1, 7)
        counts.append(len(labels))
        boxes, widths, objects = labels[:, :4], labels[:, 4:6], labels[:, 6].astype(int)
        assert overlapping(boxes).size == 0
        # The text is as wide as one of the two weights has it, and stands within its box.
        slack = boxes[:, 2:3] - widths
        assert ((slack >= 0) & (slack < 8)).any(axis=1).all()
        below = atlas.map_weights[view["map"], objects] < view["threshold"] - 1e-4
        near = set() if view["word"] is None else {view["word"]}
        if view["word"] is None:
            assert not below.any()
        else:
            assert near <= set(objects.tolist())
    assert np.median(counts) >= 5
