"""No two visible labels overlap, at any zoom and threshold; and the rule is a slow one's."""

import numpy as np
import page_samples
import pytest

from manymaps.viewer.page import write_page

pytestmark = pytest.mark.slow

# Goes to each view and tells its labels after a few frames, settled or not, with the widths of
# their texts measured anew in both weights.
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
    for (let frame = 0; frame < 5; frame++) await new Promise(requestAnimationFrame);
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


def label_zooms(positions, widths, height, priority):
    """Compute the least zoom at which each label is free of more important visible labels."""
    zooms = [0.0] * len(widths)
    done = []
    for i in sorted(range(len(widths)), key=lambda i: -priority[i]):
        for j in done:
            dx, dy = np.abs(np.subtract(positions[i], positions[j]))
            free_x = (widths[i] + widths[j]) / (2 * dx) if dx else np.inf
            free_y = height / dy if dy else np.inf
            if min(free_x, free_y) > zooms[j]:
                zooms[i] = max(zooms[i], min(free_x, free_y))
        done.append(i)
    return zooms


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


def test_a_label_that_has_come_stays(open_page, norms, norms_page):
    at = open_page(norms_page)
    # A name that finds room is said in place of its words.
    at.read("[(atlas.atlas.maps[0].regions.length = 0), atlas.openMap(0)]")
    at.map.wait_for()
    at.settle()
    start = at.camera
    zooms = start["zoom"] * 1.3 ** np.arange(12)
    views = [
        {"word": None, "map": 0, "camera": {**start, "zoom": float(zoom)}, "threshold": 0.1}
        for zoom in zooms
    ]
    box = at.box()
    middle = np.array([box["x"] + box["width"] / 2, box["y"] + box["height"] / 2])
    tools = [part.bounding_box() for part in at.page.locator(".dock, .plaque").all()]
    before: set[int] = set()
    for view, found in zip(views, at.page.evaluate(VISIT, [views, FONT]), strict=True):
        labels = np.array(found["labels"], dtype=float).reshape(-1, 7)
        objects = labels[:, 6].astype(int)
        points = norms.maps[0, sorted(before)]
        camera = view["camera"]
        screen = (points - [camera["x"], camera["y"]]) * camera["zoom"]
        inside = (np.abs(screen) < [box["width"] / 2 - 30, box["height"] / 2 - 30]).all(axis=1)
        for tool in tools:
            # A label gives way to the tools that lie over the map; most are less wide than 120.
            corner = np.array([tool["x"], tool["y"]]) - middle
            half = np.array([tool["width"], tool["height"]]) / 2
            off = np.abs(screen * [1, -1] - corner - half)
            inside &= (off - half > [60, 30]).any(axis=1)
        assert set(np.array(sorted(before))[inside].tolist() if before else []) <= set(
            objects.tolist()
        )
        before = set(objects.tolist())


def test_the_rule_is_that_of_all_pairs(open_page, pages):
    """Labels on a line, whose heights never matter: the widths decide, as `label_zooms` has it."""
    # Maps of fewer than thirty objects have no regions, whose names come before labels.
    atlas = page_samples.on_a_line(28)
    write_page(atlas, pages / "line.html")
    at = open_page(pages / "line.html")
    at.map.wait_for()
    at.settle()
    order = at.read("[...atlas.atlas.maps[0].order]")
    points = at.read("[...atlas.atlas.maps[0].points]")[::2]
    whole = at.camera["zoom"]
    # Near enough for every label to be free of the next, screen by screen.
    screens = np.arange(points[0], points[-1] + 20, 0.8 * at.box()["width"] / (30 * whole))
    near = [
        {"word": None, "map": 0, "camera": {"x": x, "y": 0, "zoom": 30 * whole}, "threshold": 0}
        for x in screens.tolist()
    ]
    widths = np.full(len(points), np.nan)
    for found in at.page.evaluate(VISIT, [near, FONT]):
        for label in found["labels"]:
            widths[int(label[6])] = label[2]
    assert np.isfinite(widths).all()
    priority = np.empty(len(points))
    priority[order] = -np.arange(len(points))
    places = np.stack([points, np.zeros(len(points))], axis=1)
    zooms = np.array(label_zooms(places, widths, 20, priority))
    views = [
        {"word": None, "map": 0, "camera": {"x": x, "y": 0, "zoom": zoom}, "threshold": 0}
        for zoom in (whole * np.array([0.7, 1, 2, 4, 8])).tolist()
        for x in np.quantile(points, [0.2, 0.5, 0.8]).tolist()
    ]
    half = at.box()["width"] / 2
    for view, found in zip(views, at.page.evaluate(VISIT, [views, FONT]), strict=True):
        zoom = view["camera"]["zoom"]
        reach = np.abs(np.array(points) - view["camera"]["x"]) * zoom < half - 5
        shown = {int(label[6]) for label in found["labels"]}
        assert {int(i) for i in np.flatnonzero(reach & (zooms <= zoom * (1 - 1e-3)))} <= shown
        assert not {int(i) for i in np.flatnonzero(reach & (zooms > zoom * (1 + 1e-3)))} & shown
