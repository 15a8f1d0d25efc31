// Reader of recordings; the bytes are described in docs/recording-format.md.

import { unzlibSync } from 'fflate';

export const COLUMNS = ['time', 'kinetic', 'potential', 'px', 'py', 'pz', 'lx', 'ly', 'lz', 'events', 'contacts', 'pairs'];
export const STATE = 13; // x y z, qx qy qz qw, vx vy vz, wx wy wz
export const CONTACT = 11; // a b, point, normal, impulse
const PLANES = 34;
const LOADS = 8; // planes of joints
const [MODE, MOTION, BOX, TOUCH, PAIR] = [0, 1, 13, 19, 31];
const [PRESENT, STILL, BOXED] = [1, 2, 64];
const CACHED = 10;

export class Recording {
  /** Of all bytes, or of the first ones while the run goes on: `complete` tells. */
  constructor(bytes) {
    Object.assign(this, { bytes: new Uint8Array(0), shapes: [], bodies: [], joints: [], marks: [], chunks: [], cache: new Map(), length: 0, parsed: 8, complete: false });
    this.columns = COLUMNS.map(() => []);
    this.append(bytes);
  }

  /** Reads the records that are now whole. */
  append(more) {
    const bytes = new Uint8Array(this.bytes.length + more.length);
    bytes.set(this.bytes);
    bytes.set(more, this.bytes.length);
    this.bytes = bytes;
    if (bytes.length >= 8 && String.fromCharCode(...bytes.subarray(0, 8)) !== 'tumble1\n') throw new Error('This is not a recording.');
    while (!this.complete && this.parsed + 9 <= bytes.length) {
      const at = this.parsed;
      const view = new DataView(bytes.buffer, at, 9);
      const record = { at: at + 9, raw: view.getUint32(1, true), packed: view.getUint32(5, true) };
      if (record.at + record.packed > bytes.length) break;
      this.parsed = record.at + record.packed;
      this.read(String.fromCharCode(view.getUint8(0)), record);
    }
    this.times = Float64Array.from(this.columns[0]);
    this.series = Object.fromEntries(COLUMNS.map((name, i) => [name, Float64Array.from(this.columns[i])]));
    this.work = (this.header?.work ?? []).map((name, i) => ({ name, values: Float64Array.from(this.columns[COLUMNS.length + i] ?? []) }));
  }

  read(tag, record) {
    if (tag === 'H') this.header = this.json(record);
    else if (tag === 'B') this.addTables(this.json(record));
    else if (tag === 'S') this.pending = record; // frames count once their motion is there
    else if (tag === 'F') {
      this.addSums(this.pending);
      Object.assign(this.chunks.at(-1), { record, bodies: this.bodies.length });
    } else if (tag === 'J') this.chunks.at(-1).loads = record;
    else if (tag === 'E') {
      this.marks = this.json(record).marks ?? [];
      this.complete = true;
    }
  }

  unpack({ at, raw, packed }) {
    return unzlibSync(this.bytes.subarray(at, at + packed), { out: new Uint8Array(raw) });
  }

  json(record) {
    return JSON.parse(new TextDecoder().decode(this.unpack(record)));
  }

  addTables({ shapes = [], bodies = [], joints = [] }) {
    this.shapes.push(...shapes);
    this.bodies.push(...bodies);
    this.joints.push(...joints);
  }

  addSums(record) {
    const raw = this.unpack(record);
    const view = new DataView(raw.buffer, raw.byteOffset);
    const count = view.getUint32(0, true);
    for (let c = 0, at = 4; c < COLUMNS.length + this.header.work.length; c++) {
      this.columns[c] ??= [];
      for (let i = 0; i < count; i++, at += 8) this.columns[c].push(view.getFloat64(at, true));
    }
    this.chunks.push({ first: this.length, count });
    this.length += count;
  }

  /** Frame nearest to a time. */
  nearest(time) {
    let [low, high] = [0, this.length - 1];
    while (high - low > 1) {
      const mid = (low + high) >> 1;
      if (this.times[mid] <= time) low = mid;
      else high = mid;
    }
    return time - this.times[low] < this.times[high] - time ? low : high;
  }

  /** The decoded piece with a frame, and the frame's place in it. */
  locate(frame) {
    let k = Math.min(this.chunks.length - 1, Math.floor(frame / this.chunks[0].count));
    while (this.chunks[k].first > frame) k--;
    while (this.chunks[k].first + this.chunks[k].count <= frame) k++;
    const index = frame - this.chunks[k].first;
    return { piece: this.piece(k).upTo(index), index };
  }

  piece(k) {
    let piece = this.cache.get(k);
    if (piece) this.cache.delete(k); // and again to the young end below
    else {
      const spare = this.cache.size >= CACHED ? this.cache.entries().next().value : null;
      if (spare) this.cache.delete(spare[0]);
      piece = new Piece(this.unpack(this.chunks[k].record), this.chunks[k], this.times, this.header, spare?.[1].states);
    }
    piece.number = k;
    this.cache.set(k, piece);
    return piece;
  }

  /** State of a body in a frame: a view of 13 numbers, or null if it is not there. */
  state(frame, body) {
    const { piece, index } = this.locate(frame);
    if (body >= piece.stride || !piece.present[index * piece.stride + body]) return null;
    const at = (index * piece.stride + body) * STATE;
    return piece.states.subarray(at, at + STATE);
  }

  /** Contacts of a frame, CONTACT numbers each. */
  contacts(frame) {
    const { piece, index } = this.locate(frame);
    return piece.contacts[index];
  }

  /** What a joint does in a frame: `acts`, `broken`, `atLimits`, `force`, `torque`; null if it is not there. */
  jointState(frame, joint) {
    const { piece, index } = this.locate(frame);
    const { loads } = this.chunks[piece.number];
    if (loads) piece.loads ??= readLoads(this.unpack(loads), this.header.steps);
    return piece.loads?.[index][joint] ?? null;
  }

  /** Pairs of the broad phase, two bodies each. */
  pairs(frame) {
    const { piece, index } = this.locate(frame);
    return piece.pairs[index];
  }

  /** Box of a body in a frame: lower and upper corner, or null. */
  box(frame, body) {
    const { piece, index } = this.locate(frame);
    const at = index * piece.stride + body;
    if (!piece.boxes || body >= piece.stride || !(piece.present[at] & BOXED)) return null;
    return piece.boxes.subarray(at * 6, at * 6 + 6);
  }
}

/** Some frames that need no others; decoded from the first as far as is asked for. */
class Piece {
  /** `spare` is the memory of a piece that is no longer needed. */
  constructor(raw, { first, count }, times, header, spare) {
    const view = new DataView(raw.buffer, raw.byteOffset);
    Object.assign(this, { raw, first, times, header, done: 0, contacts: [], pairs: [], touches: [] });
    this.counts = Array.from({ length: count }, (_, i) => view.getUint32(4 + 4 * i, true));
    this.position = new Int32Array(PLANES + 1);
    let end = 4 + 4 * count + 4 * PLANES;
    for (let k = 0; k < PLANES; k++) {
      this.position[k] = end;
      end += view.getUint32(4 + 4 * count + 4 * k, true);
    }
    this.stride = this.counts.reduce((a, b) => Math.max(a, b), 0);
    const boxed = this.position[BOX + 1] > this.position[BOX];
    this.present = new Uint8Array(count * this.stride);
    const size = count * this.stride * STATE;
    this.states = spare?.length === size ? spare : new Float64Array(size);
    this.boxes = boxed ? new Float64Array(count * this.stride * 6) : null;
    this.boxNumbers = new Float64Array(boxed ? this.stride * 6 : 0);
    this.before = new Float64Array(this.stride * 6); // velocity and spin two frames ago
    this.residuals = new Float64Array(this.stride * 12);
    this.moving = new Int32Array(this.stride);
  }

  upTo(index) {
    for (; this.done <= index; this.done++) {
      this.readBodies(this.done);
      this.contacts.push(this.readContacts(this.done));
      this.pairs.push(Uint32Array.from(this.bodyPairs(PAIR).flat()));
    }
    return this;
  }

  unsigned(k) {
    const { raw, position } = this;
    let byte = raw[position[k]++];
    let value = byte & 127;
    for (let scale = 128; byte > 127; scale *= 128) {
      byte = raw[position[k]++];
      value += (byte & 127) * scale;
    }
    return value;
  }

  signed(k) {
    const { raw, position } = this;
    const byte = raw[position[k]];
    if (byte < 128) {
      position[k]++;
      return byte & 1 ? -(byte + 1) >> 1 : byte >> 1;
    }
    const z = this.unsigned(k);
    return z % 2 ? -(z + 1) / 2 : z / 2;
  }

  bodyPairs(k) {
    const pairs = [];
    let last = 0;
    for (let left = this.unsigned(k); left > 0; left--) {
      last += this.unsigned(k + 1);
      pairs.push([last, last + this.signed(k + 2)]);
    }
    return pairs;
  }

  /** Modes of a frame, and the bodies that have residuals. */
  readModes(f) {
    const { raw, position, stride, counts, present, moving, boxes, boxNumbers } = this;
    let count = 0;
    for (let b = 0; b < counts[f]; b++) {
      const mode = raw[position[MODE]++];
      present[f * stride + b] = mode;
      if (mode & PRESENT && !(mode & STILL)) moving[count++] = b;
      if (!mode && boxes) boxNumbers.fill(0, b * 6, b * 6 + 6);
    }
    return count;
  }

  /** Residuals of the moving bodies, plane by plane: this loop is where the time goes. */
  readResiduals(count) {
    const { raw, position, moving, residuals } = this;
    for (let k = 0; k < 12; k++) {
      let at = position[MOTION + k];
      for (let i = 0; i < count; i++) {
        const byte = raw[at];
        if (byte < 128) {
          at++;
          residuals[moving[i] * 12 + k] = byte & 1 ? -((byte + 1) >> 1) : byte >> 1;
        } else {
          position[MOTION + k] = at;
          residuals[moving[i] * 12 + k] = this.signed(MOTION + k);
          at = position[MOTION + k];
        }
      }
      position[MOTION + k] = at;
    }
  }

  readBodies(f) {
    const { stride, counts, present, states, before, residuals, times, first } = this;
    const { steps, gravity } = this.header;
    const frameStep = f ? times[first + f] - times[first + f - 1] : 0;
    this.readResiduals(this.readModes(f));
    for (let b = 0; b < counts[f]; b++) {
      const slot = f * stride + b;
      const mode = present[slot];
      if (!mode) continue;
      const s = slot * STATE;
      const o = s - stride * STATE;
      const r = b * 12;
      const was = f > 0 && b < counts[f - 1] && present[slot - stride] & PRESENT;
      if (mode & STILL) {
        for (let k = 0; k < STATE; k++) states[s + k] = states[o + k];
      } else {
        const dt = was ? frameStep : 0;
        const how = (mode >> 2) & 3;
        const spinHow = (mode >> 4) & 3;
        for (let k = 0; k < 3; k++) {
          const v = was ? states[o + 7 + k] : 0;
          const w = was ? states[o + 10 + k] : 0;
          const nextV = (how === 1 ? v + gravity[k] * dt : how === 2 ? 2 * v - before[b * 6 + k] : v) + residuals[r + k] * steps.velocity;
          states[s + k] = (was ? states[o + k] : 0) + dt * 0.5 * (v + nextV) + residuals[r + 6 + k] * steps.position;
          states[s + 7 + k] = nextV;
          states[s + 10 + k] = (spinHow === 2 ? 2 * w - before[b * 6 + 3 + k] : w) + residuals[r + 3 + k] * steps.spin;
        }
        this.turn(was, o, s, 0.5 * dt, r + 9, steps.rotation / 4);
      }
      for (let k = 0; k < 6; k++) before[b * 6 + k] = was ? states[o + 7 + k] : 0;
      if (mode & BOXED) this.readBox(b, slot, steps.position);
    }
  }

  readBox(b, slot, step) {
    for (let k = 0; k < 6; k++) {
      this.boxNumbers[b * 6 + k] += this.signed(BOX + k);
      this.boxes[slot * 6 + k] = this.states[slot * STATE + (k % 3)] + this.boxNumbers[b * 6 + k] * step;
    }
  }

  /** q = rot(step r) rot(p) q₁ with p from the mean spin. */
  turn(was, o, s, half, r, step) {
    const { states: q, residuals } = this;
    if (was) {
      const x = half * (q[o + 10] + q[s + 10]);
      const y = half * (q[o + 11] + q[s + 11]);
      const z = half * (q[o + 12] + q[s + 12]);
      const scale = 0.25 * (1 + (x * x + y * y + z * z) / 48);
      multiply(x * scale, y * scale, z * scale, q[o + 3], q[o + 4], q[o + 5], q[o + 6], q, s + 3);
    } else {
      q[s + 3] = q[s + 4] = q[s + 5] = 0;
      q[s + 6] = 1;
    }
    const r0 = residuals[r];
    const r1 = residuals[r + 1];
    const r2 = residuals[r + 2];
    if (r0 !== 0 || r1 !== 0 || r2 !== 0) multiply(r0 * step, r1 * step, r2 * step, q[s + 3], q[s + 4], q[s + 5], q[s + 6], q, s + 3);
  }

  /** The k-th contact of a pair continues its k-th contact in the frame before. */
  readContacts(f) {
    const { steps } = this.header;
    const old = this.touches;
    const out = [];
    let at = 0;
    this.touches = this.bodyPairs(TOUCH).map(([a, b]) => {
      while (at < old.length && (old[at].a < a || (old[at].a === a && old[at].b < b))) at++;
      const same = at < old.length && old[at].a === a && old[at].b === b;
      const numbers = same ? old[at++].numbers.slice() : [0, 0, 0, 0, 0, 0, 0, 0, 0];
      for (let k = 0; k < 9; k++) numbers[k] += this.signed(TOUCH + 3 + k);
      const s = (f * this.stride + a) * STATE;
      const length = Math.hypot(numbers[3], numbers[4], numbers[5]) || 1;
      out.push(a, b);
      for (let k = 0; k < 3; k++) out.push(this.states[s + k] + numbers[k] * steps.position);
      for (let k = 3; k < 6; k++) out.push(numbers[k] / length);
      for (let k = 6; k < 9; k++) out.push(numbers[k] * steps.impulse);
      return { a, b, numbers };
    });
    return Float64Array.from(out);
  }
}

/** Joints of a piece, frame by frame. */
function readLoads(raw, { force = 1e-3, torque = 1e-4 }) {
  const view = new DataView(raw.buffer, raw.byteOffset);
  const count = view.getUint32(0, true);
  const counts = Array.from({ length: count }, (_, i) => view.getUint32(4 + 4 * i, true));
  const reader = Object.create(Piece.prototype);
  Object.assign(reader, { raw, position: [] });
  let end = 4 + 4 * count + 4 * LOADS;
  for (let k = 0; k < LOADS; k++) {
    reader.position.push(end);
    end += view.getUint32(4 + 4 * count + 4 * k, true);
  }
  let before = [];
  return counts.map((joints) => {
    before = Array.from({ length: joints }, (_, j) => {
      const mode = raw[reader.position[0]++];
      if (!mode) return null;
      const atLimits = reader.unsigned(1);
      const numbers = Array.from({ length: 6 }, (_, k) => (before[j]?.numbers[k] ?? 0) + reader.signed(2 + k));
      const scaled = (from, step) => numbers.slice(from, from + 3).map((n) => n * step);
      return { acts: !!(mode & 2), broken: !!(mode & 4), atLimits, numbers, force: scaled(0, force), torque: scaled(3, torque) };
    });
    return before;
  });
}

/** out = rot(p) q, where rot(p) = (2p, 1 − p²) / (1 + p²). */
function multiply(px, py, pz, qx, qy, qz, qw, out, at) {
  const squared = px * px + py * py + pz * pz;
  const k = 2 / (1 + squared);
  const ax = k * px;
  const ay = k * py;
  const az = k * pz;
  const aw = (1 - squared) / (1 + squared);
  out[at] = aw * qx + ax * qw + ay * qz - az * qy;
  out[at + 1] = aw * qy - ax * qz + ay * qw + az * qx;
  out[at + 2] = aw * qz + ax * qy - ay * qx + az * qw;
  out[at + 3] = aw * qw - ax * qx - ay * qy - az * qz;
}
