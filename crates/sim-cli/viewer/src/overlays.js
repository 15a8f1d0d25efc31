// What can be laid over the picture: contacts, velocities, boxes, pairs, trails, stroboscope.

import * as THREE from 'three';
import { jointLines, reaction, TONES } from './joints.js';
import { CONTACT, STATE } from './recording.js';
import { stateMatrix } from './stage.js';

export const LAYERS = [
  { id: 'contacts', name: 'Contacts', about: 'points, normals and impulses' },
  { id: 'velocity', name: 'Velocities', about: 'arrows, a tenth of a second long' },
  { id: 'trails', name: 'Trails', about: 'the last two seconds' },
  { id: 'strobe', name: 'Stroboscope', about: 'earlier poses; of the selected body, if any' },
  { id: 'boxes', name: 'Boxes', about: 'of the broad phase' },
  { id: 'pairs', name: 'Pairs', about: 'reported by the broad phase' },
  { id: 'shadows', name: 'Shadows', about: 'of the sun', on: true },
  { id: 'joints', name: 'Joints', about: 'anchors, axes, limits, ropes, springs', on: true },
  { id: 'reactions', name: 'Reactions', about: 'forces that joints bear' },
];

const TRAIL_SECONDS = 2;
const GHOSTS = 14;
const MOST_TRAILS = 150;
const MOST_GHOSTS = 6000;

export class Overlays {
  constructor(stage, recording) {
    Object.assign(this, { stage, recording, on: new Set(LAYERS.filter((l) => l.on).map((l) => l.id)) });
    const size = stage.bodySize;
    this.velocity = new Arrows(stage.scene, '#2a9d8f', size * 0.035);
    this.normals = new Arrows(stage.scene, '#f4a340', size * 0.018);
    this.impulses = new Arrows(stage.scene, '#e4572e', size * 0.035);
    this.points = new Instances(stage.scene, new THREE.SphereGeometry(1, 12, 8), '#e4572e');
    this.boxes = new Lines(stage.scene, '#7b61c9', 0.9);
    this.pairs = new Lines(stage.scene, '#c2417c', 0.9);
    this.joints = Object.entries(TONES).map(([tone, color]) => [tone, new Lines(stage.scene, color, 1, true)]);
    this.reactions = new Arrows(stage.scene, TONES.reaction, size * 0.035);
    this.trails = new Lines(stage.scene, null, 1);
    this.ghosts = new THREE.Group();
    stage.scene.add(this.ghosts);
    this.free = recording.bodies.map((body, b) => (body.kind === 'fixed' ? -1 : b)).filter((b) => b >= 0);
    const masses = recording.bodies.map((b) => b.mass).filter((m) => m > 0).sort((a, b) => a - b);
    this.unitImpulse = (masses[masses.length >> 1] ?? 1) * 1; // one metre a second for the body in the middle
    this.look();
  }

  /** Which layers have something to show. */
  look() {
    const { recording } = this;
    const joints = recording.joints.length > 0;
    this.has = { joints, reactions: joints, boxes: false, pairs: recording.series.pairs.some((n) => n > 0), contacts: recording.series.contacts.some((n) => n > 0) };
    if (recording.length) this.has.boxes = recording.piece(0).boxes !== null;
  }

  available(id) {
    return this.has[id] ?? true;
  }

  toggle(id, on = !this.on.has(id)) {
    if (on && this.available(id)) this.on.add(id);
    else this.on.delete(id);
    if (id === 'shadows') this.stage.showShadows(this.on.has(id));
  }

  update(frame) {
    const { recording, on } = this;
    const contacts = on.has('contacts') ? recording.contacts(frame) : [];
    const counts = { velocity: 0, contacts: contacts.length / CONTACT, boxes: 0, pairs: 0, trails: 0, ghosts: 0, joints: this.showJoints(frame), reactions: this.showReactions(frame) };
    this.showContacts(contacts);
    this.velocity.begin();
    if (on.has('velocity')) {
      for (const body of this.free) {
        const s = recording.state(frame, body);
        if (!s) continue;
        counts.velocity += this.velocity.add(s[0], s[1], s[2], 0.1 * s[7], 0.1 * s[8], 0.1 * s[9]);
      }
    }
    this.velocity.end();
    this.boxes.begin();
    if (on.has('boxes')) {
      recording.bodies.forEach((_, body) => {
        const box = recording.box(frame, body);
        if (box) counts.boxes += this.boxes.box(box);
      });
    }
    this.boxes.end();
    this.pairs.begin();
    if (on.has('pairs')) counts.pairs = this.showPairs(frame);
    this.pairs.end();
    this.trails.begin();
    if (on.has('trails')) counts.trails = this.showTrails(frame);
    this.trails.end();
    counts.ghosts = this.showGhosts(frame);
    this.counts = counts;
    this.stage.dirty = true;
  }

  /** The layers as plain strokes, for the rasteriser. */
  strokes() {
    const arrows = [this.velocity, this.normals, this.impulses, this.reactions].map((a) => ({ positions: a.strokes, colors: [], color: a.color, width: 2 }));
    const dots = { positions: this.points.strokes, colors: [], color: '#e4572e', width: 5 };
    const lines = [this.boxes, this.pairs, this.trails].map((l) => ({ positions: l.positions, colors: l.colors, color: l.color, width: 1 }));
    const joints = this.joints.map(([, l]) => ({ positions: l.positions, colors: [], color: l.color, width: 2 }));
    return [...lines, ...joints, ...arrows, dots].filter((s) => s.positions.length);
  }

  showContacts(contacts) {
    const size = this.stage.bodySize;
    this.points.begin();
    this.normals.begin();
    this.impulses.begin();
    for (let c = 0; c < contacts.length; c += CONTACT) {
      // Drawn as they act on the body that can move.
      const sign = this.recording.bodies[contacts[c]].kind === 'fixed' ? -1 : 1;
      const [x, y, z] = contacts.subarray(c + 2, c + 5);
      const [nx, ny, nz, jx, jy, jz] = contacts.subarray(c + 5, c + CONTACT).map((v) => sign * v);
      this.points.add(x, y, z, size * 0.05);
      this.normals.add(x, y, z, nx * size * 0.8, ny * size * 0.8, nz * size * 0.8);
      const strength = Math.hypot(jx, jy, jz);
      // By the square root, so that a knock and the weight of a body can be seen side by side.
      const length = strength > 0 ? (size * 2.2 * Math.min(2, Math.sqrt(strength / this.unitImpulse))) / strength : 0;
      this.impulses.add(x, y, z, jx * length, jy * length, jz * length);
    }
    this.points.end();
    this.normals.end();
    this.impulses.end();
  }

  /** How many joints were drawn. */
  showJoints(frame) {
    const { recording } = this;
    const of = Object.fromEntries(this.joints);
    let count = 0;
    for (const [, lines] of this.joints) lines.begin();
    for (let j = 0; this.on.has('joints') && j < recording.joints.length; j++) {
      const line = (points, tone) => points.slice(1).forEach((b, k) => of[tone].line(points[k].x, points[k].y, points[k].z, b.x, b.y, b.z));
      if (jointLines(recording, frame, j, this.stage.bodySize, line)) count++;
    }
    for (const [, lines] of this.joints) lines.end();
    return count;
  }

  showReactions(frame) {
    const { recording, stage } = this;
    let count = 0;
    this.reactions.begin();
    for (let j = 0; this.on.has('reactions') && j < recording.joints.length; j++) {
      const found = reaction(recording, frame, j);
      const strength = found ? Math.hypot(...found.force) : 0;
      if (!strength) continue;
      // By the square root, as impulses; the weight of the body in the middle is one and a half sizes long.
      const length = (1.5 * stage.bodySize * Math.min(2, Math.sqrt(strength / (9.81 * this.unitImpulse)))) / strength;
      count += this.reactions.add(found.at.x, found.at.y, found.at.z, ...found.force.map((f) => f * length));
    }
    this.reactions.end();
    return count;
  }

  showPairs(frame) {
    const pairs = this.recording.pairs(frame);
    for (let i = 0; i < pairs.length; i += 2) {
      const [a, b] = [this.anchor(frame, pairs[i], pairs[i + 1]), this.anchor(frame, pairs[i + 1], pairs[i])];
      if (a && b) this.pairs.line(a[0], a[1], a[2], b[0], b[1], b[2]);
    }
    return pairs.length / 2;
  }

  /** Where a pair's line begins: the body's place, or for a half-space the foot below the other. */
  anchor(frame, body, other) {
    const ground = this.stage.grounds.find((g) => g.body === body);
    if (!ground) return this.recording.state(frame, body);
    const at = this.recording.state(frame, other);
    if (!at) return null;
    const point = new THREE.Vector3(at[0], at[1], at[2]);
    return point.addScaledVector(ground.normal, ground.point.clone().sub(point).dot(ground.normal)).toArray();
  }

  showTrails(frame) {
    const { recording, stage } = this;
    const bodies = stage.selected >= 0 ? [stage.selected] : this.free.slice(0, MOST_TRAILS);
    const first = recording.nearest(recording.times[frame] - TRAIL_SECONDS);
    for (const body of bodies) {
      const color = stage.colors[body];
      let before = null;
      for (let f = first; f <= frame; f++) {
        const state = recording.state(f, body);
        if (state && before) {
          const age = (frame - f) / Math.max(frame - first, 1);
          const older = Math.min(1, age + 1 / (frame - first));
          this.trails.line(before[0], before[1], before[2], state[0], state[1], state[2], color, 1 - older, 1 - age);
        }
        before = state;
      }
    }
    return bodies.length;
  }

  /** Poses at regular times up to now, as transparent copies. */
  showGhosts(frame) {
    const { recording, stage } = this;
    const key = this.on.has('strobe') ? `${stage.selected}` : '';
    const every = Math.max(1, Math.round(recording.length / GHOSTS));
    const shown = key ? Math.floor(frame / every) : 0;
    if (this.ghostKey === `${key}/${shown}`) return this.ghostCount;
    this.ghostKey = `${key}/${shown}`;
    for (const ghost of this.ghosts.children) ghost.dispose();
    this.ghosts.clear();
    this.ghostCount = 0;
    if (!key) return 0;
    const matrix = new THREE.Matrix4();
    for (const mesh of stage.parts) {
      const slots = mesh.userData.slots.filter(({ body }) =>
        (stage.selected >= 0 ? body === stage.selected : recording.bodies[body].kind !== 'fixed'));
      const room = Math.min(slots.length * (shown + 1), MOST_GHOSTS);
      if (!room) continue;
      const material = new THREE.MeshLambertMaterial({ transparent: true, opacity: 0.26, depthWrite: false });
      const ghost = new THREE.InstancedMesh(mesh.geometry, material, room);
      ghost.userData = { source: mesh, bodies: [] };
      let i = 0;
      for (let k = 0; k <= shown; k++) {
        for (const { body, local } of slots) {
          const state = i < room ? recording.state(Math.min(k * every, recording.length - 1), body) : null;
          if (!state) continue;
          ghost.setMatrixAt(i, stateMatrix(state, 0, matrix).multiply(local));
          ghost.userData.bodies.push(body);
          ghost.setColorAt(i++, stage.colors[body]);
        }
      }
      ghost.count = i;
      ghost.frustumCulled = false;
      this.ghostCount += i;
      this.ghosts.add(ghost);
    }
    return this.ghostCount;
  }
}

/** Copies of one geometry that come and go. */
class Instances {
  constructor(scene, geometry, color) {
    this.mesh = new THREE.InstancedMesh(geometry, new THREE.MeshBasicMaterial({ color, fog: false, transparent: true, depthTest: false }), 64);
    this.mesh.renderOrder = 5;
    this.mesh.frustumCulled = false;
    this.scene = scene;
    this.matrix = new THREE.Matrix4();
    this.mesh.count = 0;
    scene.add(this.mesh);
  }

  begin() {
    this.used = 0;
    this.strokes = [];
  }

  put(matrix) {
    if (this.used === this.mesh.instanceMatrix.count) this.grow();
    this.mesh.setMatrixAt(this.used++, matrix);
  }

  add(x, y, z, size) {
    this.strokes.push(x, y, z - size / 2, x, y, z + size / 2);
    this.put(this.matrix.makeScale(size, size, size).setPosition(x, y, z));
  }

  grow() {
    const old = this.mesh;
    this.mesh = new THREE.InstancedMesh(old.geometry, old.material, old.instanceMatrix.count * 2);
    this.mesh.instanceMatrix.array.set(old.instanceMatrix.array);
    this.mesh.renderOrder = old.renderOrder;
    this.mesh.frustumCulled = false;
    this.scene.remove(old);
    this.scene.add(this.mesh);
    old.dispose();
  }

  end() {
    this.mesh.count = this.used;
    this.mesh.visible = this.used > 0;
    this.mesh.instanceMatrix.needsUpdate = true;
  }
}

class Arrows {
  constructor(scene, color, width) {
    Object.assign(this, { width, color });
    this.shafts = new Instances(scene, new THREE.CylinderGeometry(1, 1, 1, 8).translate(0, 0.5, 0), color);
    this.heads = new Instances(scene, new THREE.ConeGeometry(2.6, 7, 12).translate(0, -3.5, 0), color);
    this.y = new THREE.Vector3(0, 1, 0);
    this.direction = new THREE.Vector3();
    this.turn = new THREE.Quaternion();
    this.matrix = new THREE.Matrix4();
    this.scale = new THREE.Vector3();
    this.place = new THREE.Vector3();
  }

  begin() {
    this.strokes = [];
    this.shafts.begin();
    this.heads.begin();
  }

  /** From a point along a vector; nothing, and 0, if it is too short to be seen. */
  add(x, y, z, dx, dy, dz) {
    const length = Math.hypot(dx, dy, dz);
    const width = Math.min(this.width, length / 8);
    if (!(length > this.width * 0.5)) return 0;
    this.strokes.push(x, y, z, x + dx, y + dy, z + dz);
    this.turn.setFromUnitVectors(this.y, this.direction.set(dx, dy, dz).divideScalar(length));
    this.shafts.put(this.matrix.compose(this.place.set(x, y, z), this.turn, this.scale.set(width, length - 6 * width, width)));
    this.heads.put(this.matrix.compose(this.place.set(x + dx, y + dy, z + dz), this.turn, this.scale.set(width, width, width)));
    return 1;
  }

  end() {
    this.shafts.end();
    this.heads.end();
  }
}

class Lines {
  /** `over`: not hidden by bodies. */
  constructor(scene, color, opacity, over = false) {
    const material = new THREE.LineBasicMaterial({ color: color ?? '#ffffff', vertexColors: !color, transparent: true, opacity, fog: false, depthTest: !over });
    this.lines = new THREE.LineSegments(new THREE.BufferGeometry(), material);
    this.lines.frustumCulled = false;
    if (over) this.lines.renderOrder = 4;
    this.colored = !color;
    this.color = color;
    scene.add(this.lines);
  }

  begin() {
    this.positions = [];
    this.colors = [];
  }

  line(ax, ay, az, bx, by, bz, color, from, to) {
    this.positions.push(ax, ay, az, bx, by, bz);
    if (this.colored) this.colors.push(color.r, color.g, color.b, from, color.r, color.g, color.b, to);
  }

  box([ax, ay, az, bx, by, bz]) {
    for (const [y, z] of [[ay, az], [ay, bz], [by, az], [by, bz]]) this.line(ax, y, z, bx, y, z);
    for (const [x, z] of [[ax, az], [ax, bz], [bx, az], [bx, bz]]) this.line(x, ay, z, x, by, z);
    for (const [x, y] of [[ax, ay], [ax, by], [bx, ay], [bx, by]]) this.line(x, y, az, x, y, bz);
    return 1;
  }

  end() {
    this.lines.visible = this.positions.length > 0;
    if (!this.lines.visible) return;
    const geometry = new THREE.BufferGeometry();
    geometry.setAttribute('position', new THREE.Float32BufferAttribute(this.positions, 3));
    if (this.colored) geometry.setAttribute('color', new THREE.Float32BufferAttribute(this.colors, 4));
    this.lines.geometry.dispose();
    this.lines.geometry = geometry;
  }
}
