// Puts the page together.

import './style.css';
import * as THREE from 'three';
import { Recording } from './recording.js';
import { Stage } from './stage.js';
import { LAYERS, Overlays } from './overlays.js';
import { Plots, number } from './plots.js';
import { Player } from './player.js';
import { Inspector } from './inspector.js';
import { bindKeys, HELP } from './keys.js';

const $ = (id) => document.getElementById(id);

/** The recording in the page, from base64; a page without one says so. */
function embedded() {
  const text = $('recording').textContent.trim();
  if (!text || text.startsWith('@')) throw new Error('This page has no recording in it.');
  $('recording').remove();
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
  const bytes = new Uint8Array((text.length / 4) * 3 - (text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0));
  const piece = 4 * 65536;
  for (let at = 0, to = 0; at < text.length; at += piece) {
    const letters = atob(text.slice(at, at + piece));
    for (let i = 0; i < letters.length; i++) bytes[to++] = letters.charCodeAt(i);
  }
  return bytes;
}

class Page {
  constructor(recording) {
    this.recording = recording;
    const wish = new URLSearchParams(location.hash.slice(1));
    this.stage = new Stage($('view'), $('flat'), recording, wish.has('quality') ? Number(wish.get('quality')) : undefined);
    this.overlays = new Overlays(this.stage, recording);
    this.player = new Player(recording, () => this.show());
    this.plots = new Plots($('plots'), recording, (frame) => this.scrub(frame));
    this.inspector = new Inspector($('inspector'), recording);
    document.title = `${recording.header.title || 'Recording'} – Tumblestone`;
    $('title').textContent = recording.header.title || 'Recording';
    this.bindTransport();
    this.bindLayers();
    this.bindPanels();
    this.bindPicking();
    bindKeys(this);
    const dark = matchMedia('(prefers-color-scheme: dark)');
    this.setTheme(wish.get('theme') ?? (dark.matches ? 'dark' : 'light'));
    dark.addEventListener('change', () => this.setTheme(dark.matches ? 'dark' : 'light'));
    for (const id of (wish.get('layers') ?? '').split(',')) if (LAYERS.some((l) => l.id === id)) this.toggleLayer(id, true);
    const roomy = innerWidth > 760;
    this.togglePanel('plots-panel', wish.has('plots') ? wish.get('plots') === '1' : roomy);
    new ResizeObserver(() => this.resize()).observe($('view'));
    this.resize();
    this.stage.resetCamera();
    this.player.seek(wish.has('t') ? recording.nearest(Number(wish.get('t'))) : 0);
    if (wish.has('select')) this.select(recording.bodies.findIndex((b) => b.name === wish.get('select')));
    if (wish.get('play') !== '0' && !wish.has('t')) this.player.toggle();
    const loop = (now) => {
      requestAnimationFrame(loop);
      this.player.tick(now / 1000);
      if (this.stage.render(this.overlays)) this.drawn++;
    };
    this.drawn = 0;
    requestAnimationFrame(loop);
  }

  resize() {
    const wide = innerWidth > 760;
    this.stage.covered = { right: wide && !$('plots-panel').hidden ? 304 : 0, bottom: wide ? 90 : 110 };
    this.stage.resize();
    this.plots.redraw();
    this.show();
  }

  /** Brings everything to the player's frame. */
  show() {
    const { player, recording } = this;
    const { frame } = player;
    this.stage.show(frame, player.playing ? player.blend : 0);
    this.overlays.update(frame);
    this.inspector.show(this.stage.selected, frame);
    this.plots.cursor(frame);
    $('scrub').value = frame;
    $('scrub').style.setProperty('--done', `${(100 * frame) / Math.max(player.last, 1)}%`);
    $('time').textContent = `${player.time.toFixed(2)} s`;
    $('frame').textContent = `frame ${frame} of ${player.last}`;
    const contacts = recording.series.contacts[frame];
    $('facts').textContent = [
      `${recording.bodies.length} bodies`,
      contacts ? `${contacts} contact${contacts > 1 ? 's' : ''}` : '',
      recording.series.events[frame] ? `${number(recording.series.events[frame])} events` : '',
    ].filter(Boolean).join(' · ');
    $('play').setAttribute('aria-pressed', player.playing);
    $('play').title = player.playing ? 'Pause (space)' : 'Play (space)';
    $('reverse').setAttribute('aria-pressed', player.backwards);
    $('speed').textContent = `${player.speed}×`;
  }

  scrub(frame) {
    this.player.playing = false;
    this.player.seek(frame);
  }

  /** More frames came. */
  grow() {
    const { recording } = this;
    $('scrub').max = this.player.last;
    if (this.stage.grow()) this.stage.setTheme(this.theme);
    this.overlays.look();
    for (const layer of LAYERS) this.offer(layer);
    $('plots').replaceChildren();
    this.plots = new Plots($('plots'), recording, (frame) => this.scrub(frame));
    this.plots.redraw();
    this.show();
  }

  bindTransport() {
    const { player, recording } = this;
    $('scrub').max = player.last;
    $('scrub').addEventListener('input', () => this.scrub(Number($('scrub').value)));
    const span = recording.times.at(-1) - recording.times[0] || 1;
    for (const mark of recording.marks) {
      const button = document.createElement('button');
      button.title = `${mark.name} (${mark.time.toFixed(2)} s)`;
      button.setAttribute('aria-label', button.title);
      button.style.left = `${(100 * (mark.time - recording.times[0])) / span}%`;
      button.addEventListener('click', () => this.scrub(recording.nearest(mark.time)));
      $('marks').append(button);
    }
    const click = (id, act) => $(id).addEventListener('click', act);
    click('play', () => player.toggle());
    click('back', () => player.step(-1));
    click('forward', () => player.step(1));
    click('start', () => this.scrub(0));
    click('reverse', () => player.reverse());
    click('slower', () => player.faster(-1));
    click('faster', () => player.faster(1));
    click('speed', () => player.faster(4 - [0.05, 0.1, 0.25, 0.5, 1].indexOf(player.speed)));
  }

  bindLayers() {
    LAYERS.forEach((layer, i) => {
      const label = document.createElement('label');
      label.innerHTML = `<input type="checkbox"><span><b></b><small></small></span><kbd>${i + 1}</kbd>`;
      label.querySelector('b').textContent = layer.name;
      const box = label.querySelector('input');
      Object.assign(box, { id: `layer-${layer.id}`, checked: this.overlays.on.has(layer.id) });
      box.addEventListener('change', () => this.toggleLayer(layer.id, box.checked));
      $('layers').append(label);
      this.offer(layer);
    });
  }

  /** A layer can be switched on if the recording has something for it. */
  offer(layer) {
    const there = this.overlays.available(layer.id);
    const box = $(`layer-${layer.id}`);
    box.disabled = !there;
    box.parentElement.querySelector('small').textContent = there ? layer.about : 'not in this recording';
  }

  toggleLayer(id, on) {
    this.overlays.toggle(id, on);
    $(`layer-${id}`).checked = this.overlays.on.has(id);
    this.overlays.update(this.player.frame);
  }

  bindPanels() {
    for (const name of ['layers-panel', 'plots-panel', 'help-panel']) {
      document.querySelector(`[data-panel=${name}]`).addEventListener('click', () => this.togglePanel(name));
    }
    $('theme').addEventListener('click', () => this.setTheme(this.theme === 'dark' ? 'light' : 'dark'));
    $('home').addEventListener('click', () => this.home());
    $('follow').addEventListener('click', () => this.follow());
    $('close').addEventListener('click', () => this.select(-1));
    $('keys').replaceChildren(...HELP.map(([keys, what]) => {
      const row = document.createElement('div');
      row.innerHTML = `<span>${keys.split(' ').map((k) => `<kbd>${k}</kbd>`).join(' ')}</span><span>${what}</span>`;
      return row;
    }));
  }

  togglePanel(name, open = $(name).hidden) {
    for (const other of ['layers-panel', 'plots-panel', 'help-panel']) {
      const show = other === name ? open : false;
      $(other).hidden = !show;
      document.querySelector(`[data-panel=${other}]`).setAttribute('aria-pressed', show);
    }
    this.resize();
  }

  bindPicking() {
    const canvas = $('view');
    let down = null;
    canvas.addEventListener('pointerdown', (e) => (down = [e.clientX, e.clientY]));
    canvas.addEventListener('pointerup', (e) => {
      if (down && e.button === 0 && Math.hypot(e.clientX - down[0], e.clientY - down[1]) < 5) this.select(this.stage.pick(e.clientX, e.clientY));
      down = null;
    });
  }

  select(body) {
    this.stage.select(body);
    if (body < 0) this.follow(false);
    this.show();
  }

  follow(on = !this.stage.following) {
    this.stage.following = on && this.stage.selected >= 0;
    $('follow').setAttribute('aria-pressed', this.stage.following);
    this.show();
  }

  home() {
    this.follow(false);
    this.stage.resetCamera();
  }

  setTheme(name) {
    this.theme = name;
    document.documentElement.dataset.theme = name;
    this.stage.setTheme(name);
    this.plots.redraw();
    if (this.player.recording.length) this.show();
  }
}

/** For tests and for people at the console: what is drawn, read back from the picture's own data. */
function hook(page) {
  const { stage, recording, player } = page;
  return {
    page,
    frames: recording.length,
    seek: (frame) => page.scrub(frame),
    frame: () => player.frame,
    pose(body) {
      const matrix = stage.matrixOf(body);
      if (!matrix) return null;
      const [p, q, s] = [new THREE.Vector3(), new THREE.Quaternion(), new THREE.Vector3()];
      matrix.decompose(p, q, s);
      return [...p.toArray(), ...q.toArray()];
    },
    screen(body) {
      const at = new THREE.Vector3().setFromMatrixPosition(stage.matrixOf(body)).project(stage.camera);
      const area = stage.canvas.getBoundingClientRect();
      return [area.left + ((at.x + 1) / 2) * area.width, area.top + ((1 - at.y) / 2) * area.height];
    },
    selected: () => stage.selected,
    counts: () => page.overlays.counts,
    drawn: () => page.drawn,
  };
}

/** Starts with what is there, once it has a frame. */
function begin(recording) {
  window.tumblestone = hook(new Page(recording));
  $('loading').remove();
  return window.tumblestone.page;
}

/** From `sim view`: the recording comes in pieces while the run goes on. */
async function live() {
  const recording = new Recording(new Uint8Array(0));
  let page = null;
  for (let received = 0; ; ) {
    const answer = await fetch(`/recording?from=${received}`);
    if (!answer.ok) throw new Error(await answer.text());
    const progress = JSON.parse(answer.headers.get('X-Progress'));
    const bytes = new Uint8Array(await answer.arrayBuffer());
    received += bytes.length;
    const before = recording.length;
    recording.append(bytes);
    // A run that failed has no end in its recording; what is there can be looked at.
    if (progress.failed !== null) recording.complete = true;
    if (!page && recording.length) page = begin(recording);
    else if (page && (recording.length > before || recording.complete)) page.grow();
    showProgress(progress);
    if (progress.ended && !recording.length) throw new Error(progress.failed ?? 'This run has no frames.');
    if (progress.ended && recording.complete) return;
    await new Promise((done) => setTimeout(done, 250));
  }
}

function showProgress({ time, until, ended, failed }) {
  $('live').hidden = ended && failed === null;
  $('live').classList.toggle('failed', failed !== null);
  $('live').style.setProperty('--done', `${until > 0 ? (100 * time) / until : 0}%`);
  $('live').textContent = failed ?? `simulating: ${time.toFixed(2)} of ${Number(until.toPrecision(6))} s`;
}

async function start() {
  if ($('recording').textContent.trim() === '@LIVE@') {
    await live();
    return;
  }
  const recording = new Recording(embedded());
  if (!recording.complete) throw new Error('The recording is truncated.');
  if (!recording.length) throw new Error('This recording has no frames.');
  begin(recording);
}

start().catch((error) => {
  if ($('loading')) {
    $('loading').textContent = error.message;
    $('loading').classList.add('failed');
  } else {
    // `sim view` was ended while the page was open.
    $('live').hidden = false;
    $('live').classList.add('failed');
    $('live').textContent = `no longer connected: ${error.message}`;
    window.tumblestone.page.recording.complete = true;
    return;
  }
  throw error;
});
