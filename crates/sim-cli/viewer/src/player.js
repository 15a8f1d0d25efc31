// Where in the run we are, and how fast and in which direction time passes.

export const SPEEDS = [0.05, 0.1, 0.25, 0.5, 1, 2, 4, 8];

export class Player {
  constructor(recording, show) {
    Object.assign(this, { recording, show, frame: 0, blend: 0, time: recording.times[0] ?? 0, playing: false, speed: 1, backwards: false });
  }

  get last() {
    return this.recording.length - 1;
  }

  seek(frame) {
    this.frame = Math.min(this.last, Math.max(0, Math.round(frame)));
    this.blend = 0;
    this.time = this.recording.times[this.frame];
    this.show();
  }

  step(count) {
    this.playing = false;
    this.seek(this.frame + count + (this.blend > 0 && count < 0 ? 1 : 0));
  }

  toggle() {
    this.playing = !this.playing;
    const { times } = this.recording;
    if (this.playing && !this.backwards && this.frame >= this.last) this.time = times[0];
    if (this.playing && this.backwards && this.frame === 0 && this.blend === 0) this.time = times[this.last];
    this.clock = 0;
    if (!this.playing) this.seek(this.frame + Math.round(this.blend));
    this.show();
  }

  faster(by) {
    this.speed = SPEEDS[Math.min(SPEEDS.length - 1, Math.max(0, SPEEDS.indexOf(this.speed) + by))];
    this.show();
  }

  reverse() {
    this.backwards = !this.backwards;
    this.show();
  }

  /** Called once for each picture with the time of the screen in seconds. */
  tick(now) {
    if (!this.playing) return;
    const passed = this.clock ? Math.min(now - this.clock, 0.25) : 0;
    this.clock = now;
    const { times } = this.recording;
    this.time += passed * this.speed * (this.backwards ? -1 : 1);
    const [first, final] = [times[0], times[this.last]];
    if (this.time >= final || this.time <= first) {
      const over = this.backwards ? this.time <= first : this.time >= final;
      this.time = Math.min(final, Math.max(first, this.time));
      if (over && !this.backwards && !this.recording.complete) this.frame = this.last; // waits for more
      else if (over) {
        this.playing = false;
        this.seek(this.backwards ? 0 : this.last);
        return;
      }
    }
    while (this.frame < this.last && times[this.frame + 1] <= this.time) this.frame++;
    while (this.frame > 0 && times[this.frame] > this.time) this.frame--;
    const gap = (times[this.frame + 1] ?? Infinity) - times[this.frame];
    this.blend = Math.max(0, this.time - times[this.frame]) / gap;
    this.show();
  }
}
