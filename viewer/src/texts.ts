/**
 * Every text of the page: sentences, labels, tooltips, announcements and messages, in the order in
 * which a reader meets them.
 *
 * A text with parts that are drawn, such as a word in bold, is a list of these and of plain texts.
 */

type Noun = readonly [one: string, several: string];

// Numbers

const NUMBERS = "No One Two Three Four Five Six Seven Eight Nine".split(" ");

/** A whole number with separators of thousands. */
export const whole = (count: number) => count.toLocaleString("en");

const plural = (count: number, noun: string) => noun + (count === 1 || /s$/.test(noun) ? "" : "s");

/** A small count in words, with its noun: "One sense", "Three maps". */
export const spelled = (count: number, noun: string) =>
  `${NUMBERS[count] ?? count} ${plural(count, noun)}`;

/** A count with its noun: 1 map, 2,000 words. */
export const counted = (count: number, noun: string) => `${whole(count)} ${plural(count, noun)}`;

/** A count of an atlas's objects in its own noun: 1 image, 2,000 cells. */
export const countedObjects = ({ noun }: { noun: Noun }, count: number) =>
  `${whole(count)} ${noun[count === 1 ? 0 : 1]}`;

/** A text that begins a heading. */
export const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);

/** A share as per cent: "<1%" below 1 %, one decimal below 10 %; */
export function percent(share: number): string {
  const value = 100 * share;
  if (!(value > 0)) return "0%";
  if (value < 1) return "<1%";
  return `${value.toFixed(value >= 9.95 ? 0 : 1)}%`;
}

/** A whole per cent; "<1%" for 0. */
export const wholePercent = (value: number) => (value > 0 ? `${value}%` : "<1%");

// Shared texts

export const BETWEEN = " · ";
export const DASH = " – ";
export const NO_LABEL = "no label";
export const NAMELESS = "an object without a label";
export const NO_WORDS = "no words";
export const NO_VALUE = "no value";
export const CLOSE = "Close";
export const CLEAR = "Clear";
export const MENU = "Menu";
export const SHOW_ALL = "Show all";
export const SHOW_SENSES = "Show senses";
export const unlabelled = ([noun]: Noun) => `${noun} without a label`;
export const mapName = (map: number) => `Map ${map}`;
export const mapHeading = (map: number, title: string) => `Map ${map}: ${title}`;
export const portrait = (column: string, label: string) => `${column} of ${label}`;
export const andMore = (count: number) => `and ${whole(count)} more`;

// Head and opening

export const DISPLAY = "Display";
export const HELP = "Help";
export const themeOf = (name: string) => `${capital(name)} theme`;
export const EXAMPLE = "Example";
export const FOR_EXAMPLE = "For example ";
export const exampleOf = <T>(word: T) => ["Example: ", word];
export const allMaps = (count: number) => `All ${counted(count, "map")}`;
export const someMaps = (shown: number, count: number) => `${shown} of ${counted(count, "map")}`;
export const onlyMapsWith = <T>(word: T) => ["Only maps with ", word];
export const sourceOf = (source: string) => `Source: ${source}`;
export const creditOf = (credit: string) => `Credit: ${credit}`;
export const facts = (objects: string, maps: number, method: string) =>
  `${objects} in ${counted(maps, "map")}${method && `, drawn by ${method}`}`;

// Search

export const CLEAR_SEARCH = "Clear the search";
export const closeOn = (map: number | null) =>
  map === null ? "close on no map" : `both close on map ${map}`;
export const DID_YOU_MEAN = "Did you mean: ";
export const find = (nouns: string) => `Find ${nouns}`;
export const foundList = (nouns: string) => `${capital(nouns)} found`;
export const noMatch = (noun: string, text: string) => `No ${noun} matches “${text}”`;
export const showGroupOnly = <T>(column: T, value: T) => ["Show only ", column, " = ", value];

// A word: heading, cards and collapsed sections

export const SENSES = "Senses";
export const CLOSE_SENSES = "Close the senses";
export const BOTH_CLOSE = "both words are close here";
export const openMap = (map: number) => `Map ${map} · open`;
export const headline = <T>(word: T, maps: string) => [word, `: ${maps}`];
export const onMaps = (count: number) =>
  count === 0 ? "on no map" : `on ${spelled(count, "map").toLowerCase()}`;
export const covered = (share: string) => `with ${share} of its associations`;
export const notClose = (labels: string) =>
  `Associates that are not close on their map: ${labels}.`;
export const ARROW = "An arrow at the edge points to a neighbour outside the picture";
export const ALL_ASSOCIATES = "All associates";
export const NEIGHBOURS = "Neighbours";
export const evokes = (noun: string) => `What evokes this ${noun}`;
export const EVOKING = "Shares of their own associations";
export const ASSOCIATES = "Its associates";
export const NEAREST = "Nearest neighbours";
export const OBSERVED_HEAD = "observed";
export const OBSERVED_TITLE = "Response share in the data.";
export const ON_MAP_HEAD = "on the map";
export const CLOSE_HEAD = "close on map";
export const NEAR_HEAD = "on map";
export const isClose = (is: boolean) => (is ? "close" : "not close");
export const NOWHERE = "none";
export const select = (isSelected: boolean) => (isSelected ? "Selected" : "Select");
export const theObject = (noun: string) => `The ${noun}`;
export const CLOSE_CARD = "Close the card";
export const SHOW_ON_MAP = "Show on map";
export const KIND = "kind";

// The open map

export const THE_MAP = "The map";
export const ALL_MAPS = "All maps";
export const PREVIOUS_MAP = "Previous map";
export const NEXT_MAP = "Next map";
export const ZOOM_IN = "Zoom in";
export const ZOOM_OUT = "Zoom out";
export const REGIONS = "Regions";
export const zoomToRegion = (region: string) => `Zoom to ${region}`;
export const PAN = "Move the map";
export const LASSO = "Select with a lasso";
export const withKey = (name: string, key: string) => `${name} (${key})`;
export const keysOfMap = (name: string, title: string) =>
  `${name}: ${title}. Arrow keys move it, plus and minus zoom, 0 shows all`;
export const PROJECTION =
  "The map is drawn on the plane through its two axes with the most variance";
export const projection = (dimensions: number, share: string) =>
  `Projection of ${dimensions} dimensions, with ${share} of the variance`;
export const seenNow = (objects: string) => `${objects} in sight`;
export const observedHere = (share: string) => `${share} observed here`;
export const alsoIn = (maps: readonly number[], count: number) =>
  `also in ${count === 1 ? "map" : `${counted(count, "map")}:`} ${maps.join(", ")}`;
export const evokesIt = <T>(word: T, share: string) => [word, ` evokes it: ${share} observed`];
export const listOf = (isObserved: boolean) => (isObserved ? "Observed: " : "Neighbours: ");
export const MAP_WEIGHT = "map weight";
export const measured = (share: string) => `${MAP_WEIGHT} ${share}`;

// Panel: display, legend, filters, selection

export const ABOUT_VIEW = "About this view";
export const hideBelow = <T>(nouns: string, least: T) => [
  `Hide ${nouns} that barely belong to a map: ${MAP_WEIGHT} below `,
  least,
];
export const COLOUR_BY = "Colour by";
export const SIZE_BY = "Size by";
export const NO_COLUMN = "none";
export const DRAW_LINKS = "Draw links";
export const findToLink = (noun: string) => `Find a ${noun} to see its observed links.`;
export const dashed = (nouns: string) => `Dashed: the two ${nouns} are not close.`;
export const kinds = (kind: string) => plural(2, kind);
export const FEATURES = "Features";
export const LEGEND = "Legend";
export const MARKS = "Marks";
export const GREY = "grey: no value";
export const coloursOf = (column: string) => `Colours: ${column}`;
export const sizeOf = (column: string) => `dot size: ${column}`;
export const WEIGHT_LOW = "map weight: low";
export const HIGH = "high";
export const lowEnd = (column: string, low: string) => `${column}: ${low}`;
export const otherCategories = (count: number, isSomeMissing: boolean) =>
  [count > 0 && counted(count, "other"), isSomeMissing && NO_VALUE].filter(Boolean).join(", ");
export const FILTERS = "Filters";
export const FILTERED = " filtered";
export const ALL = "All";
export const NONE = "None";
export const ONLY = "only";
export const FROM = "from";
export const TO = "to";
export const findIn = (place: string | number) => `Find in ${place}`;
export const only = (name: string) => `Only ${name}`;
export const shownOf = (count: number, all: string) => `${whole(count)} of ${all} shown`;
export const SELECTION = "Selection";
export const SELECTION_FILE = "selection";
export const selected = (objects: string) => `${objects} selected`;
export const toggled = (label: string, isOn: boolean) => `${label} ${isOn ? "" : "de"}selected; `;
export const CSV = " CSV";

// Saving

export const SAVE = "Save";
export const FORMATS = ["PNG", "SVG"] as const;
export const sensesFile = (label: string) => `senses of ${label}`;
export const mapFile = (map: number, label: string) => `map ${map} ${label}`;
export const MAPS_FILE = "maps";
export const ATLAS_FILE = "atlas";
export const notSaved = (problem: string) => `Could not save the picture: ${problem}`;
export const TOO_LARGE = "it is too large for this browser";
export const NO_CANVAS = "this browser has no 2D canvas";

// Announcements and notices

export const ITS_MAPS = "Its maps";
export const noneShown = (noun: string) => `No ${noun} shown`;
export const near = (label: string, neighbours: string) =>
  neighbours ? `${label}, near ${neighbours}` : label;
export const senseOnMap = (name: string, share: string, map: number) =>
  `${name}, ${share} on map ${map}`;
export const wordInWords = (label: string, maps: string, senses: string, far: string) =>
  `${label}: ${maps}. ${senses && `${senses}. `}${far}`.trim();
export const noSuchMap = (map: number, last: number) =>
  `Map ${map} does not exist; the last map is map ${last}`;

// Help

export const HELP_TITLE = "How to read an atlas";
export const SHORTCUTS = "Single-key shortcuts";
export const OBSERVED_HELP =
  "“Observed” is the share in the data. “Close” means a similarity on that map of at least 5% of the largest one.";
export const reading = (isSingle: boolean, nouns: string) =>
  `${
    isSingle
      ? `Each dot is one of the ${nouns}. Similar ${nouns} are close together.`
      : `Each map shows some of the ${nouns}; associated ${nouns} are close together. The area of a dot is its ${MAP_WEIGHT}: the share of its associations that this map contributes.`
  } Click a dot to select it; double-click to open it. Drag with Shift to select with a lasso. An arrow at the edge points to a neighbour outside the picture; click it to go there.`;

export const KEYS: [keys: string[], effect: string][] = [
  [["/"], "find by name; Enter opens the result"],
  [["Tab", "Enter"], "go to the next control; open it"],
  [["←", "→"], "previous or next sense or map"],
  [["g"], "show all maps"],
  [["[", "]"], "previous map, next map"],
  [
    ["m"],
    "go to the map; then arrows move it, + and − zoom, 0 shows all, n goes to the next neighbour, Tab to the names of regions",
  ],
  [["s"], "select or deselect the result"],
  [["p", "l"], "move the map, select with a lasso"],
  [["t"], "go to the threshold; arrows change it"],
  [["f"], "go to the filters; Enter opens them"],
  [["e"], "save a picture"],
  [["Esc"], "close, clear, or return to all maps"],
  [["?"], "show this help"],
];

// Pages that cannot be read

export const FAILURE = "This atlas cannot be shown";
export const notOpened = (problem: string) => `The atlas could not be opened: ${problem}`;
const again = (problem: string) =>
  `The data in this page ${problem}; save the page again with \`manymaps view\`.`;
export const NOT_PACKED = again("are not a packed atlas");
export const TRUNCATED = again("are truncated or damaged");
export const otherVersion = (version: number, own: number) =>
  again(`have format ${version}, but this viewer reads ${own}`);
