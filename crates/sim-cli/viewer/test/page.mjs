// Looks at pages in a browser: node test/page.mjs FOLDER SIM, where FOLDER has NAME.html, NAME.glb and NAME.json
// (frames as the Rust reader sees them), all made by `cargo xtask viewer --test` from runs, and SIM is the program.

import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { spawn } from 'node:child_process';
import { resolve } from 'node:path';
import validator from 'gltf-validator';
import { launch, open, ready } from './browser.mjs';

const folder = resolve(process.argv[2]);
const names = readdirSync(folder).filter((f) => f.endsWith('.html')).map((f) => f.slice(0, -5)).sort();
const SIZE = { width: 960, height: 540 };
const problems = [];
const browser = await launch();

async function step(name, work) {
  const start = performance.now();
  await work();
  assert.deepEqual(problems, [], name);
  console.log(`ok  ${name} (${((performance.now() - start) / 1000).toFixed(1)} s)`);
}

const drawn = (page) => page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
const hook = (page, call, ...args) => page.evaluate(([c, a]) => window.tumblestone[c](...a), [call, args]);
const pixelColors = (page, selector) => page.evaluate((s) => {
  const { stage, overlays } = window.tumblestone.page;
  stage.dirty = true;
  stage.render(overlays); // WebGL forgets its picture when it has been shown
  const from = document.querySelector(s);
  const copy = Object.assign(document.createElement('canvas'), { width: 160, height: 90 });
  const context = copy.getContext('2d');
  context.drawImage(from, 0, 0, 160, 90);
  return new Set(new Uint32Array(context.getImageData(0, 0, 160, 90).data.buffer)).size;
}, selector);

/** Every body of a frame is drawn where the Rust reader says. */
async function posesAgree(page, name) {
  const frames = JSON.parse(readFileSync(`${folder}/${name}.json`));
  let compared = 0;
  for (const { frame, bodies } of frames) {
    await page.locator('#scrub').fill(String(frame));
    assert.equal(await hook(page, 'frame'), frame);
    const poses = await page.evaluate((n) => Array.from({ length: n }, (_, b) => window.tumblestone.pose(b)), bodies.length);
    bodies.forEach((expected, b) => {
      if (!poses[b]) return; // a half-space is drawn otherwise
      const [x, y, z, ...q] = poses[b];
      const far = Math.hypot(x - expected[0], y - expected[1], z - expected[2]);
      assert.ok(far < 2e-6 * (1 + Math.hypot(...expected.slice(0, 3))), `${name}: body ${b} is ${far} m off in frame ${frame}`);
      const dot = Math.abs(q.reduce((sum, v, k) => sum + v * expected[3 + k], 0));
      assert.ok(dot > 1 - 1e-6, `${name}: body ${b} is turned otherwise in frame ${frame}`);
      compared++;
    });
  }
  assert.ok(compared > 10, `${name}: only ${compared} poses compared`);
}

await step('dominos: drawn by WebGL as well as without it', async () => {
  for (const [quality, canvas] of [[2, '#view'], [0, '#flat']]) {
    const page = await open(browser, `${folder}/dominos.html`, `t=0.7&theme=light&quality=${quality}`, SIZE, problems);
    await drawn(page);
    assert.ok((await pixelColors(page, canvas)) > 40, 'the canvas is empty');
    await page.screenshot({ path: `${folder}/dominos-quality-${quality}.png` });
    await page.close();
  }
});

for (const name of names) {
  await step(`${name}: loads, is drawn, and scrubbing shows the recorded poses`, async () => {
    const page = await open(browser, `${folder}/${name}.html`, 't=0.7&theme=light', SIZE, problems);
    await drawn(page);
    assert.ok((await pixelColors(page, '#flat')) > 40, 'the canvas is empty');
    await page.screenshot({ path: `${folder}/${name}-light.png` });
    await posesAgree(page, name);
    await page.close();
  });
}

await step('dominos: a click selects what is under it, and the inspector says what it is', async () => {
  const page = await open(browser, `${folder}/dominos.html`, 't=0&theme=dark', SIZE, problems);
  await drawn(page);
  for (const body of [7, 6, 1]) {
    const [x, y] = await hook(page, 'screen', body);
    await page.mouse.click(x, y);
    assert.equal(await hook(page, 'selected'), body);
    const name = await page.evaluate((b) => window.tumblestone.page.recording.bodies[b].name, body);
    assert.equal(await page.textContent('#inspector h2'), name);
  }
  assert.match(await page.textContent('#inspector dl'), /position.*velocity.*kinetic.*touches/s);
  await page.keyboard.press('f');
  const before = await hook(page, 'screen', 1);
  await hook(page, 'seek', 60);
  const after = await hook(page, 'screen', 1);
  assert.ok(Math.hypot(after[0] - before[0], after[1] - before[1]) < 250, 'the camera follows');
  const middle = await page.evaluate(() => window.tumblestone.page.stage.controls.target.toArray());
  const pose = await hook(page, 'pose', 1);
  assert.ok(Math.hypot(...middle.map((v, k) => v - pose[k])) < 1e-6, 'the followed body is the middle');
  await page.keyboard.press('Escape');
  assert.equal(await hook(page, 'selected'), -1);
  await page.mouse.click(60, 120);
  assert.equal(await hook(page, 'selected'), -1);
  await page.close();
});

await step('shapes: layers draw what the frame has, one for one', async () => {
  const page = await open(browser, `${folder}/shapes.html`, 't=0&theme=light&plots=0', SIZE, problems);
  const [, { frame, contacts, pairs, boxes }] = JSON.parse(readFileSync(`${folder}/shapes.json`));
  await hook(page, 'seek', frame);
  for (const key of '123456') await page.keyboard.press(key);
  const counts = await hook(page, 'counts');
  assert.ok(contacts > 0 && pairs > 0 && boxes > 0, 'the frame has something of each');
  assert.deepEqual({ contacts: counts.contacts, pairs: counts.pairs, boxes: counts.boxes }, { contacts, pairs, boxes });
  assert.ok(counts.velocity > 0 && counts.trails > 0 && counts.ghosts > 0);
  await drawn(page);
  await page.screenshot({ path: `${folder}/shapes-layers.png` });
  for (const key of '123456') await page.keyboard.press(key);
  const none = await hook(page, 'counts');
  assert.equal(Object.values(none).reduce((a, b) => a + b), 0);
  await page.close();
});

await step('joints: what they bear is what the Rust reader says, and all of them are drawn', async () => {
  const page = await open(browser, `${folder}/joints.html`, 't=1&theme=light&plots=0', SIZE, problems);
  let forces = 0;
  for (const { frame, joints } of JSON.parse(readFileSync(`${folder}/joints.json`))) {
    await hook(page, 'seek', frame);
    const read = await page.evaluate((n) => Array.from({ length: n }, (_, j) => {
      const { recording, player } = window.tumblestone.page;
      const load = recording.jointState(player.frame, j);
      return load && { force: load.force, torque: load.torque, acts: load.acts, broken: load.broken, atLimits: load.atLimits };
    }), joints.length);
    joints.forEach((expected, j) => {
      const { force, torque, ...rest } = expected;
      const { force: readForce, torque: readTorque, ...readRest } = read[j];
      assert.deepEqual(readRest, rest, `joint ${j} in frame ${frame}`);
      for (const [a, b] of [[force, readForce], [torque, readTorque]]) a.forEach((v, k) => assert.ok(Math.abs(v - b[k]) < 1e-9, `load of joint ${j} in frame ${frame}`));
      forces += Math.hypot(...force) > 0;
    });
  }
  assert.ok(forces > 8, 'joints bear something');
  assert.equal((await hook(page, 'counts')).joints, 8);
  await page.screenshot({ path: `${folder}/joints-layers.png` });
  await page.keyboard.press('9');
  assert.ok((await hook(page, 'counts')).reactions > 4, 'reactions are drawn');
  await page.screenshot({ path: `${folder}/joints-reactions.png` });
  await page.keyboard.press('8');
  assert.equal((await hook(page, 'counts')).joints, 0);
  await page.close();
});

await step('brick-wall-hit: plots are drawn, follow the frame, and can be scrubbed', async () => {
  const page = await open(browser, `${folder}/brick-wall-hit.html`, 't=0.2&theme=light', SIZE, problems);
  const titles = await page.locator('figure b').allTextContents();
  assert.deepEqual(titles, ['Energy', 'Energy gained', 'Momentum', 'Angular momentum', 'Contacts', 'Events']);
  for (const canvas of await page.locator('#plots canvas').all()) {
    const inks = await canvas.evaluate((c) => new Set(new Uint32Array(c.getContext('2d').getImageData(0, 0, c.width, c.height).data.buffer)).size);
    assert.ok(inks > 8, 'lines are drawn');
  }
  // The account: what all causes did adds up to the change of the energy.
  const gap = await page.evaluate(() => {
    const { series, work } = window.tumblestone.page.recording;
    const total = (i) => series.kinetic[i] + series.potential[i];
    return Math.max(...series.time.map((_, i) => Math.abs(work.reduce((sum, w) => sum + w.values[i], 0) - total(i) + total(0))));
  });
  assert.ok(gap < 1e-6, `the account is ${gap} J off`);
  const chart = await page.locator('.chart').first().boundingBox();
  await page.mouse.click(chart.x + chart.width / 2, chart.y + chart.height / 2);
  assert.ok(Math.abs((await hook(page, 'frame')) - (await page.evaluate(() => window.tumblestone.frames)) / 2) < 3);
  await page.close();
});

await step('coins: time goes forwards, backwards, in steps and faster', async () => {
  const page = await open(browser, `${folder}/coins.html`, 't=1', SIZE, problems);
  const at = () => hook(page, 'frame');
  const wait = (test) => page.waitForFunction(test, null, { timeout: 20000 });
  const start = await at();
  await page.keyboard.press(' ');
  await wait(`window.tumblestone.frame() > ${start + 10}`);
  await page.keyboard.press('r');
  await wait(`window.tumblestone.frame() < ${start}`);
  await page.keyboard.press(' ');
  const rest = await at();
  await page.keyboard.press('ArrowRight');
  assert.equal(await at(), rest + 1);
  await page.keyboard.press('ArrowLeft');
  assert.equal(await at(), rest);
  await page.keyboard.press(']');
  assert.equal(await page.textContent('#speed'), '2×');
  await page.keyboard.press('End');
  assert.equal(await at(), (await page.evaluate(() => window.tumblestone.frames)) - 1);
  await page.close();
});

await step('balls-in-dish: readable on a phone, in the dark', async () => {
  const page = await open(browser, `${folder}/balls-in-dish.html`, 't=1&theme=dark&plots=1', { width: 390, height: 844 }, problems);
  await drawn(page);
  const fits = await page.evaluate(() => ['nav', 'footer', 'aside'].every((s) => {
    const r = document.querySelector(s).getBoundingClientRect();
    return r.left >= 0 && r.right <= innerWidth && r.bottom <= innerHeight;
  }) && document.documentElement.scrollWidth <= innerWidth);
  assert.ok(fits, 'something is cut off');
  await page.screenshot({ path: `${folder}/balls-in-dish-phone.png` });
  await page.close();
});

/** Watches a run as a page does; returns how often the recording was seen to grow, or 0 if it was over too soon to be seen at work. */
async function watchRun(until) {
  const sim = spawn(process.argv[3], ['view', 'brick-wall-hit', '--until', String(until), '--no-open', '--quiet'], { stdio: ['ignore', 'pipe', 'inherit'] });
  try {
    const address = await new Promise((found) => sim.stdout.on('data', (text) => found(String(text).split(' ')[0])));
    const page = await ready(browser, address, '#theme=light', SIZE, problems, (url) => url.startsWith(address));
    const seen = await page.evaluate(() => new Promise((done) => {
      const seen = { frames: new Set(), progress: new Set() };
      const look = () => {
        const live = document.getElementById('live');
        seen.frames.add(window.tumblestone.page.recording.length);
        if (!live.hidden) seen.progress.add(live.textContent);
        if (window.tumblestone.page.recording.complete && live.hidden) done({ frames: seen.frames.size, progress: [...seen.progress] });
        else setTimeout(look, 10);
      };
      look();
    }));
    assert.equal(await page.evaluate(() => window.tumblestone.page.recording.length), 60 * until + 1);
    assert.equal(await page.getAttribute('#scrub', 'max'), String(60 * until));
    await drawn(page);
    assert.ok((await pixelColors(page, '#flat')) > 40, 'the canvas is empty');
    await page.screenshot({ path: `${folder}/view.png` });
    await page.close();
    const said = seen.progress.some((text) => /simulating: \d+\.\d+ of [\d.]+ s/.test(text));
    return said ? seen.frames - 1 : 0;
  } finally {
    sim.kill();
  }
}

await step('sim view: the page grows while the scene runs, and says so', async () => {
  // A fast machine may be done before the page is there: a longer run then.
  for (let until = 1.5; (await watchRun(until)) < 2; until *= 2) assert.ok(until < 50, 'it did not grow');
});

await browser.close();

for (const name of names) {
  await step(`${name}.glb: valid by Khronos' validator`, async () => {
    const report = await validator.validateBytes(new Uint8Array(readFileSync(`${folder}/${name}.glb`)));
    assert.equal(report.issues.numErrors + report.issues.numWarnings, 0, JSON.stringify(report.issues.messages.slice(0, 3)));
    assert.ok(report.info.animationCount === 1 && report.info.totalTriangleCount > 0);
  });
}
