/** The map that fills the page: what it shows, and how gestures, keys and drawing work on it together.
 *
 * A view that has not moved for a while rests: it gets all labels that have room, and reports.
 */
import type { AtlasMap } from "../data/atlas.ts";
import { latest, pointOf } from "../data/elements.ts";
import { sharedMarks } from "../draw/marks.ts";
import type { Picture } from "../draw/picture.ts";
import type { Panel } from "../draw/sheet.ts";
import { type Camera, fit, type Size } from "../scene/camera.ts";
import type { Point, ScreenBox } from "../scene/label_boxes.ts";
import { scaledType, screenScale } from "../scene/lettering.ts";
import { type Letters, type Look, NO_EMPHASIS, Scene, type ShownName } from "../scene/scene.ts";
import { CameraMotion, type MotionHooks } from "./camera_motion.ts";
import { type GestureHooks, Gestures, type SelectMode, type Tool } from "./gestures.ts";
import { entriesWithin, entryAt } from "./hit_test.ts";
import { type CanvasHooks, MapCanvases } from "./map_canvases.ts";

export interface MapViewCallbacks {
  /** The boxes over the map, in CSS pixels of the host. */
  covers(): readonly ScreenBox[];
  /** The host has a size for the first time. */
  onSized(): void;
  /** The camera moved; `settled` when it came to rest. */
  onCamera(camera: Camera, settled: boolean): void;
  /** An entry came under the pointer, or null: none; with the pointer's place in the host. */
  onHover(entry: number | null, x: number, y: number): void;
  onSelect(entries: number[], mode: SelectMode): void;
  /** A double click on an entry, or Enter on the hovered or the only selected one. */
  onOpen(entry: number): void;
  /** The labels on the screen changed. Called when the view rests, not at every frame. */
  onShown(): void;
}

type Marked = Required<Pick<Picture, "emphasis" | "selection">>;

/** Milliseconds without a change after which the view rests. */
const REST = 140;
const PAN_STEP = 80;
const ZOOM_STEP = 1.5;

export class MapView implements CanvasHooks, GestureHooks, MotionHooks {
  readonly canvases: MapCanvases;
  readonly motion = new CameraMotion(this);
  readonly pointer: Gestures;
  size: Size = { width: 0, height: 0 };
  scene: Scene | null = null;
  isMoving = false;
  private typeOf = latest(scaledType);
  private observer = new ResizeObserver(() => this.measure());
  private ending = new AbortController();
  private look: Look | null = null;
  private marked: Marked = { emphasis: NO_EMPHASIS, selection: new Set() };
  /** Whether the pointer is on the name of a region, which zooms to it. */
  private isOnName = false;
  private restTimer = 0;
  /** How many of the entries that stand out were flown to. */
  private visited = 0;
  /** Whether the labels of the next drawing are to be reported. */
  private owesLabels = false;

  constructor(
    private host: HTMLElement,
    private callbacks: MapViewCallbacks,
    /** Whether the wheel turns without Ctrl only where the map has the focus. */
    private wheelNeedsFocus: boolean,
  ) {
    const { signal } = this.ending;
    const deafen = sharedMarks().listen(() => this.redraw());
    signal.addEventListener("abort", deafen);
    this.canvases = new MapCanvases(host, this);
    this.pointer = new Gestures(host, this, signal);
    host.addEventListener("keydown", (event) => this.press(event), { signal });
    this.setCursor();
    this.observer.observe(host);
    this.measure();
  }

  get camera(): Camera {
    return this.motion.camera;
  }

  get bounds(): [number, number] {
    return this.motion.bounds;
  }

  turns(event: WheelEvent): boolean {
    const { host, wheelNeedsFocus } = this;
    return !wheelNeedsFocus || event.ctrlKey || host.matches(":focus-within, :focus");
  }

  moveTo(camera: Camera): void {
    this.motion.jump(camera);
  }

  onGrab(isHeld: boolean): void {
    this.setCursor(isHeld);
    this.canvases.schedule();
  }

  onLasso(line: readonly Point[], mode: SelectMode): void {
    if (this.sight) this.callbacks.onSelect(entriesWithin(this.sight, line), mode);
  }

  onHover(entry: number | null, [x, y]: Point, isOther: boolean): void {
    this.callbacks.onHover(entry, x, y);
    if (!isOther) return;
    this.setCursor();
    this.canvases.schedule();
  }

  onOpen(entry: number): void {
    this.callbacks.onOpen(entry);
  }

  onDrawn(): void {
    if (this.owesLabels) this.callbacks.onShown();
    this.owesLabels = false;
  }

  get letters(): Letters {
    return this.canvases.letters;
  }

  /** Whether nothing moves and every label has been drawn. */
  get isAtRest(): boolean {
    return this.motion.landing === null && !this.canvases.isWaiting && this.restTimer === 0;
  }

  get map(): AtlasMap | null {
    return this.scene?.map ?? null;
  }

  /** Shows a map: another one from a camera, or all of it; the same one stays as it is looked at. */
  show(map: AtlasMap, look: Look, marked: Marked, camera: Camera | null = null): void {
    const isNew = this.scene?.map !== map || this.scene.look.atlas !== look.atlas;
    const isOther = look !== this.look;
    this.look = look;
    if (isNew || !this.scene) {
      // A flight over another map has nowhere to land.
      this.motion.stop();
      this.scene = new Scene(map, this.suited(look), this.size);
      this.pointer.hover(null);
    } else if (isOther) {
      this.scene.setLook(this.suited(look));
    }
    if (marked.emphasis.chosen[0] !== this.marked.emphasis.chosen[0]) this.visited = 0;
    this.marked = marked;
    this.scene.setEmphasis(marked.emphasis);
    if (isNew) this.motion.begin(camera);
    this.redraw();
    this.restSoon();
  }

  zoomTo({ region }: ShownName): void {
    this.motion.flyTo(fit(region, this.size));
  }

  /** Tells at once where the view is, or will land, if that is still to be told. */
  tellCamera(): void {
    const { landing, camera } = this.motion;
    if (landing || this.isMoving) this.callbacks.onCamera(landing ?? camera, true);
  }

  setTool(tool: Tool): void {
    this.pointer.tool = tool;
    this.setCursor();
  }

  panel(): Panel | null {
    return this.sight && { ...this.sight, caption: "", words: "" };
  }

  /** Follows the size of the host; the browser says so too, but only after the next layout. */
  measure(): void {
    const { width, height } = this.host.getBoundingClientRect();
    if (width === this.size.width && height === this.size.height) return;
    const isFirst = this.size.width === 0;
    this.size = { width, height };
    const { scene, look } = this;
    scene?.resize(this.size);
    if (scene && look) {
      const suited = this.suited(look);
      if (suited.type !== scene.look.type) scene.setLook(suited);
    }
    this.motion.refit();
    this.redraw();
    this.restSoon();
    if (isFirst && width > 0) this.callbacks.onSized();
  }

  destroy(): void {
    this.ending.abort();
    this.observer.disconnect();
    this.motion.stop();
    clearTimeout(this.restTimer);
    this.canvases.destroy();
  }

  get sight(): Picture | null {
    const { scene, camera, size, marked } = this;
    return scene && { ...marked, scene, camera, size, covers: this.callbacks.covers() };
  }

  /** A look with letters that suit the screen. */
  private suited(look: Look): Look {
    return { ...look, type: this.typeOf(look.type, screenScale(this.size)) };
  }

  entryAt(point: Point): number | null {
    const { scene, camera, size } = this;
    if (!scene) return null;
    const entry = entryAt({ scene, camera, size }, this.letters.labels, point);
    const isOnName = entry === null && this.nameAt(point) !== undefined;
    if (isOnName !== this.isOnName) {
      this.isOnName = isOnName;
      this.setCursor();
    }
    return entry;
  }

  private nameAt([x, y]: Point): ShownName | undefined {
    return this.letters.names.find(
      (name) => x >= name.x && x < name.x + name.width && y >= name.y && y < name.y + name.height,
    );
  }

  onClick(entry: number | null, isMore: boolean, point: Point): void {
    const name = this.nameAt(point);
    if (entry !== null && this.isPointedTo(entry)) this.flyToEntry(entry);
    else if (name && entry === null) this.zoomTo(name);
    else if (entry !== null) this.callbacks.onSelect([entry], isMore ? "toggle" : "replace");
    else if (!isMore && this.marked.selection.size) this.callbacks.onSelect([], "replace");
  }

  private press(event: KeyboardEvent): void {
    const { motion } = this;
    const actions: Record<string, () => void> = {
      ArrowLeft: () => motion.panBy(-PAN_STEP, 0),
      ArrowRight: () => motion.panBy(PAN_STEP, 0),
      ArrowUp: () => motion.panBy(0, -PAN_STEP),
      ArrowDown: () => motion.panBy(0, PAN_STEP),
      "+": () => motion.zoomBy(ZOOM_STEP),
      "=": () => motion.zoomBy(ZOOM_STEP),
      "-": () => motion.zoomBy(1 / ZOOM_STEP),
      0: () => motion.fit(),
      Enter: () => this.open(),
      n: () => this.next(),
    };
    const action = actions[event.key];
    if (!action || event.target !== this.host) return;
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    action();
  }

  private open(): void {
    const { selection } = this.marked;
    const [only] = selection.size === 1 ? selection : [];
    const entry = this.pointer.hovered ?? only;
    if (entry !== undefined && !this.isPointedTo(entry)) this.callbacks.onOpen(entry);
  }

  /** Whether an arrow at the rim points to an entry beyond. */
  private isPointedTo(entry: number): boolean {
    return this.letters.labels.some((label) => label.entry === entry && label.arrow);
  }

  private flyToEntry(entry: number): void {
    if (!this.scene) return;
    const [x, y] = pointOf(this.scene.map.points, entry);
    this.motion.flyTo({ x, y, zoom: this.camera.zoom });
  }

  /** Flies to what stands out, one entry after the other. */
  private next(): void {
    const { near, chosen } = this.marked.emphasis;
    const entries = [...near, ...chosen];
    if (entries.length > 0) this.flyToEntry(entries[this.visited++ % entries.length]);
  }

  private setCursor(isDragged = false): void {
    const { hovered, tool } = this.pointer;
    const usual = tool === "pan" ? "grab" : "crosshair";
    const pointed = hovered !== null || this.isOnName ? "pointer" : usual;
    this.host.style.cursor = isDragged ? "grabbing" : pointed;
  }

  onMove(): void {
    this.isMoving = true;
    this.callbacks.onCamera(this.camera, false);
    this.redraw();
    this.restSoon();
  }

  private restSoon(): void {
    clearTimeout(this.restTimer);
    this.restTimer = window.setTimeout(() => this.rest(), REST);
  }

  private rest(): void {
    this.restTimer = 0;
    if (this.size.width < 1 || this.size.height < 1) return;
    // Between two late frames of a flight nothing rests.
    if (this.motion.landing) {
      this.restSoon();
      return;
    }
    this.isMoving = false;
    this.callbacks.onCamera(this.camera, true);
    this.owesLabels = true;
    this.canvases.schedule("letters");
  }

  private redraw(): void {
    this.canvases.schedule("dots");
    this.canvases.schedule("letters");
  }
}
