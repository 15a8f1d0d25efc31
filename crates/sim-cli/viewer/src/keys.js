// Keyboard shortcuts.

import { LAYERS } from './overlays.js';

export const HELP = [
  ['Space', 'play and pause'],
  ['← →', 'one frame; with Shift one second'],
  ['Home End', 'first and last frame'],
  ['R', 'play backwards'],
  ['[ ]', 'slower, faster'],
  [`1 – ${LAYERS.length}`, 'layers'],
  ['F', 'follow the selected body'],
  ['C', 'camera to where it began'],
  ['L P', 'layers, plots'],
  ['T', 'light and dark'],
  ['Esc', 'select nothing'],
  ['?', 'this list'],
];

export function bindKeys(page) {
  const { player } = page;
  const second = Math.round(page.recording.header.frame_rate);
  const act = {
    ' ': () => player.toggle(),
    ArrowLeft: (e) => player.step(e.shiftKey ? -second : -1),
    ArrowRight: (e) => player.step(e.shiftKey ? second : 1),
    Home: () => page.scrub(0),
    End: () => page.scrub(player.last),
    r: () => player.reverse(),
    '[': () => player.faster(-1),
    ']': () => player.faster(1),
    f: () => page.follow(),
    c: () => page.home(),
    l: () => page.togglePanel('layers-panel'),
    p: () => page.togglePanel('plots-panel'),
    t: () => page.setTheme(page.theme === 'dark' ? 'light' : 'dark'),
    '?': () => page.togglePanel('help-panel'),
    Escape: () => page.select(-1),
  };
  LAYERS.forEach((layer, i) => (act[i + 1] = () => page.toggleLayer(layer.id)));
  addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const action = act[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (!action) return;
    event.preventDefault();
    action(event);
  });
}
