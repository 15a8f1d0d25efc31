// The three-dimensional picture: light, ground, bodies, camera, picking.

import * as THREE from 'three';
import { OrbitControls } from 'three/addons/controls/OrbitControls.js';
import { STATE } from './recording.js';
import { isSoftware, Raster } from './raster.js';
import { bodyColors, geometry, reach } from './shapes.js';

export const THEMES = {
  light: { background: '#e9edf1', ground: '#e3e8ed', grid: '#7f8c9b', sky: '#f6faff', bounce: '#b9b4ad', sun: 1.75, fill: 1.85, accent: '#1769d2', plain: [0.5, 0.62], shade: 0.72 },
  dark: { background: '#15181d', ground: '#23272e', grid: '#7c8797', sky: '#b9c6dc', bounce: '#2b2f36', sun: 2.3, fill: 1.15, accent: '#6cb0ff', plain: [0.36, 0.7], shade: 0.5 },
};

const HIDDEN = new THREE.Matrix4().makeScale(0, 0, 0);

export class Stage {
  /** `wanted` quality: 0 plain to 2 full; by default what the machine can do. */
  constructor(canvas, flat, recording, wanted) {
    Object.assign(this, { canvas, flat });
    this.recording = recording;
    this.up = new THREE.Vector3(...recording.header.up).normalize();
    this.forced = wanted;
    this.ceiling = wanted ?? (isSoftware() ? 0 : 2);
    if (this.ceiling > 0) {
      this.renderer = new THREE.WebGLRenderer({ canvas, antialias: true });
      this.renderer.shadowMap.enabled = true;
      this.renderer.shadowMap.type = THREE.PCFShadowMap;
    }
    this.scene = new THREE.Scene();
    this.camera = new THREE.PerspectiveCamera(32, 1, 0.01, 1000);
    this.camera.up.copy(this.up);
    this.controls = new OrbitControls(this.camera, canvas);
    Object.assign(this.controls, { enableDamping: true, dampingFactor: 0.12, zoomToCursor: true });
    this.controls.addEventListener('change', () => (this.dirty = true));
    this.controls.addEventListener('start', () => (this.touched = true));
    this.dirty = true;
    this.covered = { right: 0, bottom: 0 };
    this.selected = -1;
    this.following = false;
    this.measure();
    this.light();
    this.buildBodies();
    this.buildGrounds();
    this.resetCamera();
    this.quality = 2;
    this.slow = 0;
  }

  /** Where the action is: most of the places of most moving bodies, so that one that flies off does not count. */
  measure() {
    const { recording } = this;
    this.sizes = recording.bodies.map((body) => Math.max(0, ...body.colliders.map((c) =>
      Math.hypot(...c.body_from_shape.translation) + reach(recording.shapes[c.shape]))));
    const places = (all) => {
      const found = [];
      for (let i = 0; i <= 12; i++) {
        const frame = Math.round((i / 12) ** 1.5 * (recording.length - 1)); // more of the beginning, which all see
        recording.bodies.forEach((body, b) => {
          const state = (all || body.kind !== 'fixed') && this.sizes[b] > 0 ? recording.state(frame, b) : null;
          if (state) found.push({ at: state, size: this.sizes[b] });
        });
      }
      return found;
    };
    let found = places(false);
    if (!found.length) found = places(true);
    if (!found.length) found = [{ at: [0, 0, 0], size: 1 }];
    const sizes = found.map((f) => f.size).sort((a, b) => a - b);
    this.bodySize = sizes[sizes.length >> 1];
    const along = [0, 1, 2].map((k) => found.map((f) => f.at[k]).sort((a, b) => a - b));
    const most = (part) => {
      const cut = Math.floor(found.length * part);
      const box = new THREE.Box3(new THREE.Vector3(...along.map((a) => a[cut])), new THREE.Vector3(...along.map((a) => a[a.length - 1 - cut])));
      return box.expandByScalar(this.bodySize * 0.7);
    };
    const length = (box) => box.getSize(new THREE.Vector3()).length();
    // A few that go far away do not make all others small.
    let action = most(0.03);
    for (const part of [0.1, 0.2]) if (length(most(part)) < 0.45 * length(action)) action = most(part);
    const near = 3 * action.getSize(new THREE.Vector3()).length();
    // What stands still counts too, unless it is a landscape.
    recording.bodies.forEach((body, b) => {
      const state = body.kind === 'fixed' && this.sizes[b] > 0 && this.sizes[b] < near ? recording.state(0, b) : null;
      for (const collider of state ? body.colliders : []) {
        const solid = geometry(recording.shapes[collider.shape], 8)?.applyMatrix4(stateMatrix(state).multiply(pose(collider.body_from_shape)));
        solid?.computeBoundingBox();
        if (solid) action.union(solid.boundingBox);
      }
    });
    this.action = action;
    this.center = action.getCenter(new THREE.Vector3());
    this.radius = action.getSize(new THREE.Vector3()).length() / 2;
  }

  light() {
    this.hemisphere = new THREE.HemisphereLight();
    this.hemisphere.position.copy(this.up);
    this.sun = new THREE.DirectionalLight('#fff6e8');
    this.sun.castShadow = true;
    this.sun.shadow.mapSize.set(2048, 2048);
    this.sun.shadow.radius = 2.5;
    this.sun.shadow.bias = -0.0006;
    this.placeSun();
    this.scene.add(this.hemisphere, this.sun, this.sun.target);
  }

  /** The sun lights the action, and its shadows are as fine as that allows. */
  placeSun() {
    const side = this.sideways();
    const ahead = new THREE.Vector3().crossVectors(this.up, side);
    const r = this.radius * 1.5;
    this.sun.position.copy(this.center).addScaledVector(this.up, 2.4 * r).addScaledVector(side, 1.3 * r).addScaledVector(ahead, 0.6 * r);
    this.sun.target.position.copy(this.center);
    Object.assign(this.sun.shadow.camera, { left: -r, right: r, top: r, bottom: -r, near: 0.1 * r, far: 6 * r });
    this.sun.shadow.camera.updateProjectionMatrix();
    this.sun.shadow.normalBias = 0.02 * this.bodySize;
  }

  /** More frames came: if bodies went further than before, the picture takes that in. */
  grow() {
    const before = this.action;
    this.measure();
    if (before.clone().expandByScalar(0.05 * this.radius).containsBox(this.action)) {
      Object.assign(this, { action: before, center: before.getCenter(new THREE.Vector3()), radius: before.getSize(new THREE.Vector3()).length() / 2 });
      return false;
    }
    this.placeSun();
    for (const { mesh } of this.grounds) {
      this.scene.remove(mesh);
      mesh.geometry.dispose();
      mesh.material.dispose();
    }
    this.buildGrounds();
    if (!this.touched && !this.following) this.resetCamera();
    return true;
  }

  sideways() {
    const any = Math.abs(this.up.x) < 0.9 ? new THREE.Vector3(1, 0, 0) : new THREE.Vector3(0, 1, 0);
    return any.addScaledVector(this.up, -any.dot(this.up)).normalize();
  }

  /** One instanced mesh for each shape; a slot is a collider of a body. */
  buildBodies() {
    const { shapes, bodies } = this.recording;
    const uses = shapes.map(() => []);
    bodies.forEach((body, b) => body.colliders.forEach((c) => uses[c.shape].push({ body: b, local: pose(c.body_from_shape) })));
    this.parts = [];
    this.halfSpaces = [];
    shapes.forEach((shape, s) => {
      if (!uses[s].length) return;
      if (shape.type === 'half_space') {
        this.halfSpaces.push(...uses[s].map((slot) => ({ ...slot, normal: new THREE.Vector3(...shape.normal) })));
        return;
      }
      const side = shape.type === 'mesh' ? THREE.DoubleSide : THREE.FrontSide;
      const mesh = new THREE.InstancedMesh(geometry(shape, uses[s].length > 200 ? 16 : uses[s].length > 40 ? 24 : 48), new THREE.MeshLambertMaterial({ side }), uses[s].length);
      mesh.frustumCulled = false;
      mesh.castShadow = mesh.receiveShadow = true;
      mesh.userData = { slots: uses[s], shape: s, reach: reach(shape) };
      this.parts.push(mesh);
      this.scene.add(mesh);
    });
    this.halo = new THREE.Group();
    this.scene.add(this.halo);
  }

  /** Half-spaces and the grid on them; without any, a faint grid below the action for orientation. */
  buildGrounds() {
    this.grounds = this.halfSpaces.map(({ body, local, normal }) => {
      const state = this.recording.state(0, body);
      const world = (state ? stateMatrix(state) : new THREE.Matrix4()).multiply(local);
      const point = new THREE.Vector3().setFromMatrixPosition(world);
      return { point, normal: normal.clone().transformDirection(world), body };
    });
    if (!this.grounds.length) {
      const low = this.center.clone().addScaledVector(this.up, -this.radius);
      this.grounds.push({ point: low, normal: this.up.clone(), body: -1 });
    }
    const spacing = (this.spacing = 10 ** Math.floor(Math.log10(this.radius * 0.8)));
    for (const ground of this.grounds) {
      const level = ground.normal.dot(this.up) > 0.999;
      const size = this.radius * (level ? 40 : 2.2);
      const shape = level ? new THREE.CircleGeometry(size, 64) : new THREE.PlaneGeometry(2 * size, 2 * size);
      ground.mesh = new THREE.Mesh(shape, gridMaterial(spacing, this.radius * 5, ground.body < 0));
      const middle = this.center.clone().addScaledVector(ground.normal, ground.point.clone().sub(this.center).dot(ground.normal));
      ground.mesh.position.copy(middle);
      ground.mesh.quaternion.setFromUnitVectors(new THREE.Vector3(0, 0, 1), ground.normal);
      ground.mesh.receiveShadow = true;
      ground.mesh.userData.body = ground.body;
      this.scene.add(ground.mesh);
    }
  }

  setTheme(name) {
    const theme = THEMES[name];
    this.scene.background = new THREE.Color(theme.background);
    this.scene.fog = new THREE.Fog(theme.background, this.radius * 9, this.radius * 26);
    this.hemisphere.color.set(theme.sky);
    this.hemisphere.groundColor.set(theme.bounce);
    this.hemisphere.intensity = theme.fill;
    this.sun.intensity = theme.sun;
    this.accent = theme.accent;
    this.theme = theme;
    for (const { mesh } of this.grounds) {
      mesh.material.color.set(theme.ground);
      mesh.material.userData.line.value.set(theme.grid);
    }
    const colors = bodyColors(this.recording.bodies, name === 'dark');
    for (const mesh of this.parts) mesh.userData.slots.forEach(({ body }, i) => mesh.setColorAt(i, colors[body]));
    this.parts.forEach((mesh) => (mesh.instanceColor.needsUpdate = true));
    this.colors = colors;
    this.select(this.selected);
    if (this.ceiling === 0 && !this.raster) this.setQuality(0);
    this.raster?.setTheme();
    this.dirty = true;
  }

  /** Less for each picture: 2 full, 1 fewer pixels and a coarser shadow, 0 without a graphics card. */
  setQuality(quality) {
    this.quality = quality;
    this.slow = 0;
    if (quality === 0) {
      const { shapes } = this.recording;
      this.raster = new Raster(this, this.flat, (mesh, sides) => geometry(shapes[mesh.userData.shape], sides));
    } else {
      this.sun.shadow.mapSize.set(1024, 1024);
      this.sun.shadow.map?.dispose();
      this.sun.shadow.map = null;
    }
    this.resize();
  }

  showShadows(on) {
    this.shadows = on;
    this.sun.castShadow = on;
    this.scene.traverse((o) => o.material && (o.material.needsUpdate = true));
    this.dirty = true;
  }

  resetCamera() {
    const side = this.sideways();
    const back = new THREE.Vector3().crossVectors(side, this.up);
    const ahead = side.clone().multiplyScalar(-0.42).addScaledVector(back, -0.78).addScaledVector(this.up, -0.46).normalize();
    const right = ahead.clone().cross(this.up).normalize();
    const upwards = right.clone().cross(ahead);
    // As near as all corners of the action allow in what panels leave free, with a margin.
    const half = Math.tan(((this.camera.fov / 2) * Math.PI) / 180);
    const { clientWidth: width, clientHeight: height } = this.canvas;
    const tall = 0.8 * half * Math.max(0.3, 1 - this.covered.bottom / Math.max(height, 1));
    const wide = 0.86 * half * this.camera.aspect * Math.max(0.3, 1 - this.covered.right / Math.max(width, 1));
    let away = 0.1 * this.radius;
    for (let i = 0; i < 8; i++) {
      const { min, max } = this.action;
      const corner = new THREE.Vector3(i & 1 ? max.x : min.x, i & 2 ? max.y : min.y, i & 4 ? max.z : min.z).sub(this.center);
      away = Math.max(away, Math.max(Math.abs(corner.dot(right)) / wide, Math.abs(corner.dot(upwards)) / tall) - corner.dot(ahead));
    }
    this.controls.target.copy(this.center);
    this.camera.position.copy(this.center).addScaledVector(ahead, -away);
    Object.assign(this.camera, { near: this.radius / 100, far: this.radius * 100 });
    Object.assign(this.controls, { minDistance: this.bodySize, maxDistance: this.radius * 20 });
    this.camera.updateProjectionMatrix();
    this.controls.update();
    this.dirty = true;
  }

  resize() {
    const { clientWidth: width, clientHeight: height } = this.canvas;
    const ratio = Math.min(devicePixelRatio, this.quality === 2 ? 2 : 1);
    this.renderer?.setPixelRatio(ratio);
    this.renderer?.setSize(width, height, false);
    this.raster?.resize(Math.max(1, width), Math.max(1, height));
    this.camera.aspect = width / Math.max(height, 1);
    // The middle of the picture is the middle of what panels leave free.
    const { right, bottom } = this.covered;
    this.camera.setViewOffset(width, height, right / 2, bottom / 2, width, height);
    this.camera.updateProjectionMatrix();
    this.dirty = true;
  }

  /** Puts all bodies where they are at `frame` plus a part `blend` of the way to the next. */
  show(frame, blend = 0) {
    const { recording } = this;
    const { piece, index } = recording.locate(frame);
    const next = blend > 0 && frame + 1 < recording.length ? recording.locate(frame + 1) : null;
    const matrix = new THREE.Matrix4();
    const blended = new Float64Array(STATE);
    for (const mesh of this.parts) {
      mesh.userData.slots.forEach(({ body, local }, i) => {
        const at = index * piece.stride + body;
        if (body >= piece.stride || !piece.present[at]) {
          mesh.setMatrixAt(i, HIDDEN);
          return;
        }
        let [states, s] = [piece.states, at * STATE];
        if (next && next.piece.present[next.index * next.piece.stride + body]) {
          mix(piece.states, s, next.piece.states, (next.index * next.piece.stride + body) * STATE, blend, blended);
          [states, s] = [blended, 0];
        }
        stateMatrix(states, s, matrix);
        mesh.setMatrixAt(i, local.isIdentity ? matrix : matrix.multiply(local));
      });
      mesh.instanceMatrix.needsUpdate = true;
      mesh.boundingSphere = null; // picking must not use the old one
    }
    this.follow();
    this.placeHalo();
    this.dirty = true;
  }

  /** Drawn pose of a body: the matrix of its first collider, or null. */
  matrixOf(body) {
    for (const mesh of this.parts) {
      const slot = mesh.userData.slots.findIndex((s) => s.body === body);
      if (slot < 0) continue;
      const matrix = new THREE.Matrix4();
      mesh.getMatrixAt(slot, matrix);
      return matrix.determinant() === 0 ? null : matrix.multiply(mesh.userData.slots[slot].local.clone().invert());
    }
    return null;
  }

  follow() {
    const matrix = this.following && this.selected >= 0 ? this.matrixOf(this.selected) : null;
    if (!matrix) return;
    const move = new THREE.Vector3().setFromMatrixPosition(matrix).sub(this.controls.target);
    this.controls.target.add(move);
    this.camera.position.add(move);
    this.controls.update();
  }

  /** The body under a point of the page, or −1. */
  pick(x, y) {
    const area = this.canvas.getBoundingClientRect();
    const ray = new THREE.Raycaster();
    const point = new THREE.Vector2(((x - area.left) / area.width) * 2 - 1, 1 - ((y - area.top) / area.height) * 2);
    ray.setFromCamera(point, this.camera);
    const hit = ray.intersectObjects(this.parts, false)[0];
    return hit ? hit.object.userData.slots[hit.instanceId].body : -1;
  }

  select(body) {
    this.selected = body;
    this.halo.clear();
    for (const mesh of body >= 0 ? this.parts : []) {
      mesh.userData.slots.forEach((slot, i) => {
        if (slot.body !== body) return;
        const material = new THREE.MeshBasicMaterial({ color: this.accent, side: THREE.BackSide, fog: false });
        material.onBeforeCompile = (shader) => {
          // Grown along the view-space normal by a width that stays the same on the screen.
          shader.vertexShader = shader.vertexShader.replace('#include <project_vertex>', `#include <project_vertex>
            vec3 outwards = normalize(normalMatrix * position);
            mvPosition.xyz += outwards * (-mvPosition.z) * 0.0035;
            gl_Position = projectionMatrix * mvPosition;`);
        };
        const outline = new THREE.Mesh(mesh.geometry, material);
        outline.matrixAutoUpdate = false;
        outline.userData = { mesh, i };
        this.halo.add(outline);
      });
    }
    this.placeHalo();
    this.dirty = true;
  }

  placeHalo() {
    for (const outline of this.halo.children) {
      outline.userData.mesh.getMatrixAt(outline.userData.i, outline.matrix);
      outline.visible = outline.matrix.determinant() !== 0;
    }
  }

  /** Draws if something changed; a slow machine gets a coarser picture. */
  render(overlays) {
    this.controls.update();
    if (!this.dirty) {
      this.last = 0;
      return false;
    }
    this.dirty = false;
    if (this.raster) this.raster.render(overlays);
    else this.renderer.render(this.scene, this.camera);
    const now = performance.now();
    this.slow = this.last && now - this.last > 34 ? this.slow + 1 : Math.max(0, this.slow - 1);
    this.last = now;
    if (this.slow > 20 && this.quality > 0 && this.ceiling !== this.forced) this.setQuality(this.quality - 1);
    return true;
  }
}

export function pose({ translation, rotation }) {
  const matrix = new THREE.Matrix4().compose(new THREE.Vector3(...translation), new THREE.Quaternion(...rotation), new THREE.Vector3(1, 1, 1));
  matrix.isIdentity = matrix.equals(new THREE.Matrix4());
  return matrix;
}

const [position, quaternion, one] = [new THREE.Vector3(), new THREE.Quaternion(), new THREE.Vector3(1, 1, 1)];
export function stateMatrix(states, s = 0, matrix = new THREE.Matrix4()) {
  position.set(states[s], states[s + 1], states[s + 2]);
  quaternion.set(states[s + 3], states[s + 4], states[s + 5], states[s + 6]);
  return matrix.compose(position, quaternion, one);
}

function mix(a, s, b, t, blend, out) {
  for (let k = 0; k < 3; k++) out[k] = a[s + k] + blend * (b[t + k] - a[s + k]);
  let dot = 0;
  for (let k = 3; k < 7; k++) dot += a[s + k] * b[t + k];
  let length = 0;
  for (let k = 3; k < 7; k++) {
    out[k] = a[s + k] * (1 - blend) + Math.sign(dot || 1) * b[t + k] * blend;
    length += out[k] * out[k];
  }
  for (let k = 3; k < 7; k++) out[k] /= Math.sqrt(length);
}

/** Lambert surface with thin lines at each `spacing` and stronger ones at each tenth, which fade beyond `reach`. */
function gridMaterial(spacing, reach, ghost) {
  const material = new THREE.MeshLambertMaterial({ transparent: ghost, opacity: ghost ? 0.55 : 1, depthWrite: !ghost });
  material.userData.line = { value: new THREE.Color() };
  material.onBeforeCompile = (shader) => {
    shader.uniforms.gridLine = material.userData.line;
    shader.vertexShader = `varying vec2 gridAt;\n${shader.vertexShader}`.replace('#include <begin_vertex>', '#include <begin_vertex>\ngridAt = position.xy;');
    shader.fragmentShader = `varying vec2 gridAt;\nuniform vec3 gridLine;
      float grid(vec2 at, float width) {
        vec2 f = fwidth(at);
        vec2 d = abs(fract(at - 0.5) - 0.5) / max(f, 1e-6);
        float line = 1.0 - min(min(d.x, d.y) / width, 1.0);
        return line * (1.0 - smoothstep(0.15, 0.5, max(f.x, f.y)));
      }
      ${shader.fragmentShader}`.replace('#include <color_fragment>', `#include <color_fragment>
        float lines = max(grid(gridAt / ${spacing.toExponential()}, 1.0) * 0.22, grid(gridAt / ${(10 * spacing).toExponential()}, 1.2) * 0.4);
        lines *= exp(-dot(gridAt, gridAt) / ${(reach * reach).toExponential()});
        diffuseColor.rgb = mix(diffuseColor.rgb, gridLine, lines);`);
  };
  return material;
}
