/** The meaning of colours and shapes; a click on a category hides or shows it. */

import type { CategoryColumn } from "../data/atlas.ts";
import type { Legend, LegendItem } from "../scene/coloring.ts";
import { kindsBeside } from "../scene/legend.ts";
import { CIRCLE, shapeOf } from "../scene/mark_data.ts";
import type { Session } from "../state/session.ts";
import { Button } from "./button.tsx";
import { Only } from "./filter_panel.tsx";

export function Legends({ session }: { session: Session }) {
  const { legend } = session.shown.look.coloring;
  const kinds = kindsBeside(session.atlas, legend);
  if (legend.type === "weight" && kinds.length === 0) return null;
  return (
    <section aria-label="Legend">
      <LegendKeys session={session} legend={legend} />
      {kinds.length > 0 && <Kinds kinds={kinds} />}
    </section>
  );
}

function LegendKeys({ session, legend }: { session: Session; legend: Legend }) {
  if (legend.type === "weight") return null;
  if (legend.type === "number") {
    return (
      <div class="ramp">
        <i style={{ background: `linear-gradient(to right, ${legend.stops})` }} />
        <div class="ends number">
          <span>{legend.low}</span>
          <span>{legend.middle}</span>
          <span>{legend.high}</span>
        </div>
        {legend.hasMissing && <div class="ends">grey: no value</div>}
      </div>
    );
  }
  const column = session.atlas.columns.find(({ name }) => name === legend.name);
  return (
    <ul class="legend" aria-label={`Colours: ${legend.name}`}>
      {legend.items.map((item) => (
        <li key={item.label} class="keyed">
          <Key session={session} item={item} column={column as CategoryColumn} />
        </li>
      ))}
    </ul>
  );
}

type KeyProps = { session: Session; item: LegendItem; column: CategoryColumn };

function Key({ session, item, column }: KeyProps) {
  const { label, color, codes, shape } = item;
  const isOn = codes.some((code) => !session.shown.offIn(column).has(code));
  const onlyThis = () => session.showOnly(column, codes);
  return (
    <>
      <Button
        class="key plain"
        title={label}
        aria-pressed={isOn}
        onClick={({ altKey }) => (altKey ? onlyThis() : session.let(column, codes, !isOn))}
      >
        <Swatch shape={shape} color={color} />
        <span>{label}</span>
      </Button>
      <Only name={label} onChoose={onlyThis} />
    </>
  );
}

/** Outlines of a circle, a diamond and a square, in the order of the numbers of shapes. */
const SHAPES = ["M5 0a5 5 0 1 0 .1 0z", "M5 0L10 5L5 10L0 5z", "M1 1h8v8H1z"];

function Swatch({ shape = CIRCLE, color }: { shape?: number | undefined; color: string }) {
  return (
    <svg class="swatch" viewBox="0 0 10 10" aria-hidden="true">
      <path d={SHAPES[shape]} fill={color} />
    </svg>
  );
}

function Kinds({ kinds }: { kinds: readonly string[] }) {
  return (
    <ul class="legend" aria-label="Marks">
      {kinds.map((kind) => (
        <li key={kind} class="key">
          <Swatch shape={shapeOf(kind, kinds)} color="currentColor" />
          <span>{kind}</span>
        </li>
      ))}
    </ul>
  );
}
