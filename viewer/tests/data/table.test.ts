/** The CSV of a selection has the columns of `manymaps export`. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { readAtlas } from "../../src/data/container.ts";
import { atlasTable } from "../../src/data/table.ts";
import { type Description, packed } from "../packed.ts";

const SMALL: Description = {
  labels: ["tie", 'a "knot", tied', "line\nbreak"],
  maps: [
    [
      [0.1, -2],
      [1e-7, 0.5],
      [0, 0],
    ],
    [
      [3, 3],
      [0, 0],
      [123456.79, 1],
    ],
  ],
  proportions: [
    [26214, 65535, 0],
    [39321, 0, 65535],
  ],
  weights: [
    [52428, 65535, 0],
    [13107, 0, 65535],
  ],
  columns: [
    { name: "x", type: "text", values: ["é", "", "b,c"] },
    { name: "group", type: "category", categories: ["a"], codes: Uint16Array.of(0, 65535, 0) },
    {
      name: "year",
      type: "number",
      low: 0,
      high: 1,
      values: Float32Array.of(1990, Number.NaN, 0.1),
    },
  ],
};

test("one row for each object and map in which it lives", async () => {
  const atlas = await readAtlas(packed(SMALL));
  assert.equal(
    atlasTable(atlas, [2, 0, 1]),
    "\uFEFFlabel,map,proportion,weight,x,y,metadata_x,group,year\n" +
      '"line\nbreak",1,1,1,123456.79,1,"b,c",a,0.1\n' +
      "tie,0,0.4,0.8,0.1,-2,é,a,1990\n" +
      "tie,1,0.6,0.2,3,3,é,a,1990\n" +
      '"a ""knot"", tied",0,1,1,1e-7,0.5,,,\n',
  );
  assert.equal(atlasTable(atlas, []).split("\n").length, 2);
});

test("coordinates are named as there are dimensions", async () => {
  const header = async (d: number) => {
    const point = new Array<number>(d).fill(0.5);
    const bytes = packed({ labels: ["a"], maps: [[point]], proportions: [[65535]] });
    return atlasTable(await readAtlas(bytes), [0]);
  };
  assert.equal(await header(1), "\uFEFFlabel,map,proportion,weight,x\na,0,1,1,0.5\n");
  assert.equal(await header(3), "\uFEFFlabel,map,proportion,weight,x,y,z\na,0,1,1,0.5,0.5,0.5\n");
  assert.equal((await header(4)).split("\n")[0], "\uFEFFlabel,map,proportion,weight,x0,x1,x2,x3");
});

test("no spreadsheet runs a label, a category, a text or the name of a column", async () => {
  const labels = ["=cmd|' /C calc'!A0", "@sum", "-ing", "-1.5e-7", "'=A1", "\tx", "a=b"];
  const n = labels.length;
  const bytes = packed({
    labels,
    maps: [labels.map(() => [-1, 0])],
    proportions: [labels.map(() => 65535)],
    columns: [{ name: "+total", type: "text", values: labels.map(() => "=1+1") }],
  });
  const table = atlasTable(await readAtlas(bytes), [...Array(n).keys()]);
  const [header, ...rows] = table.slice(1).split("\n");
  assert.equal(header, "label,map,proportion,weight,x,y,'+total");
  assert.deepEqual(
    rows.slice(0, n).map((row) => row.split(",")[0]),
    ["'=cmd|' /C calc'!A0", "'@sum", "'-ing", "-1.5e-7", "''=A1", "'\tx", "a=b"],
  );
  assert.ok(rows.slice(0, n).every((row) => row.endsWith(",1,1,-1,0,'=1+1")));
});

test("what was observed stands beside what the model weights, where it is known", async () => {
  const observed: [number, number][][] = [[[1, 1]], [], []];
  const senses: [number, number][][] = [[[1, 0.75]], [], []];
  const atlas = await readAtlas(packed({ ...SMALL, columns: [], observed, senses }));
  assert.equal(
    atlasTable(atlas, [0, 1]),
    "\uFEFFlabel,map,proportion,weight,observed,x,y\n" +
      "tie,0,0.4,0.8,0,0.1,-2\n" +
      "tie,1,0.6,0.2,0.75,3,3\n" +
      '"a ""knot"", tied",0,1,1,,1e-7,0.5\n',
  );
});
