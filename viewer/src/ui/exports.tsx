/** Pictures that are kept, as PNG or SVG: the open map, the senses of a word, the gallery. */

import { useRef, useState } from "preact/hooks";
import { mapTitle, plainLabel, plainText } from "../data/words.ts";
import { savePng, saveSvg } from "../draw/saving.ts";
import type { Panel, Sheet } from "../draw/sheet.ts";
import type { Size } from "../scene/camera.ts";
import { keysOf } from "../scene/legend.ts";
import { provenance, summary, wordsOf } from "../state/sentences.ts";
import type { Session } from "../state/session.ts";
import * as texts from "../texts.ts";
import { Button, useOutside } from "./button.tsx";
import { cropOf, thumbnail } from "./pictures.tsx";

/** Size of each map on a sheet of several maps. */
const SIZE: Size = { width: 320, height: 240 };
const MOST_CROPS = 4;

/** The open map as it is seen now. */
function mapSheet(session: Session, map: number): Sheet | null {
  const panel = session.mapView?.panel();
  const { word } = session.state;
  const parts = session.isSingle ? [] : [texts.mapHeading(map, titleOf(session, map))];
  if (word !== null) parts.push(plainLabel(session.atlas, word));
  const projection = session.projectionOf(map);
  if (projection) parts.push(projection);
  const subtitle = parts.join(texts.DASH) || session.atlas.description;
  return panel ? sheetOf(session, subtitle, [panel], 1) : null;
}

function sensesSheet(session: Session, word: number): Sheet {
  const { atlas, lookups } = session;
  const senses = lookups.sensesOf(word);
  const panels = senses.map((sense): Panel => {
    const { name, others } = wordsOf(atlas, sense, senses.length);
    const words = `${name} ${texts.wholePercent(sense.percent)}${others && `: ${others}`}`;
    return { ...cropOf(session, sense, SIZE), caption: texts.mapName(sense.map), words };
  });
  const subtitle = texts.headline(plainLabel(atlas, word), summary(senses)).join("");
  const rows = Math.ceil(panels.length / MOST_CROPS);
  return sheetOf(session, subtitle, panels, Math.ceil(panels.length / rows));
}

function gallerySheet(session: Session): Sheet {
  const panels = session.contents.inGallery.map((map): Panel => {
    const words = titleOf(session, map.number);
    return { ...thumbnail(session, map, SIZE), caption: texts.mapName(map.number), words };
  });
  const columns = Math.ceil(Math.sqrt(panels.length));
  return sheetOf(session, session.atlas.description, panels, columns);
}

function titleOf({ atlas }: Session, map: number): string {
  return mapTitle(atlas.maps[map]);
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

/** Saves what is in sight: the open map, the senses of the word, or all maps. */
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
    if (map !== null) return [mapSheet(session, map), texts.mapFile(map, label)];
    if (word === null || gallery !== null) return [gallerySheet(session), texts.MAPS_FILE];
    return [sensesSheet(session, word), texts.sensesFile(label)];
  };
  const save = async (how: typeof savePng | typeof saveSvg) => {
    try {
      const [found, of] = sheet();
      const file = `${session.atlas.title} ${of}`.trim();
      if (found) await how(found, session.appearance.palette, file);
      close();
      setProblem("");
    } catch (error) {
      setProblem(texts.notSaved(error instanceof Error ? error.message : String(error)));
    }
  };
  const ways = [savePng, saveSvg];
  return (
    <details class="menu" ref={menu}>
      <summary class="button">{texts.SAVE}</summary>
      <div class="choices">
        {texts.FORMATS.map((format, k) => (
          <Button key={format} class="button" onClick={() => save(ways[k])}>
            {format}
          </Button>
        ))}
      </div>
      {problem && <p role="alert">{problem}</p>}
    </details>
  );
}
