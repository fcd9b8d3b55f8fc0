/** About the atlas: its description, contents and source. */

import { facts, provenance } from "../state/sentences.ts";
import type { Session } from "../state/session.ts";

export function About({ session: { atlas, isSingle } }: { session: Session }) {
  return (
    <div class="about">
      {isSingle && atlas.description && <p dir="auto">{atlas.description}</p>}
      <p class="quiet source" dir="auto">
        {[facts(atlas), provenance(atlas)].filter(Boolean).join(". ")}
      </p>
    </div>
  );
}
