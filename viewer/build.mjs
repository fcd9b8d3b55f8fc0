// Bundles the viewer into one ES module: src/manymaps/viewer_assets/viewer.js. With --tests, bundles
// the tests into build/tests instead; with --check, fails where the committed file differs.
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import process from "node:process";
import * as esbuild from "esbuild";

const OUTPUT = "../src/manymaps/viewer_assets/viewer.js";
const LIMIT = 150_000;
// What the bundle holds of others, whose licences ask to be kept with every copy.
const PARTS = ["preact", "flatbush", "flatqueue"];

const minifiedStyle = {
  name: "style as text",
  setup(build) {
    build.onLoad({ filter: /\.css$/ }, async ({ path }) => {
      const source = await readFile(path, "utf8");
      const { code } = await esbuild.transform(source, { loader: "css", minify: true });
      return { contents: code.trim(), loader: "text" };
    });
  },
};

const common = {
  bundle: true,
  format: "esm",
  target: ["es2022"],
  jsx: "automatic",
  jsxImportSource: "preact",
  plugins: [minifiedStyle],
  legalComments: "none",
  charset: "utf8",
  logLevel: "warning",
};

async function licences() {
  const texts = new Map();
  for (const part of PARTS) {
    const text = (await readFile(`node_modules/${part}/LICENSE`, "utf8")).trim();
    texts.set(text, [...(texts.get(text) ?? []), part]);
  }
  return [...texts].map(([text, parts]) => `${parts.join(", ")}\n\n${text}`).join("\n\n---\n\n");
}

async function bundle() {
  const result = await esbuild.build({
    ...common,
    entryPoints: ["src/index.ts"],
    minify: true,
    write: false,
    metafile: true,
  });
  const packages = Object.keys(result.metafile.inputs)
    .map((path) => path.match(/node_modules\/((?:@[^/]+\/)?[^/]+)/)?.[1])
    .filter(Boolean);
  const unnamed = [...new Set(packages)].filter((name) => !PARTS.includes(name));
  if (unnamed.length) throw new Error(`licences of ${unnamed.join(", ")} are not named in PARTS`);
  const code = result.outputFiles[0].text.trim();
  if (Buffer.byteLength(code) > LIMIT) {
    throw new Error(`the bundle has ${Buffer.byteLength(code)} bytes, more than ${LIMIT}`);
  }
  return `${code}\n/* The atlas page of manymaps. It holds parts of others:\n\n${await licences()}\n*/\n`;
}

if (process.argv.includes("--tests")) {
  const tests = (await readdir("tests", { recursive: true })).filter((name) =>
    name.endsWith(".test.ts"),
  );
  // What an earlier build left would be run too.
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
  const text = await bundle();
  if (process.argv.includes("--check")) {
    if ((await readFile(OUTPUT, "utf8").catch(() => "")) !== text) {
      console.error(`${OUTPUT} is not what these sources give: run npm run build and commit it`);
      process.exit(1);
    }
  } else {
    await mkdir("../src/manymaps/viewer_assets", { recursive: true });
    await writeFile(OUTPUT, text);
  }
  console.log(`viewer.js: ${Buffer.byteLength(text.split("\n/* The atlas page")[0])} bytes`);
}
