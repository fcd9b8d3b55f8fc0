"""What tests of figures measure on what is drawn."""

import numpy as np
from matplotlib.text import Text

from manymaps.atlas.atlas import Atlas
from manymaps.model.choice import MULTIPLE_MAPS_T_SNE

SYLLABLES = ["ba", "ce", "dor", "fin", "gum", "hal", "jit", "kor", "lam", "nes", "pol", "rus"]


def random_atlas(seed, n=300, n_maps=4, n_components=2, sharpness=4.0):
    rng = np.random.default_rng(seed)
    labels = ["".join(rng.choice(SYLLABLES, rng.integers(1, 5))) + str(i) for i in range(n)]
    centres = rng.normal(0, 5, (n_maps, 8, n_components))
    maps = centres[:, rng.integers(0, 8, n)] + rng.normal(0, 0.7, (n_maps, n, n_components))
    logits = sharpness * rng.normal(size=(n_maps, n))
    proportions = np.exp(logits - logits.max(axis=0))
    proportions /= proportions.sum(axis=0)
    return Atlas(labels, maps, proportions, MULTIPLE_MAPS_T_SNE)


def labels_of(ax):
    return [text for text in ax.texts if text.get_gid() == "label"]


def marked(ax, gid):
    """Return the collections with a group id."""
    return [artist for artist in ax.collections if artist.get_gid() == gid]


def points_of(ax, gid="dots"):
    """Return the positions of marks, shape (k, 2)."""
    return np.concatenate([np.empty((0, 2)), *(c.get_offsets() for c in marked(ax, gid))])


def words_of(ax):
    return [text.get_text() for text in labels_of(ax)]


def overlapping(boxes, slack=0.0):
    """Pairs of boxes (left, bottom, right, top) that overlap by more than the slack."""
    low = np.maximum(boxes[:, None], boxes)[..., :2]
    high = np.minimum(boxes[:, None], boxes)[..., 2:]
    return np.argwhere(np.triu((high - low > slack).all(-1), 1))


def extents(texts):
    return np.array([text.get_window_extent().extents for text in texts]).reshape(-1, 4)


def assert_apart(figure, texts, slack=0.5):
    """No text lies on another or out of the figure."""
    figure.draw_without_rendering()
    boxes = extents(texts)
    assert (boxes[:, :2] >= -1).all()
    assert (boxes[:, 2:] <= np.array([figure.bbox.width, figure.bbox.height]) + 1).all()
    pairs = overlapping(boxes, slack)
    assert len(pairs) == 0, [texts[i].get_text() for i in pairs[0]]


def assert_no_overlap(figure):
    """No label lies on another or out of its panel."""
    figure.draw_without_rendering()
    for ax in figure.axes:
        boxes, frame = extents(labels_of(ax)), ax.get_window_extent()
        pairs = overlapping(boxes)
        assert len(pairs) == 0, [words_of(ax)[i] for i in pairs[0]]
        if len(boxes):
            assert (boxes[:, :2].min(axis=0) >= np.array([frame.x0, frame.y0]) - 1).all()
            assert (boxes[:, 2:].max(axis=0) <= np.array([frame.x1, frame.y1]) + 1).all()


def visible_texts(figure):
    """All texts that are drawn, but not their halos, separators, and ticks beyond the axes."""
    figure.draw_without_rendering()
    ticks, seen = set(), set()
    for ax in figure.axes:
        for axis in (ax.xaxis, ax.yaxis):
            low, high = sorted(axis.get_view_interval())
            for tick in axis.get_major_ticks():
                ticks |= {tick.label1, tick.label2}
                seen |= {tick.label1} if low <= tick.get_loc() <= high and ax.axison else set()
    return [
        text
        for text in figure.findobj(Text)
        if text.get_text().strip(" ·") and text.get_visible() and text.get_gid() != "halo"
        and (text not in ticks or text in seen)
    ]  # fmt: skip
