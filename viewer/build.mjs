// Bundles the viewer into one ES module and one style sheet: viewer.js and viewer.css of
// src/manymaps/viewer/assets. With --tests, bundles the tests into build/tests instead; with --check,
// fails where the committed files differ. Fails too where an import of the sources climbs from one room
// to a higher one, or where imports run in a circle.
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { posix } from "node:path";
import process from "node:process";
import * as esbuild from "esbuild";
import { minify } from "terser";

const ASSETS = "../src/manymaps/viewer/assets";
const LIMIT = 140_000;
// The rooms of src, the lowest first: a file imports from its own room and from those before it.
const ROOMS = ["texts.ts", "data", "scene", "draw", "view", "state", "ui", "index.ts"];
// What the bundle holds of others, whose licences ask to be kept with every copy.
const PARTS = ["preact"];

// The reader of the header, whose parts have the names of the header.
const READER = "data/container.ts";
// The fields of whose interfaces others see: scripts, and the notebook.
const GIVEN = [
  ...["data/atlas.ts", "data/nearest.ts", "data/observed.ts"],
  ...["scene/callouts.ts", "scene/camera.ts", "scene/emphasis.ts", "scene/regions.ts"],
  ...["state/lookups.ts", "state/script_access.ts", "state/store.ts", "state/widget_model.ts"],
];
const LIBRARIES = [
  "node_modules/@typescript",
  "node_modules/preact/dist",
  "node_modules/preact/src",
  "node_modules/preact/hooks/dist",
];

// Names that may be shortened although the libraries contain them: members of our own classes, and the
// methods of Preact's class components, which the page does not use.
const FREE = [
  "atlas current props state accent appearance caption destroy elements legend line measure",
  "pending place store visible contextType diffed componentDidMount componentDidUpdate",
  "componentDidCatch componentWillMount componentWillReceiveProps componentWillUnmount",
  "componentWillUpdate getChildContext getDerivedStateFromError getDerivedStateFromProps",
  "getSnapshotBeforeUpdate debounceRendering shouldComponentUpdate",
].flatMap((names) => names.split(" "));

/**
 * Members of our own classes and interfaces, and Preact's own, which the bundle may call otherwise.
 *
 * A name is left alone where anything else may know it: a member or a global of the browser, an
 * attribute of Preact's, a field that `READER` reads, the interfaces of `GIVEN`, or a text of the
 * sources that may stand for a key: all but the values of most attributes.
 */
async function ownMembers() {
  const sources = (await readdir("src", { recursive: true })).filter((name) =>
    /\.tsx?$/.test(name),
  );
  const known = new Set();
  const members = new Set(["__[a-zA-Z]", ...FREE]);
  for (const folder of LIBRARIES) {
    const names = await readdir(folder, { recursive: true });
    for (const name of names.filter((name) => /\.(d\.ts|mjs)$/.test(name))) {
      // What stands after a bracket is a parameter, which nobody reads of an object.
      const word = name.endsWith("mjs")
        ? /([A-Za-z_$][\w$]*)/g
        : /(?:^\s*(?:readonly |[gs]et )?|[{;] |(?:function|var|const) )"?([A-Za-z_$][\w$]*)/gm;
      for (const [, found] of (await code(`${folder}/${name}`)).matchAll(word)) known.add(found);
    }
  }
  for (const [, word] of (await code(`src/${READER}`)).matchAll(/[.{,] ?(\w+)/g)) known.add(word);
  for (const name of sources) {
    const text = await code(`src/${name}`);
    for (const [, word] of text.matchAll(/(?:[^=]|icon=|name=)["'`]([A-Za-z_]\w*)["'`]/g))
      known.add(word);
    for (const word of membersIn(text, "class|interface")) members.add(word);
    if (GIVEN.includes(name)) for (const word of membersIn(text, "interface")) known.add(word);
  }
  // A text with the name of a member would be looked up in an object of all texts.
  const texts = [...(await code("src/texts.ts")).matchAll(/^export \w+ (\w+)/gm)];
  const free = [...members].filter((name) => !known.has(name) || FREE.includes(name)).sort();
  const twice = texts.map(([, name]) => name).filter((name) => free.includes(name));
  if (twice.length) throw new Error(`rename in src/texts.ts what members are called: ${twice}`);
  return free;
}

/** The members that the classes or interfaces of a source declare. */
function membersIn(text, kinds) {
  const type = new RegExp(`^(?:export )?(?:${kinds}) [^\\n]*\\{\\n(.*?)^\\}`, "gms");
  const member = /^ {2,}(?:(?:private|readonly|static|async|get|set) )*([A-Za-z]\w{2,})[?!]?[:(]/gm;
  return [...text.matchAll(type)].flatMap(([, block]) =>
    [...block.matchAll(member)].map(([, word]) => word),
  );
}

async function code(path) {
  return (await readFile(path, "utf8")).replace(/\/\*[\s\S]*?\*\//g, "").replace(/\/\/.*$/gm, "");
}

const common = {
  bundle: true,
  format: "esm",
  target: ["es2022"],
  // What the checker is told of JSX says more than is needed to run it.
  tsconfigRaw: {},
  jsx: "transform",
  jsxFactory: "h",
  jsxFragment: "Fragment",
  inject: ["jsx.mjs"],
  legalComments: "none",
  charset: "utf8",
  logLevel: "warning",
};

/** What each source file imports of the others, types too, which esbuild forgets. */
async function importsOfSources() {
  const statement = /^(?:import|export)\b[^;"=()]*"(\.[^"]+)"/gm;
  const call = /\bimport\(\s*"(\.[^"]+)"/g;
  const names = await readdir("src", { recursive: true });
  const sources = names.filter((name) => /(?<!\.d)\.tsx?$/.test(name));
  const imports = new Map();
  for (const name of sources.sort()) {
    const text = await readFile(`src/${name}`, "utf8");
    const found = [...text.matchAll(statement), ...text.matchAll(call)];
    const paths = found.map(([, path]) => posix.join(posix.dirname(name), path));
    imports.set(
      name,
      paths.filter((path) => sources.includes(path)),
    );
  }
  return imports;
}

function roomOf(name) {
  const room = ROOMS.indexOf(name.split("/")[0]);
  if (room < 0) throw new Error(`src/${name} is in none of the rooms of ROOMS`);
  return room;
}

/** The files of a circle of imports, the first one again at its end; null without any. */
function circleIn(imports) {
  const done = new Set();
  const visit = (name, trail) => {
    if (trail.includes(name)) return [...trail.slice(trail.indexOf(name)), name];
    if (done.has(name)) return null;
    for (const other of imports.get(name) ?? []) {
      const circle = visit(other, [...trail, name]);
      if (circle) return circle;
    }
    done.add(name);
    return null;
  };
  for (const name of imports.keys()) {
    const circle = visit(name, []);
    if (circle) return circle;
  }
  return null;
}

async function checkImports() {
  const imports = await importsOfSources();
  for (const [name, others] of imports) {
    const room = roomOf(name);
    const climb = others.find((other) => roomOf(other) > room);
    if (climb) throw new Error(`src/${name} imports from src/${climb}, which is in a higher room`);
  }
  const circle = circleIn(imports);
  if (circle) throw new Error(`imports run in a circle: src/${circle.join(" -> src/")}`);
}

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
    mangleProps: new RegExp(`^(?:${(await ownMembers()).join("|")})$`),
    write: false,
    metafile: true,
  });
  const packages = Object.keys(result.metafile.inputs)
    .map((path) => path.match(/node_modules\/((?:@[^/]+\/)?[^/]+)/)?.[1])
    .filter(Boolean);
  const unnamed = [...new Set(packages)].filter((name) => !PARTS.includes(name));
  if (unnamed.length) throw new Error(`licences of ${unnamed.join(", ")} are not named in PARTS`);
  // esbuild takes each statement by itself; what several say together terser says in fewer bytes.
  // No getter of ours has an effect, and no built-in function is replaced.
  const safe = { unsafe_arrows: true, unsafe: true, pure_getters: true };
  const compress = { passes: 3, keep_fargs: false, hoist_funs: true, ...safe };
  const options = { module: true, ecma: 2022, compress, format: { comments: false } };
  // Shaders are texts, which no minifier of scripts shortens. What only they name gets one letter.
  const inShaders = "place fill inner ring form reach circle distance inside covered away result";
  const letters = Object.fromEntries(
    inShaders.split(" ").map((name, k) => [name, "abcdefghijkl"[k]]),
  );
  const text = result.outputFiles[0].text.replace(
    /(#version[^`]*?\n)([^`]*)`/g,
    (_, first, rest) =>
      `${first}${rest
        .replace(/\s*([-\n{};=+*(),>/?:<])\s*/g, "$1")
        .replaceAll("\n", "")
        .replace(/\b0(?=\.[1-9])|(?<=\d\.)0\b/g, "")
        .replace(/\b[a-z]+\b/g, (name) => letters[name] ?? name)}\``,
  );
  const { code } = await minify(text, options);
  if (Buffer.byteLength(code) > LIMIT) {
    throw new Error(`the bundle has ${Buffer.byteLength(code)} bytes, more than ${LIMIT}`);
  }
  return `${code}\n/* The atlas page of manymaps. It holds parts of others:\n\n${await licences()}\n*/\n`;
}

/** The style of the viewer's shadow root; the page and the widget hand it over beside the module. */
async function styleSheet() {
  const source = await readFile("src/style.css", "utf8");
  return (await esbuild.transform(source, { loader: "css", minify: true })).code;
}

try {
  await checkImports();
} catch (error) {
  console.error(error.message);
  process.exit(1);
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
  const assets = { "viewer.js": await bundle(), "viewer.css": await styleSheet() };
  await mkdir(ASSETS, { recursive: true });
  for (const [name, text] of Object.entries(assets)) {
    const path = `${ASSETS}/${name}`;
    if (!process.argv.includes("--check")) await writeFile(path, text);
    else if ((await readFile(path, "utf8").catch(() => "")) !== text) {
      console.error(`${path} is not what these sources give: run npm run build and commit it`);
      process.exit(1);
    }
  }
  const [code] = assets["viewer.js"].split("\n/* The atlas page");
  console.log(
    `viewer.js: ${Buffer.byteLength(code)} bytes, viewer.css: ${assets["viewer.css"].length}`,
  );
}
