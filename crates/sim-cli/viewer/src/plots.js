// Energies, momentum and activity over the whole run, with a cursor at the present.

const INK = { kinetic: '--k', potential: '--p', total: '--t', work: ['--w1', '--w2', '--w3', '--w4'] };

/** Lines to draw, by plot; the numbers are read once. */
export function plotsOf(recording) {
  const { series, work, times, length } = recording;
  const total = series.kinetic.map((k, i) => k + series.potential[i]);
  const size = (x, y, z) => series[x].map((_, i) => Math.hypot(series[x][i], series[y][i], series[z][i]));
  const window = Math.max(1, Math.round(recording.header.frame_rate / 4));
  const rate = series.events.map((_, i) => {
    const [a, b] = [Math.max(0, i - window), Math.min(length - 1, i + window)];
    return b > a ? (series.events[b] - series.events[a]) / (times[b] - times[a]) : 0;
  });
  const plots = [
    {
      id: 'energy', title: 'Energy', unit: 'J', lines: [
        { name: 'kinetic', ink: INK.kinetic, values: series.kinetic },
        { name: 'potential', ink: INK.potential, values: series.potential },
        { name: 'total', ink: INK.total, values: total, strong: true },
      ],
    },
    {
      // The change of the total, and what each cause did: the lines of the causes add up to the first.
      id: 'work', title: 'Energy gained', unit: 'J', lines: [
        { name: 'in all', ink: INK.total, values: total.map((e) => e - total[0]), strong: true },
        ...work.filter(({ values }) => worth(values, total)).map(({ name, values }, i) => ({ name, ink: INK.work[i % INK.work.length], values, dashed: i >= INK.work.length })),
      ],
    },
    { id: 'momentum', title: 'Momentum', unit: 'kg m/s', lines: [
      { name: 'linear', ink: INK.kinetic, values: size('px', 'py', 'pz') },
      { name: 'vertical', ink: INK.potential, values: vertical(recording) },
    ] },
    { id: 'angular', title: 'Angular momentum', unit: 'kg m²/s', lines: [{ name: 'about the origin', ink: INK.work[0], values: size('lx', 'ly', 'lz') }] },
    { id: 'contacts', zero: true, title: 'Contacts', unit: '', lines: [{ name: 'contacts', ink: INK.work[1], values: series.contacts }] },
    { id: 'events', zero: true, title: 'Events', unit: '1/s', lines: [{ name: 'events per second', ink: INK.work[2], values: rate }] },
  ];
  return plots.filter((plot) => plot.lines.some((line) => line.values.some((v) => v !== 0)) && (plot.id !== 'work' || plot.lines.length > 1));
}

/** A cause that did nothing that could be seen needs no line. */
function worth(values, total) {
  const size = (list) => list.reduce((most, v) => Math.max(most, Math.abs(v - list[0])), 0);
  return size(values) > 1e-6 * size(total);
}

function vertical({ series, header: { up } }) {
  return series.px.map((_, i) => series.px[i] * up[0] + series.py[i] * up[1] + series.pz[i] * up[2]);
}

export class Plots {
  constructor(container, recording, seek) {
    this.recording = recording;
    this.plots = plotsOf(recording);
    for (const plot of this.plots) {
      const figure = document.createElement('figure');
      figure.innerHTML = `<figcaption><b>${plot.title}</b><span></span></figcaption><div class="chart"><canvas></canvas><i></i></div><div class="legend"></div>`;
      [plot.front, plot.back, plot.line] = ['.chart', 'canvas', 'i'].map((s) => figure.querySelector(s));
      plot.value = figure.querySelector('span');
      const legend = figure.querySelector('.legend');
      for (const line of plot.lines) {
        const key = document.createElement('span');
        key.style.setProperty('--ink', `var(${line.ink})`);
        key.textContent = line.name;
        if (plot.lines.length > 1) legend.append(key);
      }
      const drag = (event) => {
        if (event.type === 'pointermove' && !event.buttons) return;
        const area = plot.front.getBoundingClientRect();
        const part = Math.min(1, Math.max(0, (event.clientX - area.left) / area.width));
        seek(recording.nearest(recording.times[0] + part * this.span()));
      };
      plot.front.addEventListener('pointerdown', (event) => {
        plot.front.setPointerCapture(event.pointerId);
        drag(event);
      });
      plot.front.addEventListener('pointermove', drag);
      container.append(figure);
    }
  }

  span() {
    return this.recording.times.at(-1) - this.recording.times[0] || 1;
  }

  /** Draws the lines again: after a resize or a change of colours. */
  redraw() {
    const { times } = this.recording;
    for (const plot of this.plots) {
      const context = fit(plot.back);
      const [width, height] = [plot.back.clientWidth, plot.back.clientHeight];
      if (!width) continue;
      const style = getComputedStyle(plot.back);
      let [low, high] = [Infinity, -Infinity];
      for (const { values } of plot.lines) for (const v of values) [low, high] = [Math.min(low, v), Math.max(high, v)];
      if (low > 0 && (plot.zero || low < 0.5 * high)) low = 0;
      if (!(high > low)) [low, high] = [low - 1, high + 1];
      const pad = 0.06 * (high - low);
      [low, high] = [low - pad, high + pad];
      const y = (v) => height - ((v - low) / (high - low)) * height;
      context.strokeStyle = style.getPropertyValue('--rule');
      context.fillStyle = style.getPropertyValue('--quiet');
      context.font = '10px system-ui, sans-serif';
      for (const v of ticks(low, high)) {
        context.fillRect(0, Math.round(y(v)), width, 0.5);
        if (y(v) > 13) context.fillText(number(v), 2, Math.round(y(v)) - 3);
      }
      for (const line of plot.lines) {
        context.strokeStyle = style.getPropertyValue(line.ink);
        context.lineWidth = line.strong ? 1.8 : 1.3;
        context.setLineDash(line.dashed ? [4, 3] : []);
        context.beginPath();
        // One column of pixels is a line from the least to the greatest value in it.
        const step = Math.max(1, Math.floor(times.length / (2 * width)));
        for (let i = 0; i < times.length; i += step) {
          let [least, most] = [line.values[i], line.values[i]];
          for (let k = i; k < Math.min(i + step, times.length); k++) [least, most] = [Math.min(least, line.values[k]), Math.max(most, line.values[k])];
          const x = ((times[i] - times[0]) / this.span()) * width;
          context.lineTo(x, y(least));
          if (most > least) context.lineTo(x, y(most));
        }
        context.stroke();
      }
      plot.width = width;
    }
  }

  cursor(frame) {
    const { times } = this.recording;
    const part = (times[frame] - times[0]) / this.span();
    for (const plot of this.plots) {
      plot.line.style.transform = `translateX(${part * (plot.width ?? 0)}px)`;
      const main = plot.lines.find((l) => l.strong) ?? plot.lines[0];
      plot.value.textContent = `${number(main.values[frame])} ${plot.unit}`;
    }
  }
}

function fit(canvas) {
  const ratio = Math.min(devicePixelRatio, 2);
  canvas.width = Math.round(canvas.clientWidth * ratio);
  canvas.height = Math.round(canvas.clientHeight * ratio);
  const context = canvas.getContext('2d');
  context.scale(ratio, ratio);
  return context;
}

function ticks(low, high) {
  const rough = (high - low) / 3;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 5, 10].find((k) => k * power >= rough) ?? 10);
  const found = [];
  for (let v = Math.ceil(low / step) * step; v < high; v += step) found.push(Math.abs(v) < step / 1e6 ? 0 : v);
  return found;
}

/** Four digits, whatever the size. */
export function number(v) {
  if (!Number.isFinite(v)) return '–';
  if (v === 0) return '0';
  const size = Math.abs(v);
  if (size >= 1e5 || size < 1e-3) return v.toExponential(2).replace('e', '\u2009e').replace('-', '\u2212');
  return String(Number(v.toPrecision(4))).replace('-', '\u2212');
}
