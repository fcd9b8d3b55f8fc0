/** SVG: well formed whatever the labels hold, with the marks and words of the view. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { svgOf } from "../../src/draw/drawing_svg.ts";
import { Scene, type Sight } from "../../src/scene/scene.ts";
import { measure, plainLook, tinyAtlas } from "../tiny_atlas.ts";

const SIZE = { width: 400, height: 300 };

function sceneOf(labels: string[], nRows = 0): Scene {
  const atlas = tinyAtlas({
    labels,
    points: labels.flatMap((_, i) => [10 * i, 7 * i]),
    ...(nRows ? { kinds: ["rows", "columns"], nRows } : {}),
  });
  const scene = new Scene(atlas.maps[0], plainLook(atlas), SIZE, measure);
  return scene;
}

function whole(scene: Scene): Sight {
  return { scene, camera: scene.fitCamera, size: SIZE };
}

/** Elements by name; throws where one is not closed. */
function elements(svg: string): Map<string, number> {
  const counts = new Map<string, number>();
  const open: string[] = [];
  for (const [, close, name = "", end] of svg.matchAll(
    /<(\/?)([a-z]+)(?:"[^"]*"|[^">])*?(\/?)>/g,
  )) {
    if (close) assert.equal(open.pop(), name);
    else {
      counts.set(name, (counts.get(name) ?? 0) + 1);
      if (!end) open.push(name);
    }
  }
  assert.deepEqual(open, []);
  return counts;
}

test("the document has a dot for each entry and a text for each visible label", () => {
  const scene = sceneOf(["tie", "rope", "knot", "suit"]);
  const svg = svgOf(whole(scene));
  const counts = elements(svg);
  assert.equal(counts.get("circle"), 4);
  assert.equal(counts.get("text"), scene.letters(scene.fitCamera, SIZE).labels.length);
  assert.match(svg, /^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg" width="400" height="300"/);
  assert.match(svg, />tie<\/text>/);
});

test("labels are text, never markup", () => {
  const bad = ["</svg><script>alert(1)</script>", '"&<b>', "\u0000\uFFFFx", "عربى", "👍"];
  const scene = sceneOf(bad);
  const svg = svgOf(whole(scene));
  assert.ok(!svg.includes("<script"));
  assert.ok(svg.includes("&quot;&amp;&lt;b&gt;"));
  assert.ok(!svg.includes("\u0000") && !svg.includes("\uFFFF"));
  assert.ok(svg.includes("👍") && svg.includes("عربى"));
  elements(svg);
});

test("the second kind has diamonds", () => {
  const scene = sceneOf(["row", "column", "other column"], 1);
  const counts = elements(svgOf(whole(scene)));
  assert.equal(counts.get("circle"), 1);
  assert.equal(counts.get("path"), 2);
});

test("selection and the chosen word are drawn", () => {
  const scene = sceneOf(["a", "b", "c", "d"]);
  const svg = svgOf({
    ...whole(scene),
    emphasis: { chosen: [1], near: [2] },
    selection: new Set([3]),
  });
  const counts = elements(svg);
  // Four dots, one ring, a halo with its dot, and a neighbour's dot.
  assert.equal(counts.get("circle"), 4 + 1 + 2 + 1);
  assert.ok(svg.includes(scene.palette.accent));
});
