// Wheel, drag and pinch against what stays under the pointer.
import assert from "node:assert/strict";
import { test } from "node:test";
import { type Camera, toMap } from "../../src/scene/camera.ts";
import type { Point } from "../../src/scene/label_boxes.ts";
import { Gestures, type Tool } from "../../src/view/gestures.ts";

const SIZE = { width: 400, height: 300 };

/** An element that takes listeners and has its corner at (10, 20) of the window. */
function stage(tool: Tool = "pan") {
  const host = new EventTarget() as HTMLElement & EventTarget;
  Object.assign(host, {
    getBoundingClientRect: () => ({ left: 10, top: 20 }),
    setPointerCapture: () => {},
  });
  const seen = {
    camera: { x: 3, y: -2, zoom: 50 } as Camera,
    held: [] as boolean[],
    lines: [] as number[],
    clicks: 0,
  };
  const hooks = {
    get camera() {
      return seen.camera;
    },
    size: SIZE,
    bounds: [10, 1000] as const,
    turns: () => true,
    onLasso: (line: readonly Point[]) => {
      seen.lines.push(line.length);
    },
    entryAt: () => null,
    onHover: () => {},
    onOpen: () => {},
    onClick: () => {
      seen.clicks++;
    },
    moveTo: (camera: Camera) => {
      seen.camera = camera;
    },
    onGrab: (isHeld: boolean) => {
      if (isHeld !== (seen.held.at(-1) ?? false)) seen.held.push(isHeld);
    },
  };
  const gestures = new Gestures(host, hooks, new AbortController().signal);
  gestures.tool = tool;
  const send = (type: string, x: number, y: number, more = {}) => {
    const event = new Event(type, { cancelable: true });
    host.dispatchEvent(
      Object.assign(event, { clientX: x + 10, clientY: y + 20, button: 0, pointerId: 1, ...more }),
    );
    return event;
  };
  return { seen, send };
}

function near(a: readonly number[], b: readonly number[]): void {
  for (const [k, value] of a.entries()) {
    assert.ok(Math.abs(value - b[k]) < 1e-9, `${a} is not ${b}`);
  }
}

test("a wheel zooms about the pointer, and keeps the page from scrolling", () => {
  const { seen, send } = stage();
  const before = toMap(seen.camera, SIZE, 100, 250);
  const event = send("wheel", 100, 250, { deltaY: -500, deltaMode: 0, ctrlKey: false });
  near([seen.camera.zoom], [100]);
  near(toMap(seen.camera, SIZE, 100, 250), before);
  assert.ok(event.defaultPrevented);
});

test("a drag takes the map along; a click does not", () => {
  const { seen, send } = stage();
  const before = toMap(seen.camera, SIZE, 200, 100);
  send("pointerdown", 200, 100);
  send("pointermove", 201, 101);
  assert.equal(seen.camera.x, 3);
  send("pointermove", 260, 140);
  send("pointerup", 260, 140);
  near(toMap(seen.camera, SIZE, 260, 140), before);
  send("click", 260, 140, { detail: 1 });
  assert.equal(seen.clicks, 0);
  assert.deepEqual(seen.held, [true, false]);
  send("pointermove", 300, 300);
  near(toMap(seen.camera, SIZE, 260, 140), before);
});

test("two fingers keep what they hold", () => {
  const { seen, send } = stage();
  const left = toMap(seen.camera, SIZE, 150, 150);
  const right = toMap(seen.camera, SIZE, 250, 150);
  send("pointerdown", 150, 150, { pointerId: 1 });
  send("pointerdown", 250, 150, { pointerId: 2 });
  send("pointermove", 100, 170, { pointerId: 1 });
  send("pointermove", 300, 170, { pointerId: 2 });
  near(toMap(seen.camera, SIZE, 100, 170), left);
  near(toMap(seen.camera, SIZE, 300, 170), right);
  send("pointerup", 100, 170, { pointerId: 1 });
  assert.deepEqual(seen.held, [true]);
  send("pointerup", 300, 170, { pointerId: 2 });
  assert.deepEqual(seen.held, [true, false]);
});

test("a drag that selects moves nothing", () => {
  const { seen, send } = stage("lasso");
  send("pointerdown", 150, 150);
  send("pointermove", 250, 250);
  send("pointerup", 250, 250);
  assert.equal(seen.camera.x, 3);
  assert.deepEqual(seen.lines, [2]);
});

test("two fingers zoom although one would select", () => {
  const { seen, send } = stage("lasso");
  const touch = { pointerType: "touch" };
  send("pointerdown", 150, 150, { ...touch, pointerId: 1 });
  send("pointermove", 160, 150, { ...touch, pointerId: 1 });
  assert.equal(seen.camera.zoom, 50);
  send("pointerdown", 260, 150, { ...touch, pointerId: 2 });
  send("pointermove", 360, 150, { ...touch, pointerId: 2 });
  near([seen.camera.zoom], [100]);
});

test("a mouse button that went up elsewhere lets go", () => {
  const { seen, send } = stage();
  const mouse = { pointerType: "mouse" };
  send("pointerdown", 150, 150, { ...mouse, buttons: 1 });
  send("pointermove", 170, 150, { ...mouse, buttons: 1 });
  const { x } = seen.camera;
  send("pointermove", 300, 150, { ...mouse, buttons: 0 });
  send("pointermove", 320, 150, { ...mouse, buttons: 0 });
  assert.equal(seen.camera.x, x);
  assert.deepEqual(seen.held, [true, false]);
});
