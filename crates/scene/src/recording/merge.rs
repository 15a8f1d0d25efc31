//! Several recordings in one, side by side or on top of each other.

use super::{
    error::{RecordingError, invalid},
    frame::{BodyState, Contact, Frame, Sums},
    model::Header,
    reader::Recording,
    recorder::Recorder,
};
use sim_math::{Aabb, glam::DVec3};

/// Times that differ by less are one, s.
const SAME_TIME: f64 = 1e-9;

/// A recording that goes into another.
#[derive(Debug)]
pub struct MergePart<'r> {
    /// The recording.
    pub recording: &'r mut Recording,
    /// Comes before the names of its bodies and marks; may be empty.
    pub label: String,
    /// Where its origin goes, m.
    pub shift: DVec3,
}

/// One recording of all parts: every body of each, every moment of each.
///
/// Between two of its frames, and after its last one, a part stays as its frame before has it; nothing is interpolated.
/// Numbers are stored with the finest steps of all parts, sums are added, work terms by name. Gravity and frame rate are
/// those of the first part. Potential energies are those of each part where it was recorded.
///
/// ```
/// use scene::recording::{Header, MergePart, Recorder, Recording, merge};
/// use sim_math::glam::DVec3;
///
/// let empty = Recorder::new(Vec::new(), Header::default())?.finish()?;
/// let (mut a, mut b) = (Recording::from_bytes(empty.clone())?, Recording::from_bytes(empty)?);
/// let both = merge(&mut [
///     MergePart { recording: &mut a, label: "a".to_owned(), shift: DVec3::ZERO },
///     MergePart { recording: &mut b, label: "b".to_owned(), shift: DVec3::X },
/// ])?;
/// assert!(Recording::from_bytes(both)?.is_empty());
/// # Ok::<(), scene::RecordingError>(())
/// ```
///
/// # Errors
/// [`RecordingError::Invalid`] without parts, for parts with different directions up and for shifts that are not finite;
/// what is wrong with a part.
pub fn merge(parts: &mut [MergePart<'_>]) -> Result<Vec<u8>, RecordingError> {
    let header = header(parts)?;
    let mut recorder = Recorder::new(Vec::new(), header.clone())?;
    let mut first_body = Vec::with_capacity(parts.len());
    let mut first_joint = Vec::with_capacity(parts.len());
    let (mut bodies, mut joints, mut shapes) = (0_usize, 0_usize, 0_u32);
    for part in &mut *parts {
        first_body.push(bodies);
        first_joint.push(joints);
        for shape in part.recording.shapes() {
            recorder.add_shape(shape.clone())?;
        }
        for body in part.recording.bodies() {
            let mut body = body.clone();
            body.name = labelled(&part.label, &body.name);
            body.colliders.iter_mut().for_each(|c| c.shape += shapes);
            recorder.add_body(body)?;
        }
        for joint in part.recording.joints() {
            let mut joint = joint.clone();
            joint.name = labelled(&part.label, &joint.name);
            for anchor in &mut joint.anchors {
                match &mut anchor.body {
                    Some(body) => *body += bodies as u32,
                    None => anchor.frame.translation += part.shift,
                }
            }
            recorder.add_joint(joint)?;
        }
        for mark in part.recording.marks() {
            recorder.mark(mark.time, labelled(&part.label, &mark.name))?;
        }
        bodies += part.recording.bodies().len();
        joints += part.recording.joints().len();
        shapes += part.recording.shapes().len() as u32;
    }
    // Where each name of the whole is among the names of each part.
    let work: Vec<Vec<Option<usize>>> = parts
        .iter()
        .map(|part| {
            let own = &part.recording.header().work;
            header.work.iter().map(|name| own.iter().position(|n| n == name)).collect()
        })
        .collect();
    let mut shown: Vec<Option<usize>> = vec![None; parts.len()];
    for time in times(parts) {
        let mut whole =
            Frame { time, bodies: vec![None; bodies], joints: vec![None; joints], ..Frame::default() };
        whole.sums.work = vec![0.0; header.work.len()];
        for (p, part) in parts.iter_mut().enumerate() {
            let until = part.recording.times().partition_point(|&t| t <= time + SAME_TIME);
            let Some(index) = until.checked_sub(1) else { continue };
            let new = shown[p].replace(index) != Some(index);
            let shift = part.shift;
            let frame = part.recording.frame(index)?;
            whole.joints[first_joint[p]..]
                .iter_mut()
                .zip(&frame.joints)
                .for_each(|(slot, load)| *slot = *load);
            add(&mut whole, frame, first_body[p], shift, new);
            add_sums(&mut whole.sums, &part.recording.sums()[index], shift, &work[p]);
        }
        recorder.push(&whole)?;
    }
    recorder.finish()
}

fn labelled(label: &str, name: &str) -> String {
    if label.is_empty() { name.to_owned() } else { format!("{label}: {name}") }
}

fn header(parts: &[MergePart<'_>]) -> Result<Header, RecordingError> {
    let Some(first) = parts.first() else { return Err(invalid("merge", "no recording is given")) };
    let mut header = first.recording.header().clone();
    for (p, part) in parts.iter().enumerate() {
        let other = part.recording.header();
        if !part.shift.is_finite() {
            return Err(invalid(format!("parts[{p}].shift"), format!("must be finite, got {}", part.shift)));
        }
        if other.up.distance(header.up) > 1e-6 {
            let what = format!("must be {} as in the first recording, got {}", header.up, other.up);
            return Err(invalid(format!("parts[{p}].up"), what));
        }
        let (s, o) = (&mut header.steps, &other.steps);
        for (finest, step) in [
            (&mut s.position, o.position),
            (&mut s.rotation, o.rotation),
            (&mut s.velocity, o.velocity),
            (&mut s.spin, o.spin),
            (&mut s.impulse, o.impulse),
            (&mut s.force, o.force),
            (&mut s.torque, o.torque),
        ] {
            *finest = finest.min(step);
        }
        if p > 0 {
            header.title = format!("{} and {}", header.title, other.title);
        }
        for name in &other.work {
            if !header.work.contains(name) {
                header.work.push(name.clone());
            }
        }
    }
    Ok(header)
}

/// All times of all parts, each once.
fn times(parts: &[MergePart<'_>]) -> Vec<f64> {
    let mut all: Vec<f64> = parts.iter().flat_map(|part| part.recording.times().iter().copied()).collect();
    all.sort_by(f64::total_cmp);
    all.dedup_by(|later, earlier| *later - *earlier <= SAME_TIME);
    all
}

/// Adds a frame of a part; impulses only if it is `new`, so that each counts once.
fn add(whole: &mut Frame, frame: &Frame, first_body: usize, shift: DVec3, new: bool) {
    let offset = first_body as u32;
    let moved = |state: &BodyState| {
        let mut state = *state;
        state.pose.translation += shift;
        state
    };
    for (slot, state) in whole.bodies[first_body..].iter_mut().zip(&frame.bodies) {
        *slot = state.as_ref().map(moved);
    }
    if new {
        let contact =
            |c: &Contact| Contact { a: c.a + offset, b: c.b + offset, point: c.point + shift, ..*c };
        whole.contacts.extend(frame.contacts.iter().map(contact));
    }
    if !frame.boxes.is_empty() {
        whole.boxes.resize(whole.bodies.len(), None);
        for (slot, around) in whole.boxes[first_body..].iter_mut().zip(&frame.boxes) {
            *slot = around.map(|b| Aabb { min: b.min + shift, max: b.max + shift });
        }
    }
    whole.pairs.extend(frame.pairs.iter().map(|pair| pair.map(|body| body + offset)));
}

fn add_sums(whole: &mut Sums, part: &Sums, shift: DVec3, work: &[Option<usize>]) {
    whole.kinetic += part.kinetic;
    whole.potential += part.potential;
    whole.momentum += part.momentum;
    // About the common origin.
    whole.angular_momentum += part.angular_momentum + shift.cross(part.momentum);
    whole.events += part.events;
    for (sum, index) in whole.work.iter_mut().zip(work) {
        *sum += index.and_then(|k| part.work.get(k)).copied().unwrap_or(0.0);
    }
}
