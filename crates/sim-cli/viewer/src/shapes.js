// Shapes of a recording as geometry, true to what collides.

import * as THREE from 'three';
import { mergeVertices } from 'three/addons/utils/BufferGeometryUtils.js';

/** Geometry of a shape in its own frame with so many sides where it is round. Null for a half-space. */
export function geometry(shape, sides) {
  switch (shape.type) {
    case 'sphere':
      return new THREE.SphereGeometry(shape.radius, sides, sides / 2).rotateX(Math.PI / 2);
    case 'cuboid':
      return new THREE.BoxGeometry(...shape.half_extents.map((h) => 2 * h));
    case 'capsule':
      return new THREE.CapsuleGeometry(shape.radius, 2 * shape.half_height, Math.max(2, sides / 4), sides).rotateX(Math.PI / 2);
    case 'cylinder':
      return new THREE.CylinderGeometry(shape.radius, shape.radius, 2 * shape.half_height, sides).rotateX(Math.PI / 2);
    case 'frustum':
      return new THREE.CylinderGeometry(shape.top, shape.bottom, 2 * shape.half_height, sides).rotateX(Math.PI / 2);
    case 'mesh':
      return mesh(shape);
    default:
      return null;
  }
}

/** Flat faces; where neighbours meet at less than 30 degrees the surface is shaded smooth. */
function mesh({ vertices, faces }) {
  const positions = [];
  for (const face of faces) {
    for (let k = 1; k + 1 < face.length; k++) {
      for (const corner of [face[0], face[k], face[k + 1]]) positions.push(...vertices[corner]);
    }
  }
  let flat = new THREE.BufferGeometry();
  flat.setAttribute('position', new THREE.Float32BufferAttribute(positions, 3));
  flat.computeVertexNormals();
  const smooth = mergeVertices(flat.clone().deleteAttribute('normal'), 1e-7);
  smooth.computeVertexNormals();
  const [fine, coarse, index] = [flat.attributes.normal, smooth.attributes.normal, smooth.index];
  const [a, b] = [new THREE.Vector3(), new THREE.Vector3()];
  for (let i = 0; i < fine.count; i++) {
    a.fromBufferAttribute(fine, i);
    b.fromBufferAttribute(coarse, index.getX(i));
    if (a.dot(b) > Math.cos(Math.PI / 12)) fine.setXYZ(i, b.x, b.y, b.z);
  }
  return flat;
}

/** Distance from the body frame within which a shape lies; 0 for a half-space. */
export function reach(shape) {
  switch (shape.type) {
    case 'sphere': return shape.radius;
    case 'cuboid': return Math.hypot(...shape.half_extents);
    case 'capsule': return shape.radius + shape.half_height;
    case 'cylinder': return Math.hypot(shape.radius, shape.half_height);
    case 'frustum': return Math.hypot(Math.max(shape.top, shape.bottom), shape.half_height);
    case 'mesh': return Math.max(...shape.vertices.map((v) => Math.hypot(...v)));
    default: return 0;
  }
}

/** A calm ramp of hues of equal lightness (OKLCH), evenly spread over the bodies that move. */
export function bodyColors(bodies, dark) {
  const moving = bodies.map((body, i) => (body.kind === 'fixed' ? -1 : i)).filter((i) => i >= 0);
  const rank = new Map(moving.map((i, k) => [i, k]));
  return bodies.map((body, i) => {
    if (body.color) return new THREE.Color(body.color);
    if (!rank.has(i)) return new THREE.Color(dark ? '#59616d' : '#c3c7cd');
    const hue = 250 - (290 * rank.get(i)) / Math.max(moving.length, 1);
    return oklch(dark ? 0.7 : 0.68, 0.125, hue);
  });
}

function oklch(lightness, chroma, degrees) {
  const a = chroma * Math.cos((degrees * Math.PI) / 180);
  const b = chroma * Math.sin((degrees * Math.PI) / 180);
  const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
  const clip = (v) => Math.min(1, Math.max(0, v));
  return new THREE.Color(
    clip(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s),
    clip(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s),
    clip(-0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s),
  );
}
