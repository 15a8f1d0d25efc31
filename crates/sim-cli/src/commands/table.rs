//! Tables of a run, for spreadsheets: where the bodies were, and how long it took.

use super::clock::Taken;
use scene::run::Run;
use std::fmt::Write as _;

/// A table of a run: one row for each free or scripted body and frame.
#[derive(Debug, Default)]
pub struct Table {
    text: String,
}

impl Table {
    /// With its heading.
    #[must_use]
    pub fn new() -> Self {
        let heading = "time,body,x,y,z,qx,qy,qz,qw,vx,vy,vz,wx,wy,wz\n";
        Self { text: heading.to_owned() }
    }

    /// Adds the present: metres, quaternion, m/s, rad/s; pose of the user's frame, velocities at the centre of mass.
    pub fn frame(&mut self, run: &Run) {
        let world = run.world();
        for placed in &run.setup().bodies {
            let Some(body) = world.get(placed.id).filter(|b| !b.is_fixed()) else { continue };
            let (pose, velocity) = (body.user_pose(), body.velocity());
            let (p, q) = (pose.translation, pose.rotation);
            let (v, w) = (velocity.linear, velocity.angular);
            let _ = writeln!(
                self.text,
                "{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}",
                world.time(),
                cell(&placed.name),
                p.x,
                p.y,
                p.z,
                q.x,
                q.y,
                q.z,
                q.w,
                v.x,
                v.y,
                v.z,
                w.x,
                w.y,
                w.z
            );
        }
    }

    /// The whole text.
    #[must_use]
    pub fn finish(self) -> String {
        self.text
    }
}

/// A name as a cell of a table: in quotes where it has a comma, a quote or a line break.
pub(super) fn cell(name: &str) -> std::borrow::Cow<'_, str> {
    if name.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", name.replace('"', "\"\"")).into()
    } else {
        name.into()
    }
}

/// Time that a run took, frame by frame: the real-time factor is that of the stretch since the frame before.
#[derive(Debug, Default)]
pub struct Trace {
    text: String,
    before: Option<(f64, Taken, u64)>,
}

impl Trace {
    /// With its heading.
    #[must_use]
    pub fn new() -> Self {
        Self { text: "time,wall,processor,real_time_factor,events\n".to_owned(), before: None }
    }

    /// Adds the present.
    pub fn frame(&mut self, run: &Run, taken: Taken) {
        let (time, events) = (run.world().time(), run.report().events);
        if let Some((then, earlier, count)) = self.before {
            let stretch = taken.without(earlier).processor.as_secs_f64();
            // No clock is finer than a nanosecond.
            let factor = (time - then) / stretch.max(1e-9);
            let [wall, processor] = [taken.wall, taken.processor].map(|t| t.as_secs_f64());
            let _ = writeln!(self.text, "{time},{wall},{processor},{factor},{}", events - count);
        }
        self.before = Some((time, taken, events));
    }

    /// The whole text.
    #[must_use]
    pub fn finish(self) -> String {
        self.text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_with_commas_and_quotes_stay_one_cell() {
        for (name, shown) in [("ball[3]", "ball[3]"), ("a, b", "\"a, b\""), ("5\" nail", "\"5\"\" nail\"")] {
            assert_eq!(cell(name), shown);
        }
    }
}
