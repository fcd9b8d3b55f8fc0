/**
 * Dots drawn by WebGL2: one square an instance, whose fragments say by their distance from the
 * middle whether they are fill, rim or nothing.
 *
 * The context lives on one hidden canvas, as large as the largest picture so far; each picture is
 * drawn into its lower left corner and copied to the canvas that shows it.
 */
import { rgb } from "../scene/coloring.ts";
import { type MarkData, VISIBLE_RADIUS } from "../scene/mark_data.ts";
import type { Sight } from "../scene/scene.ts";
import { type Context, newCanvas, type Painter } from "./painter.ts";

/**
 * `middle` of the screen in map units, `scale` of map units to the clip square, `pixel` a device pixel
 * there, `unit` the radius of a share of 1 in device pixels.
 */
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

interface Buffers {
  array: WebGLVertexArrayObject;
  parts: WebGLBuffer[];
}

type Uniform = "middle" | "scale" | "pixel" | "unit" | "ratio" | "paper";
const UNIFORMS: Uniform[] = ["middle", "scale", "pixel", "unit", "ratio", "paper"];
const MOST_BUFFERS = 24;

export class WebglPainter implements Painter {
  private program: WebGLProgram | null = null;
  private uniforms = {} as Record<Uniform, WebGLUniformLocation | null>;
  /** The marks whose buffers are kept, the latest used last. */
  private buffers = new Map<MarkData, Buffers>();

  private constructor(
    private canvas: HTMLCanvasElement,
    private gl: WebGL2RenderingContext,
    changed: () => void,
  ) {
    this.build();
    canvas.addEventListener("webglcontextlost", (event) => {
      event.preventDefault();
      this.program = null;
      this.buffers.clear();
      changed();
    });
    canvas.addEventListener("webglcontextrestored", () => {
      this.build();
      changed();
    });
  }

  /** False while the context is lost. */
  get isReady(): boolean {
    return this.program !== null && !this.gl.isContextLost();
  }

  /** A painter that tells when it is lost or back, or null where there is no WebGL2. */
  static make(changed: () => void): WebglPainter | null {
    const canvas = newCanvas();
    const gl = canvas.getContext("webgl2", {
      alpha: false,
      antialias: false,
      depth: false,
    });
    if (!gl) return null;
    const painter = new WebglPainter(canvas, gl, changed);
    return painter.isReady ? painter : null;
  }

  paint(target: Context, sight: Sight, ratio: number): void {
    const { canvas } = this;
    const { width, height } = target.canvas;
    if (width === 0 || height === 0) return;
    if (canvas.width < width) canvas.width = width;
    if (canvas.height < height) canvas.height = height;
    this.draw(sight, ratio, width, height);
    // The target counts in CSS pixels, these are the screen's. What lies beyond it is cut off.
    target.save();
    target.resetTransform();
    target.drawImage(canvas, 0, height - canvas.height);
    target.restore();
  }

  private draw({ scene, camera }: Sight, ratio: number, width: number, height: number): void {
    const { gl, uniforms } = this;
    const paper = rgb(scene.palette.paper).map((part) => part / 255) as [number, number, number];
    gl.viewport(0, 0, width, height);
    gl.enable(gl.SCISSOR_TEST);
    gl.scissor(0, 0, width, height);
    gl.clearColor(...paper, 1);
    gl.clear(gl.COLOR_BUFFER_BIT);
    if (scene.marks.count === 0) return;
    gl.useProgram(this.program);
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA);
    const zoom = camera.zoom * ratio;
    gl.uniform2f(uniforms.middle, camera.x, camera.y);
    gl.uniform2f(uniforms.scale, (2 * zoom) / width, (2 * zoom) / height);
    gl.uniform2f(uniforms.pixel, 2 / width, 2 / height);
    gl.uniform1f(uniforms.unit, scene.radius(camera.zoom) * ratio);
    gl.uniform1f(uniforms.ratio, ratio);
    gl.uniform3f(uniforms.paper, ...paper);
    gl.bindVertexArray(this.buffersOf(scene.marks).array);
    gl.drawArraysInstanced(gl.TRIANGLE_STRIP, 0, 4, scene.marks.count);
    gl.bindVertexArray(null);
  }

  private build(): void {
    const { gl } = this;
    const program = gl.createProgram();
    for (const [type, source] of [
      [gl.VERTEX_SHADER, VERTEX],
      [gl.FRAGMENT_SHADER, FRAGMENT],
    ] as const) {
      const shader = gl.createShader(type);
      if (!shader) return;
      gl.shaderSource(shader, source);
      gl.compileShader(shader);
      gl.attachShader(program, shader);
      gl.deleteShader(shader);
    }
    gl.linkProgram(program);
    if (!gl.getProgramParameter(program, gl.LINK_STATUS)) return;
    this.program = program;
    for (const name of UNIFORMS) this.uniforms[name] = gl.getUniformLocation(program, name);
  }

  private buffersOf(marks: MarkData): Buffers {
    let buffers = this.buffers.get(marks);
    if (!buffers) {
      buffers = this.upload(marks);
      for (const [old, { array, parts }] of this.buffers) {
        if (this.buffers.size < MOST_BUFFERS) break;
        this.gl.deleteVertexArray(array);
        for (const part of parts) this.gl.deleteBuffer(part);
        this.buffers.delete(old);
      }
    }
    this.buffers.delete(marks);
    this.buffers.set(marks, buffers);
    return buffers;
  }

  private upload(marks: MarkData): Buffers {
    const { gl } = this;
    const array = gl.createVertexArray();
    gl.bindVertexArray(array);
    const corners = new Float32Array([-1, -1, 1, -1, -1, 1, 1, 1]);
    const parts = [
      this.attribute("corner", corners, 2, gl.FLOAT, 0),
      this.attribute("point", marks.points, 2, gl.FLOAT, 1),
      this.attribute("radius", marks.radii, 1, gl.FLOAT, 1),
      this.attribute("color", marks.colors, 4, gl.UNSIGNED_BYTE, 1),
      this.attribute("shape", marks.shapes, 1, gl.UNSIGNED_BYTE, 1),
    ];
    gl.bindVertexArray(null);
    return { array, parts };
  }

  /** One attribute's buffer; bytes of colours are shares of 255. */
  private attribute(
    name: string,
    data: Float32Array | Uint32Array | Uint8Array,
    parts: number,
    type: number,
    divisor: number,
  ): WebGLBuffer {
    const { gl, program } = this;
    const buffer = gl.createBuffer();
    gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
    gl.bufferData(gl.ARRAY_BUFFER, data, gl.STATIC_DRAW);
    const place = gl.getAttribLocation(program as WebGLProgram, name);
    gl.enableVertexAttribArray(place);
    gl.vertexAttribPointer(place, parts, type, name === "color", 0, 0);
    gl.vertexAttribDivisor(place, divisor);
    return buffer;
  }
}
