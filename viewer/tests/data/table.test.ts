/** The CSV of a selection. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { atlasTable } from "../../src/data/table.ts";
import { tinyAtlas } from "../tiny_atlas.ts";

const points = [
  [0.1, -2, 1e-7, 0.5, 0, 0],
  [3, 3, 0, 0, 123456.7, 1],
];
const weights = [
  [0.8, 1, 0],
  [0.2, 0, 1],
];
const labels = ["tie", 'a "knot", tied', "line\nbreak"];

test("one row for each object and map in which it has weight", () => {
  const atlas = tinyAtlas({
    ...{ labels, points, weights },
    columns: [
      { name: "x", type: "text", values: ["é", "", "b,c"] },
      { name: "group", type: "category", categories: ["a"], codes: Uint16Array.of(0, 65535, 0) },
      {
        ...{ name: "year", type: "number", low: 0, high: 1 },
        values: Float32Array.of(1990, Number.NaN, 0.1),
      },
    ],
  });
  assert.equal(
    atlasTable(atlas, [2, 0, 1]),
    "\uFEFFlabel,map,weight,x,y,metadata_x,group,year\n" +
      '"line\nbreak",1,1,123456.7,1,"b,c",a,0.1\n' +
      "tie,0,0.8,0.1,-2,é,a,1990\n" +
      "tie,1,0.2,3,3,é,a,1990\n" +
      '"a ""knot"", tied",0,1,1e-7,0.5,,,\n',
  );
});

test("the share of the sense on each map is listed if associations are known", () => {
  const observed = {
    offsets: Uint32Array.of(0, 1, 1, 1),
    partners: Uint32Array.of(1),
    shares: Float32Array.of(1),
    maps: Uint32Array.of(2),
    senses: {
      offsets: Uint32Array.of(0, 1, 1, 1),
      maps: Uint32Array.of(1),
      shares: Float32Array.of(0.75),
    },
  };
  assert.equal(
    atlasTable({ ...tinyAtlas({ labels, points, weights }), observed }, [0, 1]),
    "\uFEFFlabel,map,weight,observed,x,y\n" +
      "tie,0,0.8,0,0.1,-2\n" +
      "tie,1,0.2,0.75,3,3\n" +
      '"a ""knot"", tied",0,1,,1e-7,0.5\n',
  );
});

test("no spreadsheet runs a label, a text or the name of a column", () => {
  const labels = ["=cmd|' /C calc'!A0", "@sum", "-ing", "-1.5e-7", "'=A1", "\tx", "a=b"];
  const atlas = tinyAtlas({
    labels,
    points: labels.flatMap(() => [-1, 0]),
    columns: [{ name: "+total", type: "text", values: labels.map(() => "=1+1") }],
  });
  const [header, ...rows] = atlasTable(atlas, [...labels.keys()])
    .slice(1)
    .split("\n");
  assert.equal(header, "label,map,weight,x,y,'+total");
  assert.deepEqual(
    rows.slice(0, labels.length).map((row) => row.split(",")[0]),
    ["'=cmd|' /C calc'!A0", "'@sum", "'-ing", "-1.5e-7", "''=A1", "'\tx", "a=b"],
  );
  assert.ok(rows.slice(0, labels.length).every((row) => row.endsWith(",1,-1,0,'=1+1")));
});
