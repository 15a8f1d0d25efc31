// How fast a page scrubs: node test/speed.mjs PAGE.html [SECONDS]. Jumps through the whole run while counting pictures.

import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { launch, open } from './browser.mjs';

const [file, seconds = "8"] = process.argv.slice(2);
const browser = await launch();
const problems = [];
const page = await open(browser, resolve(file), 't=0&theme=light', { width: 960, height: 540 }, problems);
console.log(`page ${(statSync(file).size / 1e6).toFixed(1)} MB, ${await page.evaluate(() => window.tumblestone.page.recording.bodies.length)} bodies, ${await page.evaluate(() => window.tumblestone.frames)} frames`);

/** Moves the scrub bar at each picture: `pace` frames of the recording at a time, back and forth. */
const scrub = (pace) => page.evaluate(([pace, seconds]) => new Promise((done) => {
  const { tumblestone } = window;
  const bar = document.getElementById('scrub');
  let [at, way, pictures, worst, last] = [0, pace, 0, 0, performance.now()];
  const start = last;
  const next = () => {
    if (at + way >= tumblestone.frames || at + way < 0) way = -way;
    at += way;
    bar.value = at;
    bar.dispatchEvent(new Event('input'));
    requestAnimationFrame((now) => {
      pictures++;
      const clock = performance.now();
      worst = Math.max(worst, clock - last);
      last = clock;
      if (clock - start > seconds * 1000) done({ rate: (pictures / (clock - start)) * 1000, worst, quality: tumblestone.page.stage.quality });
      else next();
    });
  };
  requestAnimationFrame(next);
}), [pace, Number(seconds)]);

for (const pace of [1, 7, 61]) {
  const { rate, worst, quality } = await scrub(pace);
  console.log(`scrubbing ${pace} frames at a time: ${rate.toFixed(1)} pictures a second, longest ${worst.toFixed(0)} ms, quality ${quality}`);
}
if (problems.length) console.log(problems);
await browser.close();
