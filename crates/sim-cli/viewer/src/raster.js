// A small rasteriser for machines without a graphics card, where WebGL is far slower than this: bodies lit at their
// corners, flat shadows on level ground, a grid of lines, and the layers as strokes.

import * as THREE from 'three';

const TONES = 64;

/** WebGL is missing, or drawn by software. */
export function isSoftware() {
  const gl = document.createElement('canvas').getContext('webgl2');
  if (!gl) return true;
  const info = gl.getExtension('WEBGL_debug_renderer_info');
  const name = info ? gl.getParameter(info.UNMASKED_RENDERER_WEBGL) : '';
  gl.getExtension('WEBGL_lose_context')?.loseContext();
  return /swiftshader|llvmpipe|software|softpipe|basic render/i.test(name);
}

export class Raster {
  constructor(stage, canvas, coarse) {
    Object.assign(this, { stage, canvas, context: canvas.getContext('2d', { alpha: false, willReadFrequently: true }) });
    canvas.hidden = false;
    this.sun = stage.sun.position.clone().sub(stage.center).normalize();
    this.solids = new Map();
    this.coarse = coarse;
    this.setTheme();
  }

  /** Triangles of a mesh, as many as its size on the screen is worth. */
  solid(mesh) {
    const source = mesh.userData.source ?? mesh;
    const { camera, controls } = this.stage;
    const pixels = (source.userData.reach * camera.projectionMatrix.elements[5] * this.canvas.height) / camera.position.distanceTo(controls.target);
    const sides = pixels < 24 && source.count > 100 ? 8 : pixels < 60 ? 16 : pixels < 160 ? 24 : 48;
    const key = `${source.id} ${sides}`;
    if (!this.solids.has(key)) {
      const geometry = this.coarse(source, sides);
      const { position, normal } = geometry.attributes;
      const index = geometry.index?.array ?? Uint32Array.from({ length: position.count }, (_, i) => i);
      const count = position.count;
      this.solids.set(key, { position: position.array, normal: normal.array, index, count, screen: new Float32Array(count * 4), twoSided: source.material.side === THREE.DoubleSide });
    }
    return this.solids.get(key);
  }

  /** Level grounds, which get shadows. */
  get level() {
    return this.stage.grounds.filter((g) => g.normal.dot(this.stage.up) > 0.999);
  }

  setTheme() {
    const { theme, colors, recording } = this.stage;
    [this.sky, this.bright] = theme.plain;
    this.tones = new Uint32Array(recording.bodies.length * TONES);
    colors.forEach((color, b) => {
      for (let i = 0; i < TONES; i++) this.tones[b * TONES + i] = packed(color, (i / (TONES - 1)) * (this.sky + this.bright));
    });
    this.accent = new Uint32Array(TONES).map((_, i) => packed(new THREE.Color(theme.accent), 0.35 + (0.9 * i) / TONES));
    this.shade = packed(new THREE.Color(theme.background), theme.shade);
    this.backdropKey = null;
  }

  resize(width, height) {
    Object.assign(this.canvas, { width, height });
    this.image = this.context.createImageData(width, height);
    this.pixels = new Uint32Array(this.image.data.buffer);
    this.depth = new Float32Array(width * height);
    this.backdropKey = null;
  }

  /** Background and grid: drawn again only when the camera or the theme changes. */
  drawBackdrop(matrix) {
    const key = matrix.elements.join();
    if (this.backdropKey === key) return;
    this.backdropKey = key;
    const { context, canvas, stage } = this;
    context.fillStyle = stage.theme.background;
    context.fillRect(0, 0, canvas.width, canvas.height);
    context.strokeStyle = stage.theme.grid;
    context.lineWidth = 1;
    for (const { mesh } of this.level) this.drawGrid(new THREE.Matrix4().multiplyMatrices(matrix, mesh.matrixWorld));
    this.backdrop = new Uint32Array(context.getImageData(0, 0, canvas.width, canvas.height).data.buffer.slice(0));
  }

  drawGrid(matrix) {
    const { radius, spacing } = this.stage;
    const count = Math.floor((radius * 8) / spacing);
    const pieces = 10;
    for (let i = -count; i <= count; i++) {
      for (let k = -pieces; k < pieces; k++) {
        const [at, from, to] = [i * spacing, (k / pieces) * count * spacing, ((k + 1) / pieces) * count * spacing];
        const far = Math.hypot(at, (from + to) / 2) / (5 * radius);
        this.context.globalAlpha = (i % 10 ? 0.16 : 0.36) * Math.exp(-far * far);
        if (this.context.globalAlpha < 0.01) continue;
        this.stroke(matrix, [at, from, 0, at, to, 0, from, at, 0, to, at, 0]);
      }
    }
    this.context.globalAlpha = 1;
  }

  /** Segments, six numbers each; those that reach behind the eye are left out. */
  stroke(matrix, points, start = 0, end = points.length) {
    const { context, canvas } = this;
    const e = matrix.elements;
    context.beginPath();
    for (let i = start; i < end; i += 3) {
      const [x, y, z] = [points[i], points[i + 1], points[i + 2]];
      const w = e[3] * x + e[7] * y + e[11] * z + e[15];
      const sx = (((e[0] * x + e[4] * y + e[8] * z + e[12]) / w + 1) / 2) * canvas.width;
      const sy = ((1 - (e[1] * x + e[5] * y + e[9] * z + e[13]) / w) / 2) * canvas.height;
      if (w <= 0) i += (i - start) % 6 ? 0 : 3;
      else if ((i - start) % 6) context.lineTo(sx, sy);
      else context.moveTo(sx, sy);
    }
    context.stroke();
  }

  render(overlays) {
    const { stage, context, canvas } = this;
    stage.camera.updateMatrixWorld();
    stage.scene.updateMatrixWorld();
    const matrix = new THREE.Matrix4().multiplyMatrices(stage.camera.projectionMatrix, stage.camera.matrixWorldInverse);
    this.drawBackdrop(matrix);
    this.pixels.set(this.backdrop);
    this.depth.fill(0);
    if (stage.shadows ?? true) for (const ground of this.level) if (ground.body >= 0) this.drawShadows(matrix, ground);
    for (const mesh of stage.parts) this.drawBodies(matrix, mesh, false);
    for (const ghost of overlays.ghosts.children) this.drawBodies(matrix, ghost, true);
    context.putImageData(this.image, 0, 0);
    for (const { positions, colors, color, width } of overlays.strokes()) {
      context.lineWidth = width;
      context.strokeStyle = color ?? '#000';
      if (!colors.length) this.stroke(matrix, positions);
      for (let i = 0; i < colors.length; i += 8) {
        context.strokeStyle = `rgb(${[0, 1, 2].map((k) => Math.round(255 * colors[i + k] ** 0.4545)).join()})`;
        context.globalAlpha = (colors[i + 3] + colors[i + 7]) / 2;
        this.stroke(matrix, positions, (i / 8) * 6, (i / 8) * 6 + 6);
      }
      context.globalAlpha = 1;
    }
  }

  drawShadows(matrix, { point, normal }) {
    const { sun } = this;
    const k = sun.clone().divideScalar(sun.dot(normal));
    const d = point.dot(normal);
    const flat = new THREE.Matrix4().set(
      1 - k.x * normal.x, -k.x * normal.y, -k.x * normal.z, k.x * d,
      -k.y * normal.x, 1 - k.y * normal.y, -k.y * normal.z, k.y * d,
      -k.z * normal.x, -k.z * normal.y, 1 - k.z * normal.z, k.z * d,
      0, 0, 0, 1);
    const cast = new THREE.Matrix4().multiplyMatrices(matrix, flat);
    for (const mesh of this.stage.parts) {
      const solid = this.solid(mesh);
      const { screen, index } = solid;
      for (let i = 0; i < mesh.count; i++) {
        this.project(cast, mesh.instanceMatrix.array, i * 16, solid, null);
        for (let t = 0; t < index.length; t += 3) this.fill(screen, index[t] * 4, index[t + 1] * 4, index[t + 2] * 4, null, this.shade, solid.twoSided ? 2 : 1);
      }
    }
  }

  drawBodies(matrix, mesh, ghost) {
    const solid = this.solid(mesh);
    const { screen, index, twoSided } = solid;
    const slots = mesh.userData.slots;
    for (let i = 0; i < mesh.count; i++) {
      this.project(matrix, mesh.instanceMatrix.array, i * 16, solid, this);
      const body = ghost ? mesh.userData.bodies[i] : slots[i].body;
      const tones = !ghost && body === this.stage.selected ? this.accent : this.tones.subarray(body * TONES, body * TONES + TONES);
      for (let t = 0; t < index.length; t += 3) this.fill(screen, index[t] * 4, index[t + 1] * 4, index[t + 2] * 4, tones, 0, ghost ? 3 : twoSided ? 2 : 0);
    }
  }

  /** Corners of one body on the screen: x, y, 1/w (0 behind the eye) and light from 0 to 1. */
  project(matrix, m, at, { position, normal, count, screen, twoSided }, light) {
    const e = multiply(matrix.elements, m, at, this.product ??= new Float64Array(16));
    const [halfX, halfY] = [this.canvas.width / 2, this.canvas.height / 2];
    const local = (v) => [0, 4, 8].map((c) => m[at + c] * v.x + m[at + c + 1] * v.y + m[at + c + 2] * v.z);
    const [sx, sy, sz] = local(this.sun);
    const [ux, uy, uz] = local(this.stage.up);
    const { sky, bright } = this;
    const scale = 1 / (sky + bright);
    const camera = this.stage.camera.position;
    const [ex, ey, ez] = local({ x: camera.x - m[at + 12], y: camera.y - m[at + 13], z: camera.z - m[at + 14] });
    for (let v = 0, p = 0, o = 0; v < count; v++, p += 3, o += 4) {
      const x = position[p], y = position[p + 1], z = position[p + 2];
      const w = e[3] * x + e[7] * y + e[11] * z + e[15];
      const k = w > 1e-6 ? 1 / w : 0;
      screen[o] = ((e[0] * x + e[4] * y + e[8] * z + e[12]) * k + 1) * halfX;
      screen[o + 1] = (1 - (e[1] * x + e[5] * y + e[9] * z + e[13]) * k) * halfY;
      screen[o + 2] = k;
      if (light) {
        let nx = normal[p], ny = normal[p + 1], nz = normal[p + 2];
        if (twoSided && nx * (ex - x) + ny * (ey - y) + nz * (ez - z) < 0) { nx = -nx; ny = -ny; nz = -nz; }
        const sun = nx * sx + ny * sy + nz * sz;
        screen[o + 3] = (sky * (0.75 + 0.25 * (nx * ux + ny * uy + nz * uz)) + (sun > 0 ? bright * sun : 0)) * scale;
      }
    }
  }

  /** One triangle. `how`: 0 front only, 1 front only and no depth, 2 both sides, 3 see-through. */
  fill(screen, a, b, c, tones, color, how) {
    const az = screen[a + 2], bz = screen[b + 2], cz = screen[c + 2];
    if (az === 0 || bz === 0 || cz === 0) return;
    const ax = screen[a], ay = screen[a + 1], bx = screen[b], by = screen[b + 1], cx = screen[c], cy = screen[c + 1];
    const area = (bx - ax) * (cy - ay) - (by - ay) * (cx - ax);
    if (area === 0 || (area > 0 && how !== 2)) return;
    const { width, height } = this.canvas;
    const x0 = Math.max(0, Math.ceil(Math.min(ax, bx, cx) - 0.5)), x1 = Math.min(width - 1, Math.floor(Math.max(ax, bx, cx) - 0.5));
    const y0 = Math.max(0, Math.ceil(Math.min(ay, by, cy) - 0.5)), y1 = Math.min(height - 1, Math.floor(Math.max(ay, by, cy) - 0.5));
    if (x0 > x1 || y0 > y1) return;
    const { pixels, depth } = this;
    const nearer = how === 3 ? 1.001 : 1; // what is see-through shall not flicker on what it coincides with
    const vx = (cy - ay) / area, vy = -(cx - ax) / area, wx = -(by - ay) / area, wy = (bx - ax) / area;
    const al = screen[a + 3] * (TONES - 1), bl = screen[b + 3] * (TONES - 1) - al, cl = screen[c + 3] * (TONES - 1) - al;
    for (let y = y0; y <= y1; y++) {
      const py = y + 0.5 - ay;
      let v = (x0 + 0.5 - ax) * vx + py * vy, w = (x0 + 0.5 - ax) * wx + py * wy;
      for (let at = y * width + x0, end = at + x1 - x0; at <= end; at++, v += vx, w += wx) {
        if (v < 0 || w < 0 || v + w > 1) continue;
        if (tones === null) {
          pixels[at] = color;
          continue;
        }
        const z = az + v * (bz - az) + w * (cz - az);
        if (z <= depth[at] * nearer) continue;
        const tone = tones[(al + v * bl + w * cl) | 0];
        if (how === 3) {
          pixels[at] = blend(pixels[at], tone);
        } else {
          depth[at] = z;
          pixels[at] = tone;
        }
      }
    }
  }
}

/** out = a · b for column-major matrices, b within an array. */
function multiply(a, b, at, out) {
  for (let c = 0; c < 16; c += 4) {
    for (let r = 0; r < 4; r++) out[c + r] = a[r] * b[at + c] + a[r + 4] * b[at + c + 1] + a[r + 8] * b[at + c + 2] + a[r + 12] * b[at + c + 3];
  }
  return out;
}

function packed(color, light) {
  const byte = (v) => Math.round(255 * Math.min(1, v * light) ** 0.4545);
  return (255 << 24) | (byte(color.b) << 16) | (byte(color.g) << 8) | byte(color.r);
}

function blend(under, over) {
  let out = 255 << 24;
  for (let shift = 0; shift < 24; shift += 8) out |= Math.round(((under >> shift) & 255) * 0.74 + ((over >> shift) & 255) * 0.26) << shift;
  return out;
}
