// A headless Chromium with software rendering, and a page that may not talk to the network.

import { existsSync } from 'node:fs';
import { chromium } from 'playwright-core';

const PLACES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome', '/usr/bin/google-chrome-stable'];

export function browserPath() {
  return [process.env.CHROMIUM, ...PLACES].find((path) => path && existsSync(path));
}

export function launch() {
  const args = ['--no-sandbox', '--disable-gpu', '--enable-unsafe-swiftshader'];
  return chromium.launch({ executablePath: browserPath(), args });
}

/** Opens a file and waits until it plays; everything that goes wrong is put into `problems`. */
export function open(browser, file, hash, size, problems) {
  return ready(browser, `file://${file}`, `#${hash}`, size, problems, (url) => /^(file|data|blob):/.test(url));
}

/** Opens an address; `may` says which others it may ask for. */
export async function ready(browser, address, hash, size, problems, may) {
  const page = await browser.newPage({ viewport: size });
  page.on('console', (m) => m.type() === 'error' && problems.push(`console: ${m.text()}`));
  page.on('pageerror', (e) => problems.push(`error: ${e.message}`));
  page.on('request', (r) => may(r.url()) || /^data:/.test(r.url()) || problems.push(`request: ${r.url()}`));
  await page.goto(`${address}${hash}`);
  await page.waitForFunction(() => window.tumblestone || document.querySelector('.failed'), null, { timeout: 60000 });
  if (!(await page.evaluate(() => !!window.tumblestone))) throw new Error(await page.textContent('#loading'));
  return page;
}
