// What is known of the selected body at the present frame.

import { CONTACT } from './recording.js';
import { number } from './plots.js';

export class Inspector {
  constructor(element, recording) {
    Object.assign(this, { element, recording });
    this.table = element.querySelector('dl');
    this.title = element.querySelector('h2');
  }

  show(body, frame) {
    this.element.hidden = body < 0;
    if (body < 0) return;
    const { recording } = this;
    const info = recording.bodies[body];
    this.title.textContent = info.name || `body ${body}`;
    const state = recording.state(frame, body);
    const rows = [['kind', info.kind], ['shape', info.colliders.map((c) => recording.shapes[c.shape].type.replace('_', '-')).join(', ') || '–']];
    if (info.mass > 0) rows.push(['mass', `${number(info.mass)} kg`]);
    if (!state) rows.push(['state', 'not there now']);
    else {
      const { angle, axis } = turnOf(state);
      rows.push(
        ['position', `${vector(state, 0)} m`],
        ['turned', angle < 1e-3 ? '0°' : `${number((angle * 180) / Math.PI)}° about ${vector(axis, 0, 2)}`],
        ['velocity', `${vector(state, 7)} m/s`],
        ['speed', `${number(length(state, 7))} m/s`],
        ['spin', `${vector(state, 10)} rad/s`],
      );
      if (info.mass > 0) {
        const energy = energyOf(info, state, recording.header.gravity);
        rows.push(['kinetic', `${number(energy.kinetic)} J`], ['potential', `${number(energy.potential)} J`]);
      }
      rows.push(...this.contactRows(body, frame), ...this.jointRows(body, frame));
    }
    this.table.replaceChildren(...rows.flatMap(([name, value]) => {
      const [dt, dd] = [document.createElement('dt'), document.createElement('dd')];
      dt.textContent = name;
      dd.textContent = value;
      return [dt, dd];
    }));
  }

  jointRows(body, frame) {
    const { recording } = this;
    const rows = [];
    recording.joints.forEach((joint, j) => {
      const load = recording.jointState(frame, j);
      if (!load || !joint.anchors.some((anchor) => anchor.body === body)) return;
      const state = load.broken ? 'broken' : !load.acts ? 'off' : `${number(length(load.force, 0))} N, ${number(length(load.torque, 0))} N m`;
      rows.push([rows.length ? '' : 'joints', `${joint.name}: ${state}${load.atLimits ? ', at a limit' : ''}`]);
    });
    return rows.length > 6 ? [...rows.slice(0, 6), ['', `and ${rows.length - 6} more`]] : rows;
  }

  contactRows(body, frame) {
    const contacts = this.recording.contacts(frame);
    const sums = new Map();
    for (let c = 0; c < contacts.length; c += CONTACT) {
      const [a, b] = [contacts[c], contacts[c + 1]];
      if (a !== body && b !== body) continue;
      const other = a === body ? b : a;
      const old = sums.get(other) ?? { count: 0, impulse: 0 };
      sums.set(other, { count: old.count + 1, impulse: old.impulse + length(contacts, c + 8) });
    }
    const rows = [...sums].slice(0, 6).map(([other, { count, impulse }], i) => {
      const name = this.recording.bodies[other].name || `body ${other}`;
      return [i ? '' : 'touches', `${name}: ${count} point${count > 1 ? 's' : ''}, ${number(impulse)} N s`];
    });
    if (sums.size > 6) rows.push(['', `and ${sums.size - 6} more`]);
    return rows.length ? rows : [['touches', 'nothing']];
  }
}

function length(values, at) {
  return Math.hypot(values[at], values[at + 1], values[at + 2]);
}

function vector(values, at, digits = 3) {
  const text = (v) => (Math.abs(v) < 0.5 * 10 ** -digits ? 0 : v).toFixed(digits).replace('-', '\u2212');
  return `(${text(values[at])}, ${text(values[at + 1])}, ${text(values[at + 2])})`;
}

function turnOf(s) {
  const sign = s[6] < 0 ? -1 : 1;
  const sine = length(s, 3);
  const angle = 2 * Math.atan2(sine, sign * s[6]);
  return { angle, axis: [3, 4, 5].map((k) => (sine > 0 ? (sign * s[k]) / sine : 0)) };
}

/** ½ m v² + ½ ω·Iω with ω in body axes, and −m g·x. */
export function energyOf(info, s, gravity) {
  const [x, y, z, w] = [-s[3], -s[4], -s[5], s[6]];
  const [a, b, c] = [s[10], s[11], s[12]];
  const [tx, ty, tz] = [2 * (y * c - z * b), 2 * (z * a - x * c), 2 * (x * b - y * a)];
  const o = [a + w * tx + y * tz - z * ty, b + w * ty + z * tx - x * tz, c + w * tz + x * ty - y * tx];
  const [xx, yy, zz, xy, xz, yz] = info.inertia;
  const turning = xx * o[0] ** 2 + yy * o[1] ** 2 + zz * o[2] ** 2 + 2 * (xy * o[0] * o[1] + xz * o[0] * o[2] + yz * o[1] * o[2]);
  const kinetic = 0.5 * (info.mass * length(s, 7) ** 2 + turning);
  const potential = -info.mass * (gravity[0] * s[0] + gravity[1] * s[1] + gravity[2] * s[2]);
  return { kinetic, potential };
}
