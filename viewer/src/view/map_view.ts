/**
 * The map that fills the page: pan, zoom, hover, select, by pointer, finger and keyboard.
 *
 * Two canvases lie on each other: the dots below, the labels and the pointer's marks above. Whatever
 * changes asks for a frame (`schedule`), and there is one drawing a frame at most. Labels are worked
 * out in slices between frames.
 */
import type { AtlasMap } from "../data/atlas.ts";
import { svgOf } from "../draw/drawing_svg.ts";
import { type Marks, sharedMarks } from "../draw/marks.ts";
import {
  drawGround,
  drawLabels,
  drawOutlineNumbers,
  drawPicture,
  type FeatureOutline,
  prepare,
} from "../draw/picture.ts";
import { type Camera, panned, type Size, zoomAt } from "../scene/camera.ts";
import { PAGE_TYPE, scaledType, type TypeSizes } from "../scene/lettering.ts";
import type { Point } from "../scene/outline.ts";
import {
  type Emphasis,
  FARTHEST,
  type Look,
  NO_EMPHASIS,
  Scene,
  type ShownLabel,
} from "../scene/scene.ts";
import { flight } from "./flight.ts";
import { Gestures } from "./gestures.ts";
import { entriesWithin, entryAt } from "./hit_test.ts";
import { SelectionDrag, type SelectMode, type Tool } from "./selection_drag.ts";

export interface MapViewCallbacks {
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
  onShown(labels: ShownLabel[]): void;
}

interface MapViewOptions {
  reducedMotion?: boolean;
  /** Whether the wheel turns without Ctrl only where the map has the focus. */
  wheelNeedsFocus?: boolean;
}

/** Milliseconds for labels between two frames, while the view moves and while it rests. */
const SLICES = { moving: 4, resting: 14 };
/** Milliseconds between two drawings of labels while they are worked out. */
const PROGRESS = 250;
/** Smaller maps get all their labels at once, within so many milliseconds. */
const SMALL_MAP = 6000;
const AT_ONCE = 120;
/** More dots than this are painted in coarser pixels while they move. */
const HEAVY = 60_000;
/** Letters have their own size on screens whose shorter side is this long. */
const USUAL_SIDE = 800;
const LEAST_TYPE = 0.95;
const MOST_TYPE = 1.45;
/** Milliseconds without a change after which the view rests. */
const REST = 140;
/** A flight goes on by at most so many milliseconds a frame, so that slow frames skip no part of it. */
const LONGEST_STEP = 64;
const N_TIMES = 120;
const PAN_STEP = 80;
const ZOOM_STEP = 1.5;

export class MapView {
  /** Milliseconds that each of the last 120 drawings took. */
  readonly frameTimes: number[] = [];
  private dots = document.createElement("canvas");
  private letters = document.createElement("canvas");
  private marks: Marks;
  private scene: Scene | null = null;
  private look: Look | null = null;
  private typeScale = 1;
  /** The letters of a size, so that the same size means the same letters. */
  private scaled: { from: TypeSizes | null; scale: number; type: TypeSizes } = {
    from: null,
    scale: 1,
    type: PAGE_TYPE,
  };
  /** Of the host, in CSS pixels. */
  private extent: Size = { width: 0, height: 0 };
  private view: Camera = { x: 0, y: 0, zoom: 1 };
  /** Whether the view still fits the map, and is to be fitted anew when the size changes. */
  private isFitted = true;
  private emphasis: Emphasis = NO_EMPHASIS;
  private selection: ReadonlySet<number> = new Set();
  private features: readonly FeatureOutline[] = [];
  private shownLabels: ShownLabel[] = [];
  private hovered: number | null = null;
  private pointer: Point | null = null;
  private isMoving = false;
  private frame = 0;
  private slice = 0;
  /** When labels that were worked out meanwhile were last drawn. */
  private lettered = 0;
  private rest = 0;
  /** Whether the labels of the next drawing are to be told: the view rests, but is not drawn yet. */
  private owesLabels = false;
  private flight: { frame: number; landing: Camera } | null = null;
  /** Device pixels per CSS pixel in which the dots are drawn now. */
  private dotRatio = 1;
  private dirty = { dots: true, letters: true };
  private gestures: Gestures;
  private drag: SelectionDrag;
  private observer: ResizeObserver;
  private ending = new AbortController();

  constructor(
    private host: HTMLElement,
    private callbacks: MapViewCallbacks,
    private options: MapViewOptions = {},
  ) {
    this.marks = sharedMarks();
    const stopListening = this.marks.listen(() => this.redraw());
    this.ending.signal.addEventListener("abort", stopListening);
    for (const canvas of [this.dots, this.letters]) {
      Object.assign(canvas.style, {
        position: "absolute",
        inset: "0",
        width: "100%",
        height: "100%",
        pointerEvents: "none",
      });
      canvas.setAttribute("aria-hidden", "true");
      host.append(canvas);
    }
    host.style.touchAction = "none";
    host.style.userSelect = "none";
    host.tabIndex = 0;
    this.drag = new SelectionDrag(host, {
      onChange: () => this.schedule("letters"),
      onEnd: (line, mode) => this.selectWithin(line, mode),
    });
    this.gestures = new Gestures(host, {
      camera: () => this.view,
      size: () => this.size,
      bounds: () => this.bounds(),
      moves: (event) => !this.drag.wants(event),
      turns: (event) =>
        !options.wheelNeedsFocus || event.ctrlKey || host.matches(":focus-within, :focus"),
      onPinch: () => this.drag.drop(),
      onMove: (camera) => this.jump(camera),
      onGrab: (isHeld) => this.setCursor(isHeld),
    });
    this.setCursor();
    this.setUpPointer();
    this.observer = new ResizeObserver(() => this.measure());
    this.observer.observe(host);
    this.measure();
  }

  get camera(): Camera {
    return this.view;
  }

  /** The size of the host in CSS pixels. */
  get size(): Size {
    return this.extent;
  }

  /** The labels on the screen now. */
  get shown(): ShownLabel[] {
    return this.shownLabels;
  }

  /** Whether nothing moves and every label has been worked out and drawn. */
  get isAtRest(): boolean {
    return !this.flight && !this.frame && !this.slice && !this.rest && !this.owesLabels;
  }

  /** The camera that shows the whole map. */
  get fitCamera(): Camera {
    return this.scene?.fitCamera ?? this.view;
  }

  /** The map that is shown. */
  get map(): AtlasMap | null {
    return this.scene?.map ?? null;
  }

  /** Shows a map: another one from a camera, or all of it; the same one stays as it is looked at. */
  show(
    map: AtlasMap,
    look: Look,
    emphasis: Emphasis = NO_EMPHASIS,
    selection: ReadonlySet<number> = new Set(),
    camera: Camera | null = null,
  ): void {
    const isNew = this.scene?.map !== map || this.scene.look.atlas !== look.atlas;
    const isOther = look !== this.look;
    this.look = look;
    if (isNew || !this.scene) {
      // A flight over another map has nowhere to land.
      this.stopFlight();
      this.scene = new Scene(map, this.lookOfSize(look), this.size);
      this.hover(null);
    } else if (isOther) {
      this.scene.setLook(this.lookOfSize(look));
    }
    this.emphasis = emphasis;
    this.selection = selection;
    this.scene.setEmphasis(emphasis);
    if (isNew) {
      this.isFitted = camera === null;
      this.view = camera === null ? this.scene.fitCamera : this.within(camera);
    }
    this.work();
    this.redraw();
    this.restSoon();
  }

  /** Draws lines round the members of features. */
  showOutlines(features: readonly FeatureOutline[]): void {
    this.features = features;
    this.redraw();
  }

  /** Moves the view to a camera; at once where motion is not wanted. */
  flyTo(camera: Camera): void {
    this.stopFlight();
    this.isFitted = false;
    if (this.options.reducedMotion || this.size.width === 0) {
      this.view = camera;
      this.moved();
      return;
    }
    const { at, duration } = flight(this.view, camera, this.size);
    let [elapsed, before] = [0, performance.now()];
    const fly = (now: number) => {
      elapsed += Math.min(LONGEST_STEP, Math.max(0, now - before));
      before = now;
      const time = Math.min(1, elapsed / duration);
      this.view = at(time * time * (3 - 2 * time));
      this.moved();
      this.flight = time < 1 ? { frame: requestAnimationFrame(fly), landing: camera } : null;
    };
    this.flight = { frame: requestAnimationFrame(fly), landing: camera };
  }

  /** Goes to where a script or the browser's history says. */
  lookFrom(camera: Camera): void {
    this.jump(this.within(camera));
  }

  /** Tells at once where the view is, or will land, if that is still to be told. */
  tellCamera(): void {
    if (this.flight) this.callbacks.onCamera(this.flight.landing, true);
    else if (this.isMoving) this.callbacks.onCamera(this.view, true);
  }

  setTool(tool: Tool): void {
    this.drag.tool = tool;
    this.setCursor();
  }

  zoomBy(factor: number): void {
    const { width, height } = this.size;
    const [least, most] = this.bounds();
    const zoom = Math.min(most, Math.max(least, this.view.zoom * factor));
    this.jump(zoomAt(this.view, this.size, zoom / this.view.zoom, width / 2, height / 2));
  }

  panBy(dx: number, dy: number): void {
    this.jump(panned(this.view, dx, dy));
  }

  fit(): void {
    if (!this.scene) return;
    const { fitCamera } = this.scene;
    const { x, y, zoom } = this.view;
    const isThere = x === fitCamera.x && y === fitCamera.y && zoom === fitCamera.zoom;
    if (isThere) this.stopFlight();
    else this.flyTo(fitCamera);
    this.isFitted = true;
  }

  /** The view as a PNG, at so many pixels per CSS pixel. */
  png(scale = 2): Promise<Blob> {
    const { scene, size, emphasis, selection, features, marks } = this;
    if (!scene) return Promise.reject(new Error("no map is shown"));
    const canvas = document.createElement("canvas");
    const devicePixelRatio = scale;
    const options = { marks, size, devicePixelRatio, emphasis, selection, outlines: features };
    drawPicture(canvas, scene, this.view, { ...options, labels: "zoomed" });
    return new Promise((resolve, reject) => {
      const done = (blob: Blob | null) =>
        blob ? resolve(blob) : reject(new Error("the picture is too large for this browser"));
      canvas.toBlob(done, "image/png");
    });
  }

  /** The view as a standalone SVG document. */
  svg(title = ""): string {
    if (!this.scene) return "";
    const { emphasis, selection, features } = this;
    return svgOf(this.scene, this.view, this.size, {
      title,
      emphasis,
      selection,
      outlines: features,
    });
  }

  destroy(): void {
    this.ending.abort();
    this.observer.disconnect();
    this.drag.destroy();
    this.gestures.destroy();
    cancelAnimationFrame(this.frame);
    this.stopFlight();
    clearTimeout(this.slice);
    clearTimeout(this.rest);
    this.dots.remove();
    this.letters.remove();
  }

  /** A look with letters that suit the screen: smaller ones on a phone, larger ones on a wall. */
  private lookOfSize(look: Look): Look {
    const side = Math.min(this.size.width, this.size.height);
    const scale = Math.min(MOST_TYPE, Math.max(LEAST_TYPE, 0.65 + 0.35 * (side / USUAL_SIDE)));
    this.typeScale = Math.round(scale * 20) / 20;
    if (this.scaled.from !== look.type || this.scaled.scale !== this.typeScale) {
      const type = scaledType(look.type, this.typeScale);
      this.scaled = { from: look.type, scale: this.typeScale, type };
    }
    return { ...look, type: this.scaled.type };
  }

  /** A camera that comes from an address may be anywhere. */
  private within(camera: Camera): Camera {
    const [least, most] = this.bounds();
    return { ...camera, zoom: Math.min(most, Math.max(least, camera.zoom)) };
  }

  /** The least and the largest zoom. */
  private bounds(): [number, number] {
    const { zoom } = this.fitCamera;
    return [zoom / 3, zoom * FARTHEST];
  }

  private setUpPointer(): void {
    const { host } = this;
    const { signal } = this.ending;
    host.addEventListener("pointermove", (event) => this.point(event), { signal });
    host.addEventListener("pointerleave", () => this.hover(null), { signal });
    host.addEventListener("click", (event) => this.click(event), { signal });
    host.addEventListener("keydown", (event) => this.press(event), { signal });
    host.addEventListener(
      "dblclick",
      (event) => {
        const entry = this.find(this.place(event));
        if (entry !== null) this.callbacks.onOpen(entry);
      },
      { signal },
    );
  }

  private place(event: MouseEvent): Point {
    const { left, top } = this.host.getBoundingClientRect();
    return [event.clientX - left, event.clientY - top];
  }

  private find(point: Point): number | null {
    if (!this.scene) return null;
    return entryAt(this.scene, this.view, this.size, this.shownLabels, point);
  }

  private point(event: PointerEvent): void {
    this.pointer = this.place(event);
    if (event.buttons || this.drag.line) return;
    this.hover(this.find(this.pointer));
  }

  private hover(entry: number | null): void {
    const [x, y] = this.pointer ?? [0, 0];
    if (entry === null && this.hovered === null) return;
    const changed = entry !== this.hovered;
    this.hovered = entry;
    this.callbacks.onHover(entry, x, y);
    if (!changed) return;
    this.setCursor();
    this.schedule("letters");
  }

  private click(event: MouseEvent): void {
    if (this.drag.justEnded || this.gestures.wasDrag || event.detail > 1) return;
    const entry = this.find(this.place(event));
    const isMore = event.ctrlKey || event.metaKey || event.shiftKey;
    if (entry !== null) this.callbacks.onSelect([entry], isMore ? "toggle" : "replace");
    else if (!isMore && this.selection.size) this.callbacks.onSelect([], "replace");
  }

  private press(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const actions: Record<string, () => void> = {
      ArrowLeft: () => this.panBy(-PAN_STEP, 0),
      ArrowRight: () => this.panBy(PAN_STEP, 0),
      ArrowUp: () => this.panBy(0, -PAN_STEP),
      ArrowDown: () => this.panBy(0, PAN_STEP),
      "+": () => this.zoomBy(ZOOM_STEP),
      "=": () => this.zoomBy(ZOOM_STEP),
      "-": () => this.zoomBy(1 / ZOOM_STEP),
      0: () => this.fit(),
      Enter: () => this.open(),
    };
    const action = actions[event.key];
    if (!action || event.target !== this.host) return;
    event.preventDefault();
    action();
  }

  private open(): void {
    const [only] = this.selection.size === 1 ? this.selection : [];
    const entry = this.hovered ?? only;
    if (entry !== undefined) this.callbacks.onOpen(entry);
  }

  private selectWithin(line: readonly Point[], mode: SelectMode): void {
    this.schedule("letters");
    if (!this.scene) return;
    this.callbacks.onSelect(entriesWithin(this.scene, this.view, this.size, line), mode);
  }

  private setCursor(isDragged = false): void {
    const { style } = this.host;
    if (isDragged) style.cursor = "grabbing";
    else if (this.hovered !== null) style.cursor = "pointer";
    else style.cursor = this.drag.tool === "pan" ? "grab" : "crosshair";
  }

  /** A step by hand, key or button: short enough to need no flight. */
  private jump(camera: Camera): void {
    this.stopFlight();
    this.isFitted = false;
    this.view = camera;
    this.moved();
  }

  private moved(): void {
    this.isMoving = true;
    this.callbacks.onCamera(this.view, false);
    this.redraw();
    this.restSoon();
  }

  private stopFlight(): void {
    if (this.flight) cancelAnimationFrame(this.flight.frame);
    this.flight = null;
  }

  private restSoon(): void {
    clearTimeout(this.rest);
    this.rest = window.setTimeout(() => {
      this.rest = 0;
      if (this.size.width < 1 || this.size.height < 1) return;
      // Between two late frames of a flight nothing rests.
      if (this.flight) {
        this.restSoon();
        return;
      }
      if (this.isMoving && this.dotRatio !== window.devicePixelRatio) this.schedule("dots");
      this.isMoving = false;
      this.callbacks.onCamera(this.view, true);
      if (this.dirty.letters) this.owesLabels = true;
      else this.callbacks.onShown(this.shownLabels);
    }, REST);
  }

  /** Follows the size of the host; the browser says so too, but only after the next layout. */
  measure(): void {
    const { width, height } = this.host.getBoundingClientRect();
    if (width === this.size.width && height === this.size.height) return;
    const isFirst = this.size.width === 0;
    this.extent = { width, height };
    const { scene, look, typeScale } = this;
    scene?.resize(this.size);
    if (scene && look) {
      const suited = this.lookOfSize(look);
      if (this.typeScale !== typeScale) scene.setLook(suited);
      this.work();
    }
    if (this.isFitted && this.scene) {
      this.stopFlight();
      this.view = this.scene.fitCamera;
    }
    this.redraw();
    this.restSoon();
    if (isFirst && width > 0) this.callbacks.onSized();
  }

  /** A slice of the work on labels; small maps are done at once. */
  private work(): void {
    clearTimeout(this.slice);
    this.slice = 0;
    const { scene } = this;
    if (!scene || scene.isSettled) return;
    const slice = this.isMoving ? SLICES.moving : SLICES.resting;
    const isDone = scene.step(scene.map.objects.length <= SMALL_MAP ? AT_ONCE : slice);
    const now = performance.now();
    if (isDone || now - this.lettered > PROGRESS) {
      this.lettered = now;
      this.schedule("letters");
    }
    if (isDone) this.restSoon();
    else this.slice = window.setTimeout(() => this.work(), 4);
  }

  private redraw(): void {
    this.schedule("dots");
    this.schedule("letters");
  }

  private schedule(what: "dots" | "letters"): void {
    this.dirty[what] = true;
    this.frame ||= requestAnimationFrame(() => this.draw());
  }

  private draw(): void {
    this.frame = 0;
    const { scene, size } = this;
    if (!scene || size.width < 1 || size.height < 1) return;
    const start = performance.now();
    if (this.dirty.dots) this.drawDots(scene);
    if (this.dirty.letters) this.drawLetters(scene);
    this.dirty = { dots: false, letters: false };
    if (this.owesLabels) {
      this.owesLabels = false;
      this.callbacks.onShown(this.shownLabels);
    }
    this.frameTimes.push(performance.now() - start);
    if (this.frameTimes.length > N_TIMES) this.frameTimes.shift();
  }

  private drawDots(scene: Scene): void {
    const isHeavy = scene.marks.count > HEAVY && !this.marks.isWebgl;
    const devicePixelRatio =
      this.isMoving && isHeavy ? Math.min(1, window.devicePixelRatio) : window.devicePixelRatio;
    this.dotRatio = devicePixelRatio;
    const context = prepare(this.dots, this.size, devicePixelRatio);
    if (!context) return;
    const { marks, size, emphasis, selection, features } = this;
    const ground = { marks, size, devicePixelRatio, emphasis, selection, outlines: features };
    drawGround(context, scene, this.view, ground);
  }

  private drawLetters(scene: Scene): void {
    const context = prepare(this.letters, this.size, window.devicePixelRatio);
    if (!context) return;
    context.clearRect(0, 0, this.size.width, this.size.height);
    this.shownLabels = scene.shownLabels(this.view, this.size);
    drawLabels(context, scene, this.shownLabels);
    drawOutlineNumbers(context, scene, this.view, this.size, this.features);
    if (this.hovered !== null) this.ring(context, scene, this.hovered);
    this.drag.draw(context, scene.palette);
  }

  private ring(context: CanvasRenderingContext2D, scene: Scene, entry: number): void {
    const { points } = scene.map;
    const { x, y, zoom } = this.view;
    context.beginPath();
    context.arc(
      (points[2 * entry] - x) * zoom + this.size.width / 2,
      (y - points[2 * entry + 1]) * zoom + this.size.height / 2,
      scene.dotRadius(entry, zoom) + 3.5,
      0,
      2 * Math.PI,
    );
    context.lineWidth = 1.5;
    context.strokeStyle = scene.palette.accent;
    context.stroke();
  }
}
