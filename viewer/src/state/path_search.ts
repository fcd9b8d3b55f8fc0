/** The path from the word to another one, looked for in slices of time, so that the page goes on meanwhile. */
import type { Atlas } from "../data/atlas.ts";
import { type Found, pathBetween, type Step } from "../data/paths.ts";
import type { Probabilities } from "../data/probabilities.ts";
import type { Store } from "./store.ts";

/** Milliseconds at a time. */
const SLICE = 12;

export class PathSearch {
  private asked = "";

  constructor(
    private atlas: Atlas,
    private store: Store,
    private probabilities: Probabilities,
    private onFound: (steps: readonly Step[]) => void,
  ) {
    store.listen(() => this.follow());
    this.follow();
  }

  /** None where no path was found; null while it is looked for, and where none is asked for. */
  get steps(): readonly Step[] | null {
    return this.found?.steps ?? null;
  }

  get found(): Found | null {
    const { route } = this.store.state;
    return route?.key === this.key ? route : null;
  }

  /** The step of the path that is shown in a map: the one that was opened, else the first there. */
  stepIn(map: number): Step | null {
    const steps = this.steps ?? [];
    const open = steps[this.store.state.stepAt ?? -1];
    return open?.map === map ? open : (steps.find((step) => step.map === map) ?? null);
  }

  private get key(): string {
    const { word, path, threshold, isPreview } = this.store.state;
    return word === null || path === null || isPreview ? "" : `${word} ${path} ${threshold}`;
  }

  private follow(): void {
    const { key } = this;
    if (key === this.asked) return;
    this.asked = key;
    const { word, path, threshold } = this.store.state;
    if (key === "" || word === null || path === null || this.steps) return;
    const search = pathBetween(this.atlas, this.probabilities, word, path, threshold);
    const look = () => {
      const end = performance.now() + SLICE;
      while (this.asked === key && performance.now() < end) {
        const { done, value } = search.next();
        if (!done) continue;
        this.store.change({ route: { key, ...value } });
        this.onFound(value.steps);
        return;
      }
      if (this.asked === key) setTimeout(look);
    };
    setTimeout(look);
  }
}
