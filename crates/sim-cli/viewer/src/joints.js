// Joints as lines: anchors, axes, limits, ropes, springs, curves, and what they bear.
// Pictures without a browser draw the same lines (src/still/joints.rs).

import * as THREE from 'three';
import { stateMatrix } from './stage.js';

export const TONES = { joint: '#3454d1', limit: '#e09f1f', alarm: '#d7263d', idle: '#8a93a0', reaction: '#8e24aa' };

const LIMITS = ['low', 'high'];

/** Calls `line(points, tone)` for every line of a joint in a frame; false if it is not there. */
export function jointLines(recording, frame, index, size, line) {
  const joint = recording.joints[index];
  const load = recording.jointState(frame, index);
  const places = load && anchorPlaces(recording, frame, joint);
  if (!places) return false;
  const tone = load.acts ? 'joint' : load.broken ? 'alarm' : 'idle';
  const draw = (points, other = tone) => points.length > 1 && line(points, other);
  for (const { at } of places) cross(at, 0.07 * size, draw);
  // What broke holds no more: its ends are all there is of it.
  if (load.broken) return true;
  const points = places.map((place) => place.at);
  if (joint.line === 'bar' || joint.line === 'rope') draw(points);
  if (joint.line === 'coil') draw(coil(points[0], points[1], 0.12 * size));
  if (joint.path) draw(joint.path.map((p) => new THREE.Vector3(...p).applyQuaternion(places[0].turn).add(places[0].at)));
  joint.axes?.forEach((axis, k) => axisLines(axis, places, load.atLimits >> (2 * k), tone, size, draw));
  return true;
}

/** Where the second anchor is, and the force on its body there; null if it is not there or bears nothing. */
export function reaction(recording, frame, index) {
  const load = recording.jointState(frame, index);
  const joint = recording.joints[index];
  const places = load && !load.broken && anchorPlaces(recording, frame, joint);
  return places ? { at: places[1].at, force: load.force } : null;
}

/** World pose of each anchor, or null if a body is not there. */
function anchorPlaces(recording, frame, joint) {
  const places = [];
  for (const { body, frame: local } of joint.anchors) {
    const own = new THREE.Matrix4().compose(new THREE.Vector3(...local.translation), new THREE.Quaternion(...local.rotation), new THREE.Vector3(1, 1, 1));
    if (body !== undefined) {
      const state = recording.state(frame, body);
      if (!state) return null;
      own.premultiply(stateMatrix(state));
    }
    places.push({ at: new THREE.Vector3().setFromMatrixPosition(own), turn: new THREE.Quaternion().setFromRotationMatrix(own) });
  }
  return places;
}

function axisLines(axis, places, atLimits, tone, size, draw) {
  const { at: middle, turn } = places[axis.anchor];
  const direction = new THREE.Vector3(...axis.direction);
  const zeroLocal = across(direction);
  const along = direction.clone().applyQuaternion(turn);
  const zero = zeroLocal.clone().applyQuaternion(turn);
  const side = along.clone().cross(zero);
  const point = (...terms) => terms.reduce((sum, [vector, by]) => sum.addScaledVector(vector, by * size), middle.clone());
  const limitTone = (k) => (atLimits & (1 << k) ? 'alarm' : 'limit');
  const limits = LIMITS.map((name, k) => ({ value: axis[name], tone: limitTone(k) })).filter(({ value }) => value !== undefined);
  const round = (from, span, of) => Array.from({ length: 33 }, (_, k) => of(from + (span * k) / 32));
  if (axis.motion === 'turn') {
    draw([point([along, -0.55]), point([along, 0.55])]);
    const at = (angle, radius) => point([zero, radius * Math.cos(angle)], [side, radius * Math.sin(angle)]);
    if (limits.length === 2) draw(round(axis.low, Math.min(axis.high - axis.low, 2 * Math.PI), (angle) => at(angle, 0.45)), 'limit');
    if (limits.length && axis.anchor === 0 && places[1]) {
      const hand = zeroLocal.clone().applyQuaternion(places[1].turn);
      draw([middle, point([hand.addScaledVector(along, -hand.dot(along)).normalize(), 0.45])]);
    }
    for (const { value, tone: own } of limits) draw([at(value, 0.15), at(value, 0.5)], own);
  } else if (axis.motion === 'shift') {
    const low = axis.low ?? -0.55 * size;
    const high = axis.high ?? 0.55 * size;
    draw([point([along, low / size]), point([along, high / size])]);
    for (const { value, tone: own } of limits) draw([point([along, value / size], [zero, -0.15]), point([along, value / size], [zero, 0.15])], own);
  } else if (axis.high !== undefined) {
    const [s, c] = [Math.sin(axis.high), Math.cos(axis.high)];
    draw(round(0, 2 * Math.PI, (angle) => point([along, 0.5 * c], [zero, 0.5 * s * Math.cos(angle)], [side, 0.5 * s * Math.sin(angle)])), limitTone(1));
    if (places[1]) draw([middle, point([direction.clone().applyQuaternion(places[1].turn), 0.5])]);
  }
}

/** The unit vector in which an angle about an axis is zero: the next of x, y and z. */
function across(direction) {
  const next = new THREE.Vector3(direction.z, direction.x, direction.y);
  next.addScaledVector(direction, -next.dot(direction));
  if (next.length() < 1e-9) next.set(1, 0, 0).cross(direction);
  return next.normalize();
}

function cross(at, size, draw) {
  for (const axis of [[1, 0, 0], [0, 1, 0], [0, 0, 1]]) {
    const arm = new THREE.Vector3(...axis).multiplyScalar(size);
    draw([at.clone().sub(arm), at.clone().add(arm)]);
  }
}

function coil(from, to, radius) {
  const along = to.clone().sub(from);
  if (along.length() === 0) return [];
  const u = new THREE.Vector3(Math.abs(along.x) < 0.9 * along.length() ? 1 : 0, 1, 0).cross(along).normalize();
  const v = along.clone().cross(u).normalize();
  return Array.from({ length: 97 }, (_, k) => {
    const share = k / 96;
    const angle = 16 * Math.PI * share;
    // Straight at both ends.
    const wide = radius * Math.min(1, 10 * Math.min(share, 1 - share));
    return from.clone().addScaledVector(along, share).addScaledVector(u, wide * Math.cos(angle)).addScaledVector(v, wide * Math.sin(angle));
  });
}
