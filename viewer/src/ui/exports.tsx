/** Pictures that are kept, as PNG or SVG: the open map, the senses of a word, the gallery. */

import { useState } from "preact/hooks";
import type { AtlasMap } from "../data/atlas.ts";
import { elementAt } from "../data/elements.ts";
import type { Sense } from "../data/probabilities.ts";
import { mapTitle, percent, plainLabel, plainText } from "../data/words.ts";
import { savePng, saveSvg } from "../draw/saving.ts";
import type { Panel, Sheet } from "../draw/sheet.ts";
import type { Size } from "../scene/camera.ts";
import { keysOf } from "../scene/legend.ts";
import { observed, provenance, whatIsNear, whereSensesLie } from "../state/sentences.ts";
import type { Session } from "../state/session.ts";
import { cropOf, thumbnail } from "./pictures.tsx";

/** Of each map where there are several. */
const SIZE: Size = { width: 320, height: 240 };
const MOST_CROPS = 4;

/** The open map as it is seen now. */
export function mapSheet(session: Session, map: number): Sheet | null {
  const panel = session.mapView?.panel();
  const { word } = session.state;
  const parts = session.isSingle ? [] : [`Map ${map}: ${titleOf(session, map)}`];
  if (word !== null) parts.push(plainLabel(session.atlas, word));
  const subtitle = parts.join(" \u2013 ") || session.atlas.description;
  return panel ? sheetOf(session, subtitle, [panel], 1) : null;
}

export function sensesSheet(session: Session, word: number, senses: readonly Sense[]): Sheet {
  const { atlas } = session;
  const panels = senses.map((sense): Panel => {
    const { map, share, weight } = sense;
    const told = share === null ? percent(weight) : `${observed(share)}, model ${percent(weight)}`;
    const near = whatIsNear(atlas, sense);
    return { ...cropOf(session, sense, SIZE), caption: `Map ${map}, ${told}`, words: near };
  });
  const subtitle = `${plainLabel(atlas, word)} ${whereSensesLie(senses)}`;
  const rows = Math.ceil(panels.length / MOST_CROPS);
  return sheetOf(session, subtitle, panels, Math.ceil(panels.length / rows));
}

export function gallerySheet(session: Session, maps: readonly AtlasMap[]): Sheet {
  const panels = maps.map((map): Panel => {
    const words = titleOf(session, map.number);
    return { ...thumbnail(session, map, SIZE), caption: `Map ${map.number}`, words };
  });
  const columns = Math.ceil(Math.sqrt(panels.length));
  return sheetOf(session, session.atlas.description, panels, columns);
}

function titleOf({ atlas }: Session, map: number): string {
  return mapTitle(elementAt(atlas.maps, map));
}

function sheetOf(session: Session, subtitle: string, panels: Panel[], columns: number): Sheet {
  const { atlas, appearance, state } = session;
  return {
    title: plainText(atlas.title, 200),
    subtitle: plainText(subtitle, 300),
    panels,
    columns,
    keys: keysOf(atlas, appearance.look.coloring.legend, state.size, appearance.palette.ink),
    foot: provenance(atlas),
  };
}

interface SaveButtonsProps {
  session: Session;
  /** What is saved, where it is not the open map. */
  of?: string;
  /** What the file is called after the atlas. */
  name: string;
  sheet: () => Sheet | null;
}

export function SaveButtons({ session, of, name, sheet }: SaveButtonsProps) {
  const [problem, setProblem] = useState("");
  const save = async (how: typeof savePng | typeof saveSvg) => {
    try {
      const found = sheet();
      const file = `${session.atlas.title} ${name}`;
      if (found) await how(found, session.appearance.palette, file);
      setProblem("");
    } catch (error) {
      setProblem(`Could not save the picture: ${error instanceof Error ? error.message : error}`);
    }
  };
  const formats = [
    ["PNG", savePng],
    ["SVG", saveSvg],
  ] as const;
  return (
    <>
      {formats.map(([format, how]) => (
        <button
          key={format}
          type="button"
          class="tool"
          data-exports={of === undefined}
          data-format
          aria-label={of && `${format} of ${of}`}
          onClick={() => save(how)}
        >
          {format}
        </button>
      ))}
      {problem && <p role="alert">{problem}</p>}
    </>
  );
}
