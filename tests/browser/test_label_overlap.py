"""No two visible labels overlap, nor does one lie under a tool, at any zoom and threshold."""

import numpy as np
import pytest

from figure_samples import overlapping

pytestmark = pytest.mark.slow

# Opens each view and returns its labels and the tools over them, once it is at rest.
VISIT = """async (views) => {
  const { atlas, shadowRoot } = document.querySelector("#manymaps");
  const found = [];
  for (const view of views) {
    atlas.change(view);
    for (let frame = 0; frame < 5 || !atlas.isAtRest; frame++) {
      await new Promise(requestAnimationFrame);
    }
    const host = shadowRoot.querySelector(".mapview").getBoundingClientRect();
    const tools = [...shadowRoot.querySelectorAll(".dock, .plaque")].map((tool) => {
      const { x, y, width, height } = tool.getBoundingClientRect();
      return [x - host.x, y - host.y, width, height];
    });
    const labels = atlas.shown().map(({ x, y, width, height }) => [x, y, width, height]);
    const objects = atlas.shown().map(({ object }) => object);
    found.push({ camera: { ...atlas.camera }, labels, objects, tools });
  }
  return found;
}"""


def views_of(atlas, rng, count=20):
    """Random views: near and far, at some object, some of them with its word looked up."""
    chosen = []
    for k in range(count):
        map = int(rng.integers(atlas.n_maps))
        threshold = float(rng.choice([0, 0.02, 0.1, 0.3, 0.7]))
        shares = atlas.map_weights[map]
        # No view is empty, so the object that it shows must be drawn.
        object = int(rng.choice(np.flatnonzero(shares >= min(shares.max(), threshold + 1e-3))))
        points = atlas.maps[map, shares >= min(0.01, shares.max())]
        whole = 700 / max(np.ptp(points, axis=0).max(), 1e-3)
        x, y = atlas.maps[map, object].tolist()
        camera = {"x": x, "y": y, "zoom": float(whole * 2 ** rng.uniform(-1, 7))}
        word = object if k % 4 == 0 else None
        chosen.append({"word": word, "map": map, "camera": camera, "threshold": threshold})
    return chosen


@pytest.mark.parametrize("name", ["relations", "norms"])
def test_no_two_labels_overlap(request, open_page, rng, name):
    atlas = request.getfixturevalue(name)
    at = open_page(request.getfixturevalue(f"{name}_page"), "#map=0")
    at.map.wait_for()
    at.settle()
    views = views_of(atlas, rng)
    found = at.page.evaluate(VISIT, views)
    for view, seen in zip(views, found, strict=True):
        assert seen["camera"] == pytest.approx(view["camera"])
        boxes = np.array([*seen["labels"], *seen["tools"]], dtype=float)
        boxes[:, 2:] += boxes[:, :2]
        assert overlapping(boxes, slack=0.5).size == 0
        if view["word"] is None:
            weights = atlas.map_weights[view["map"], seen["objects"]]
            assert (weights >= view["threshold"] - 1e-4).all()
        else:
            assert view["word"] in seen["objects"]
    assert np.median([len(seen["labels"]) for seen in found]) >= 5
