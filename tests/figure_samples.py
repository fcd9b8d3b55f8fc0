"""What tests of figures measure on what is drawn."""

import numpy as np


def labels_of(ax):
    return [text for text in ax.texts if text.get_gid() == "label"]


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
