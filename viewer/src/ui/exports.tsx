/** Pictures that are kept, as PNG or SVG: the open map, the senses of a word, the gallery. */

import { useRef, useState } from "preact/hooks";
import { mapTitle, plainLabel, plainText, wholePercent } from "../data/words.ts";
import { savePng, saveSvg } from "../draw/saving.ts";
import type { Panel, Sheet } from "../draw/sheet.ts";
import type { Size } from "../scene/camera.ts";
import { keysOf } from "../scene/legend.ts";
import { provenance, summary, wordsOf } from "../state/sentences.ts";
import type { Session } from "../state/session.ts";
import { Button, useOutside } from "./button.tsx";
import { cropOf, thumbnail } from "./pictures.tsx";

const SIZE: Size = { width: 320, height: 240 };
const MOST_CROPS = 4;

function mapSheet(session: Session, map: number): Sheet | null {
  const panel = session.mapView?.panel();
  const { word } = session.state;
  const parts = session.isSingle ? [] : [`Map ${map}: ${titleOf(session, map)}`];
  if (word !== null) parts.push(plainLabel(session.atlas, word));
  const projection = session.projectionOf(map);
  if (projection) parts.push(projection);
  const subtitle = parts.join(" – ") || session.atlas.description;
  return panel ? sheetOf(session, subtitle, [panel], 1) : null;
}

function sensesSheet(session: Session, word: number): Sheet {
  const { atlas, lookups } = session;
  const senses = lookups.sensesOf(word);
  const panels = senses.map((sense): Panel => {
    const { name, others } = wordsOf(atlas, sense, senses.length);
    const words = `${name} ${wholePercent(sense.percent)}${others && `: ${others}`}`;
    return { ...cropOf(session, sense, SIZE), caption: `Map ${sense.map}`, words };
  });
  const subtitle = `${plainLabel(atlas, word)}: ${summary(senses)}`;
  const rows = Math.ceil(panels.length / MOST_CROPS);
  return sheetOf(session, subtitle, panels, Math.ceil(panels.length / rows));
}

function gallerySheet(session: Session): Sheet {
  const panels = session.contents.inGallery.map((map): Panel => {
    const words = titleOf(session, map.number);
    return { ...thumbnail(session, map, SIZE), caption: `Map ${map.number}`, words };
  });
  const columns = Math.ceil(Math.sqrt(panels.length));
  return sheetOf(session, session.atlas.description, panels, columns);
}

function titleOf({ atlas }: Session, map: number): string {
  return mapTitle(atlas.maps[map]);
}

function sheetOf(session: Session, subtitle: string, panels: Panel[], columns: number): Sheet {
  const { atlas, shown, state } = session;
  return {
    title: plainText(atlas.title, 200),
    subtitle: plainText(subtitle, 300),
    panels,
    columns,
    keys: keysOf(atlas, shown.look.coloring.legend, state.size, shown.palette.ink),
    foot: provenance(atlas),
  };
}

export function SaveMenu({ session }: { session: Session }) {
  const [problem, setProblem] = useState("");
  const menu = useRef<HTMLDetailsElement>(null);
  const close = () => {
    if (menu.current) menu.current.open = false;
  };
  useOutside(menu, close);
  /** The picture of the current view, and the end of its file name. */
  const sheet = (): [Sheet | null, string] => {
    const { map, word, gallery } = session.state;
    const label = word === null ? "" : plainLabel(session.atlas, word);
    if (map !== null) return [mapSheet(session, map), `map ${map} ${label}`];
    if (word === null || gallery) return [gallerySheet(session), "maps"];
    return [sensesSheet(session, word), `senses of ${label}`];
  };
  const save = async (how: typeof savePng | typeof saveSvg) => {
    try {
      const [found, of] = sheet();
      const file = `${session.atlas.title} ${of}`.trim();
      if (found) await how(found, session.shown.palette, file);
      close();
      setProblem("");
    } catch (error) {
      setProblem(
        `Could not save the picture: ${error instanceof Error ? error.message : String(error)}`,
      );
    }
  };
  const ways = [savePng, saveSvg];
  return (
    <details class="menu" ref={menu}>
      <summary class="button">Save</summary>
      <div class="choices">
        {(["PNG", "SVG"] as const).map((format, k) => (
          <Button key={format} class="button" onClick={() => save(ways[k])}>
            {format}
          </Button>
        ))}
      </div>
      {problem && <p role="alert">{problem}</p>}
    </details>
  );
}
