/** Paints paper and dots: by WebGL2, or one by one where there is none.
 *
 * Browsers allow few WebGL contexts, so one hidden canvas serves all pictures, which are drawn into its
 * lower left corner and copied from there.
 */
import { rgb } from "../scene/coloring.ts";
import { type MarkData, VISIBLE_RADIUS } from "../scene/mark_data.ts";
import type { Sight } from "../scene/scene.ts";
import { type Context, newCanvas, Pen } from "./pen.ts";

/** `middle`, `scale`, `pixel`: from map units and pixels to clip units; `unit` is in device pixels. */
const VERTEX = `#version 300 es
in vec2 corner;
in vec2 point;
in float radius;
in vec4 color;
in float shape;
uniform vec2 middle;
uniform vec2 scale;
uniform vec2 pixel;
uniform float unit;
uniform float ratio;
out vec2 place;
flat out vec4 fill;
flat out float inner, ring, form;
void main() {
  float r = max(${VISIBLE_RADIUS} * ratio, radius * unit);
  ring = clamp(0.4 * (r / ratio - 1.0), 0.0, 1.1) * ratio;
  inner = r;
  fill = color;
  form = shape;
  float reach = r * 1.2534 + ring * 1.4143 + 1.0;
  place = corner * reach;
  gl_Position = vec4((point - middle) * scale + place * pixel, 0.0, 1.0);
}`;

const FRAGMENT = `#version 300 es
precision highp float;
in vec2 place;
flat in vec4 fill;
flat in float inner, ring, form;
uniform vec3 paper;
out vec4 result;
void main() {
  float circle = length(place) - inner;
  vec2 away = abs(place);
  float corner = form > 1.5 ? max(away.x, away.y) * 1.41421 : away.x + away.y;
  float distance = form > 0.5 ? (corner - inner * 1.25331) * 0.70711 : circle;
  float inside = clamp(0.5 - distance, 0.0, 1.0);
  float covered = clamp(0.5 - (distance - ring), 0.0, 1.0);
  if (covered <= 0.0) discard;
  result = vec4(mix(paper, fill.rgb, inside / covered), covered);
}`;

const CORNERS = new Float32Array([-1, -1, 1, -1, -1, 1, 1, 1]);

class Marks {
  private canvas = newCanvas();
  private gl: WebGL2RenderingContext | null;
  /** Null without WebGL, or while its context is lost. */
  private program: WebGLProgram | null = null;
  private buffers = new WeakMap<MarkData, WebGLVertexArrayObject>();
  private listeners = new Set<() => void>();

  constructor() {
    this.gl = this.canvas.getContext("webgl2", { alpha: false, antialias: false, depth: false });
    if (this.gl) this.program = programOf(this.gl);
    const change = (isLost: boolean) => {
      this.buffers = new WeakMap();
      this.program = isLost || !this.gl ? null : programOf(this.gl);
      for (const listener of this.listeners) listener();
    };
    this.canvas.addEventListener("webglcontextlost", (event) => {
      event.preventDefault();
      change(true);
    });
    this.canvas.addEventListener("webglcontextrestored", () => change(false));
  }

  /** Fills a whole canvas, of so many pixels per CSS pixel, with paper and the dots of a scene. */
  paint(target: Context, sight: Sight, ratio: number): void {
    const { gl, program, canvas } = this;
    const { width, height } = target.canvas;
    if (!gl || !program || gl.isContextLost()) {
      target.fillStyle = sight.scene.palette.paper;
      target.fillRect(0, 0, sight.size.width, sight.size.height);
      const pen = new Pen(target, sight);
      for (const entry of sight.scene.marks.entries) pen.mark(entry);
      return;
    }
    if (canvas.width < width) canvas.width = width;
    if (canvas.height < height) canvas.height = height;
    this.draw(gl, program, sight, ratio, width, height);
    // The target counts in CSS pixels, these are the screen's. What lies beyond it is cut off.
    target.save();
    target.resetTransform();
    target.drawImage(canvas, 0, height - canvas.height);
    target.restore();
  }

  /** Calls back when WebGL was lost or came back, until the returned function is called. */
  listen(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  private draw(
    gl: WebGL2RenderingContext,
    program: WebGLProgram,
    { scene, camera }: Sight,
    ratio: number,
    width: number,
    height: number,
  ): void {
    const [red, green, blue] = rgb(scene.palette.paper).map((part) => part / 255);
    gl.viewport(0, 0, width, height);
    gl.enable(gl.SCISSOR_TEST);
    gl.scissor(0, 0, width, height);
    gl.clearColor(red, green, blue, 1);
    gl.clear(gl.COLOR_BUFFER_BIT);
    if (scene.marks.count === 0) return;
    gl.useProgram(program);
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA);
    const zoom = camera.zoom * ratio;
    const at = (name: string) => gl.getUniformLocation(program, name);
    gl.uniform2f(at("middle"), camera.x, camera.y);
    gl.uniform2f(at("scale"), (2 * zoom) / width, (2 * zoom) / height);
    gl.uniform2f(at("pixel"), 2 / width, 2 / height);
    gl.uniform1f(at("unit"), scene.radius(camera.zoom) * ratio);
    gl.uniform1f(at("ratio"), ratio);
    gl.uniform3f(at("paper"), red, green, blue);
    const array = this.buffers.get(scene.marks) ?? upload(gl, program, scene.marks);
    this.buffers.set(scene.marks, array);
    gl.bindVertexArray(array);
    gl.drawArraysInstanced(gl.TRIANGLE_STRIP, 0, 4, scene.marks.count);
    gl.bindVertexArray(null);
  }
}

function programOf(gl: WebGL2RenderingContext): WebGLProgram | null {
  const program = gl.createProgram();
  for (const [type, source] of [
    [gl.VERTEX_SHADER, VERTEX],
    [gl.FRAGMENT_SHADER, FRAGMENT],
  ] as const) {
    const shader = gl.createShader(type);
    if (!shader) return null;
    gl.shaderSource(shader, source);
    gl.compileShader(shader);
    gl.attachShader(program, shader);
    gl.deleteShader(shader);
  }
  gl.linkProgram(program);
  return gl.getProgramParameter(program, gl.LINK_STATUS) ? program : null;
}

function upload(gl: WebGL2RenderingContext, program: WebGLProgram, marks: MarkData) {
  const array = gl.createVertexArray();
  gl.bindVertexArray(array);
  for (const [name, data, parts, type, divisor] of [
    ["corner", CORNERS, 2, gl.FLOAT, 0],
    ["point", marks.points, 2, gl.FLOAT, 1],
    ["radius", marks.radii, 1, gl.FLOAT, 1],
    ["color", marks.colors, 4, gl.UNSIGNED_BYTE, 1],
    ["shape", marks.shapes, 1, gl.UNSIGNED_BYTE, 1],
  ] as const) {
    gl.bindBuffer(gl.ARRAY_BUFFER, gl.createBuffer());
    gl.bufferData(gl.ARRAY_BUFFER, data, gl.STATIC_DRAW);
    const place = gl.getAttribLocation(program, name);
    gl.enableVertexAttribArray(place);
    // Bytes of colours are shares of 255.
    gl.vertexAttribPointer(place, parts, type, name === "color", 0, 0);
    gl.vertexAttribDivisor(place, divisor);
  }
  gl.bindVertexArray(null);
  return array;
}

let shared: Marks | null = null;

export function sharedMarks(): Marks {
  shared ??= new Marks();
  return shared;
}
