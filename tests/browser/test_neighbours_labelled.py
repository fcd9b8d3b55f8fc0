"""What a sense lists is labelled: in its crop and in the open map, whatever the neighbourhood."""

import pytest

pytestmark = pytest.mark.slow

# Each canvas keeps what was written on it.
WRITTEN = """
const proto = CanvasRenderingContext2D.prototype, write = proto.fillText;
proto.fillText = function (text, ...rest) {
  (this.canvas.written ??= []).push(text);
  return write.call(this, text, ...rest);
};
"""
CROPS = """async () => {
  const root = document.querySelector("#manymaps").shadowRoot;
  const crops = [...root.querySelectorAll(".sense canvas")];
  for (const crop of crops) {
    crop.scrollIntoView({ inline: "nearest" });
    while (!crop.written) await new Promise(requestAnimationFrame);
  }
  const said = crops.map((crop) => crop.written);
  for (const crop of crops) crop.written = null;
  return said;
}"""
LISTED = """atlas.senses(given).map(({ map, neighbors }) => ({
  map, near: neighbors.map((object) => atlas.atlas.labels[object]),
}))"""


@pytest.mark.parametrize("viewport", [(1280, 800), (390, 844)])
def test_all_that_a_sense_lists_is_labelled(open_page, relations, relations_page, rng, viewport):
    at = open_page(
        relations_page,
        script=WRITTEN,
        viewport=dict(zip(("width", "height"), viewport, strict=True)),
        reduced_motion="reduce",
    )
    count = 0
    for word in rng.choice(relations.n_objects, 6, replace=False).tolist():
        at.read("atlas.change({ word: null, map: null })")
        at.read("atlas.chooseWord(given)", word)
        at.senses.wait_for()
        senses = at.read(LISTED, word)
        count += sum(len(sense["near"]) for sense in senses)
        for sense, crop in zip(senses, at.page.evaluate(CROPS), strict=True):
            assert set(sense["near"]) <= set(crop), (word, sense["map"])
        at.read("atlas.openMap(given)", senses[0]["map"])
        at.settle()
        box = at.box()
        shown = {
            label["text"]
            for label in at.shown
            if label["x"] >= 0
            and label["y"] >= 0
            and label["x"] + label["width"] <= box["width"]
            and label["y"] + label["height"] <= box["height"]
        }
        assert set(senses[0]["near"]) <= shown
    assert count > 50
