// Bundles the viewer into one ES module and one style sheet: viewer.js and viewer.css of
// src/manymaps/viewer/assets. With --tests, bundles the tests into build/tests instead; with --check,
// fails if the committed files differ. Fails too if an import of the sources leads from one folder to
// a higher one, or if imports form a circle.
import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import { posix } from "node:path";
import process from "node:process";
import * as esbuild from "esbuild";

const ASSETS = "../src/manymaps/viewer/assets";
const LIMIT = 180_000;
// The parts of src, the lowest first: a file imports from its own part and from those before it.
const PARTS = ["data", "scene", "draw", "view", "state", "ui", "index.ts"];
// Libraries in the bundle; their licences must accompany every copy.
const LIBRARIES = ["preact", "@leeoniya/ufuzzy"];

const common = {
  bundle: true,
  format: "esm",
  target: ["es2022"],
  jsx: "automatic",
  jsxImportSource: "preact",
  charset: "utf8",
  logLevel: "warning",
};

/** The source files that a source file imports, including those of types, which esbuild drops. */
async function importsOf(name, sources) {
  const statement = /^(?:import|export)\b[^;"=()]*"(\.[^"]+)"/gm;
  const text = await readFile(`src/${name}`, "utf8");
  return [...text.matchAll(statement)]
    .map(([, path]) => posix.join(posix.dirname(name), path))
    .filter((path) => sources.includes(path));
}

async function checkImports() {
  const names = await readdir("src", { recursive: true });
  const sources = names.filter((name) => /(?<!\.d)\.tsx?$/.test(name));
  const imports = new Map();
  for (const name of sources) imports.set(name, await importsOf(name, sources));
  const partOf = (name) => PARTS.indexOf(name.split("/")[0]);
  const done = new Set();
  const visit = (name, trail) => {
    if (trail.includes(name)) throw new Error(`imports form a circle: ${[...trail, name]}`);
    if (done.has(name)) return;
    for (const other of imports.get(name)) {
      if (partOf(other) > partOf(name)) throw new Error(`src/${name} must not import src/${other}`);
      visit(other, [...trail, name]);
    }
    done.add(name);
  };
  for (const name of sources) visit(name, []);
}

async function bundle() {
  const licences = LIBRARIES.map((name) => readFile(`node_modules/${name}/LICENSE`, "utf8"));
  const texts = (await Promise.all(licences)).map((text, k) => `${LIBRARIES[k]}\n\n${text.trim()}`);
  const banner = { js: `/* The atlas page of manymaps. It contains:\n\n${texts.join("\n\n")}\n*/` };
  const entryPoints = ["src/index.ts"];
  const result = await esbuild.build({
    ...common,
    entryPoints,
    minify: true,
    banner,
    write: false,
  });
  const { text, contents } = result.outputFiles[0];
  if (contents.length > LIMIT) throw new Error(`the bundle exceeds ${LIMIT} bytes`);
  return text;
}

async function styleSheet() {
  const source = await readFile("src/style.css", "utf8");
  return (await esbuild.transform(source, { loader: "css", minify: true })).code;
}

await checkImports();
if (process.argv.includes("--tests")) {
  const tests = (await readdir("tests", { recursive: true })).filter((name) =>
    /\.test\./.test(name),
  );
  // Files of an earlier build would run too.
  await rm("build/tests", { recursive: true, force: true });
  await esbuild.build({
    ...common,
    entryPoints: tests.map((name) => `tests/${name}`),
    outbase: "tests",
    outdir: "build/tests",
    outExtension: { ".js": ".mjs" },
    platform: "node",
    sourcemap: "inline",
  });
} else {
  for (const [name, text] of [
    ["viewer.js", await bundle()],
    ["viewer.css", await styleSheet()],
  ]) {
    const path = `${ASSETS}/${name}`;
    if (!process.argv.includes("--check")) await writeFile(path, text);
    else if ((await readFile(path, "utf8")) !== text) {
      throw new Error(`${path} is out of date; run npm run build and commit it`);
    }
    console.log(`${name}: ${Buffer.byteLength(text)} bytes`);
  }
}
