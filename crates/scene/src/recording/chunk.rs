//! A piece of a recording: frames to planes of bytes and back.
//!
//! Numbers of one kind lie together in a plane, because they resemble each other and pack better so.
//! Within a plane they come frame by frame, and in a frame body by body (or contact by contact).

use super::bytes::{Plane, put_signed, put_varint};
use super::error::{RecordingError, invalid};
use super::frame::{BodyState, Contact, Frame};
use super::model::Header;
use super::motion::{self, Clock, Motion};
use super::{CHUNK_FRAMES, MAX_STATES};
use sim_math::{Aabb, glam::DVec3};

/// Planes in order: mode; 12 of motion; 6 of boxes; contacts: count, a, b, point, normal, impulse; pairs: count, a, b.
const PLANES: usize = MOTION + 12 + 6 + 12 + 3;
const MODE: usize = 0;
const MOTION: usize = 1;
const BOX: usize = MOTION + 12;
const CONTACT: usize = BOX + 6;
const PAIR: usize = CONTACT + 12;

/// Normals are stored in thousandths.
const NORMAL_STEP: f64 = 1e-3;

/// A contact as whole numbers: bodies, and point from body a, normal, impulse in steps.
#[derive(Debug, Clone, Copy)]
struct Touch {
    bodies: [u32; 2],
    numbers: [i64; 9],
}

/// What is carried from one frame to the next within a piece; the same for writing and reading.
#[derive(Debug, Default)]
struct Memory {
    time: f64,
    motions: Vec<Option<Motion>>,
    boxes: Vec<[i64; 6]>,
    touches: Vec<Touch>,
}

impl Memory {
    fn clock(&mut self, time: f64, header: &Header) -> Clock {
        let dt = time - self.time;
        self.time = time;
        Clock { dt, gravity: header.gravity }
    }

    fn grow(&mut self, bodies: usize) {
        self.motions.resize(bodies, None);
        self.boxes.resize(bodies, [0; 6]);
    }
}

/// For each contact the numbers of the same one in the frame before: the k-th of a pair follows its k-th.
fn ancestors<'a>(
    now: impl Iterator<Item = [u32; 2]> + 'a,
    before: &'a [Touch],
) -> impl Iterator<Item = [i64; 9]> + 'a {
    let mut at = 0;
    now.map(move |bodies| {
        while before.get(at).is_some_and(|t| t.bodies < bodies) {
            at += 1;
        }
        match before.get(at) {
            Some(t) if t.bodies == bodies => {
                at += 1;
                t.numbers
            }
            _ => [0; 9],
        }
    })
}

/// Collects the frames of one piece.
#[derive(Debug)]
pub(super) struct ChunkWriter {
    planes: Vec<Vec<u8>>,
    body_counts: Vec<u32>,
    memory: Memory,
    states: usize,
}

impl ChunkWriter {
    pub(super) fn new() -> Self {
        Self {
            planes: vec![Vec::new(); PLANES],
            body_counts: Vec::new(),
            memory: Memory::default(),
            states: 0,
        }
    }

    pub(super) fn frames(&self) -> usize {
        self.body_counts.len()
    }

    /// True if another frame with this many bodies would be too much.
    pub(super) fn is_full(&self, bodies: usize) -> bool {
        let bytes: usize = self.planes.iter().map(Vec::len).sum();
        self.frames() >= CHUNK_FRAMES || self.states + bodies > MAX_STATES || bytes > super::MAX_RECORD / 4
    }

    /// Adds a frame that has been validated. After an error the piece ends with the frame before: it must be
    /// finished and not be added to.
    pub(super) fn push(&mut self, frame: &Frame, header: &Header) -> Result<(), RecordingError> {
        let lengths: [usize; PLANES] = std::array::from_fn(|k| self.planes[k].len());
        let result = self.try_push(frame, header);
        if result.is_err() {
            self.body_counts.pop();
            self.planes.iter_mut().zip(lengths).for_each(|(plane, length)| plane.truncate(length));
        }
        result
    }

    fn try_push(&mut self, frame: &Frame, header: &Header) -> Result<(), RecordingError> {
        let clock = self.memory.clock(frame.time, header);
        self.memory.grow(frame.bodies.len());
        self.body_counts.push(frame.bodies.len() as u32);
        self.states += frame.bodies.len();
        for (i, state) in frame.bodies.iter().enumerate() {
            let aabb =
                frame.boxes.get(i).copied().flatten().filter(|b| b.min.is_finite() && b.max.is_finite());
            self.push_body(i, state.as_ref(), aabb, clock, header).ok_or_else(|| {
                invalid(format!("frame at {} s: body {i}", frame.time), "too far for its step")
            })?;
        }
        self.push_contacts(frame, header)?;
        let mut pairs = frame.pairs.clone();
        pairs.sort_unstable();
        put_varint(&mut self.planes[PAIR], pairs.len() as u64);
        self.push_bodies(PAIR + 1, pairs.into_iter());
        Ok(())
    }

    fn push_body(
        &mut self,
        i: usize,
        state: Option<&BodyState>,
        aabb: Option<Aabb>,
        clock: Clock,
        header: &Header,
    ) -> Option<()> {
        let Some(state) = state else {
            self.planes[MODE].push(0);
            self.memory.motions[i] = None;
            self.memory.boxes[i] = [0; 6];
            return Some(());
        };
        let (mode, r, seen) = motion::encode(self.memory.motions[i].as_ref(), state, clock, &header.steps)?;
        self.planes[MODE].push(if aabb.is_some() { mode | motion::BOXED } else { mode });
        if mode & motion::STILL == 0 {
            for (plane, r) in self.planes[MOTION..].iter_mut().zip(r) {
                put_signed(plane, r);
            }
        }
        if let Some(aabb) = aabb {
            let x = seen.state.pose.translation;
            // Outwards, so that the drawn box contains the true one.
            let (min, max) = ((aabb.min - x) / header.steps.position, (aabb.max - x) / header.steps.position);
            let numbers = [min.floor(), max.ceil()].map(|v| v.to_array());
            for (k, value) in numbers.concat().into_iter().enumerate() {
                let whole = whole(value)?;
                put_signed(&mut self.planes[BOX + k], whole - self.memory.boxes[i][k]);
                self.memory.boxes[i][k] = whole;
            }
        }
        self.memory.motions[i] = Some(seen);
        Some(())
    }

    fn push_contacts(&mut self, frame: &Frame, header: &Header) -> Result<(), RecordingError> {
        let mut touches = Vec::with_capacity(frame.contacts.len());
        for (i, c) in frame.contacts.iter().enumerate() {
            let x = self.memory.motions[c.a as usize].map_or(DVec3::ZERO, |m| m.state.pose.translation);
            let s = &header.steps;
            let scaled = [(c.point - x) / s.position, c.normal / NORMAL_STEP, c.impulse / s.impulse];
            let mut numbers = [0; 9];
            for (slot, value) in numbers.iter_mut().zip(scaled.map(|v| v.to_array()).concat()) {
                *slot = whole((value + 0.5).floor()).ok_or_else(|| {
                    invalid(format!("frame at {} s: contact {i}", frame.time), "too far for its step")
                })?;
            }
            touches.push(Touch { bodies: [c.a, c.b], numbers });
        }
        touches.sort_by_key(|t| t.bodies);
        put_varint(&mut self.planes[CONTACT], touches.len() as u64);
        self.push_bodies(CONTACT + 1, touches.iter().map(|t| t.bodies));
        for (touch, before) in
            touches.iter().zip(ancestors(touches.iter().map(|t| t.bodies), &self.memory.touches))
        {
            let differences = touch.numbers.iter().zip(before).map(|(now, before)| now - before);
            for (plane, difference) in self.planes[CONTACT + 3..].iter_mut().zip(differences) {
                put_signed(plane, difference);
            }
        }
        self.memory.touches = touches;
        Ok(())
    }

    fn push_bodies(&mut self, plane: usize, pairs: impl Iterator<Item = [u32; 2]>) {
        let mut last = 0;
        for [a, b] in pairs {
            put_varint(&mut self.planes[plane], u64::from(a - last));
            put_signed(&mut self.planes[plane + 1], i64::from(b) - i64::from(a));
            last = a;
        }
    }

    /// The bytes of the piece: number of frames, bodies of each, lengths of the planes, the planes.
    pub(super) fn finish(self) -> Vec<u8> {
        let head = [self.body_counts.len() as u32].into_iter().chain(self.body_counts);
        let lengths = self.planes.iter().map(|p| p.len() as u32);
        let mut raw: Vec<u8> = head.chain(lengths).flat_map(u32::to_le_bytes).collect();
        raw.extend(self.planes.iter().flatten());
        raw
    }
}

/// A finite whole number within the exact range.
fn whole(value: f64) -> Option<i64> {
    (value.abs() < 9_007_199_254_740_992.0).then_some(value as i64)
}

/// Reads a piece whose frames have the given times; sums are left to the caller. `Err` says what is wrong.
pub(super) fn read(raw: &[u8], times: &[f64], header: &Header, bodies: usize) -> Result<Vec<Frame>, String> {
    let mut head = Plane(raw);
    let short = || "ends within its lengths".to_owned();
    let n = head.u32().ok_or_else(short)? as usize;
    if n != times.len() {
        return Err(format!("{n} frames of bodies for {} frames of sums", times.len()));
    }
    let mut counts = Vec::with_capacity(n);
    for i in 0..n {
        let count = head.u32().ok_or_else(short)? as usize;
        if count > bodies {
            return Err(format!("frame {i}: {count} bodies, but only {bodies} are listed"));
        }
        counts.push(count);
    }
    if counts.iter().sum::<usize>() > MAX_STATES {
        return Err(format!("more than {MAX_STATES} states"));
    }
    let mut lengths = [0; PLANES];
    for length in &mut lengths {
        *length = head.u32().ok_or_else(short)? as usize;
    }
    let mut planes = Vec::with_capacity(PLANES);
    let mut rest = head.0;
    for (i, length) in lengths.into_iter().enumerate() {
        let (plane, tail) = rest.split_at_checked(length).ok_or_else(|| format!("plane {i} ends early"))?;
        planes.push(Plane(plane));
        rest = tail;
    }
    if !rest.is_empty() {
        return Err(format!("{} bytes after the last plane", rest.len()));
    }
    let mut reader = ChunkReader { planes, memory: Memory::default(), header };
    let mut frames = Vec::with_capacity(n);
    for (i, (&time, count)) in times.iter().zip(counts).enumerate() {
        frames.push(reader.frame(time, count).map_err(|what| format!("frame {i}: {what}"))?);
    }
    match reader.planes.iter().position(|p| !p.0.is_empty()) {
        Some(plane) => Err(format!("plane {plane} has bytes left over")),
        None => Ok(frames),
    }
}

struct ChunkReader<'a> {
    planes: Vec<Plane<'a>>,
    memory: Memory,
    header: &'a Header,
}

impl ChunkReader<'_> {
    fn frame(&mut self, time: f64, bodies: usize) -> Result<Frame, String> {
        let clock = self.memory.clock(time, self.header);
        self.memory.grow(bodies);
        let mut frame = Frame { time, bodies: Vec::with_capacity(bodies), ..Frame::default() };
        for i in 0..bodies {
            let (state, aabb) = self.body(i, clock).ok_or_else(|| format!("body {i} cannot be decoded"))?;
            frame.bodies.push(state);
            if aabb.is_some() && frame.boxes.is_empty() {
                frame.boxes.resize(bodies, None);
            }
            if let Some(slot) = frame.boxes.get_mut(i) {
                *slot = aabb;
            }
        }
        frame.contacts = self.contacts().ok_or("contacts cannot be decoded")?;
        frame.pairs = self.pairs(PAIR).ok_or("pairs cannot be decoded")?;
        Ok(frame)
    }

    fn body(&mut self, i: usize, clock: Clock) -> Option<(Option<BodyState>, Option<Aabb>)> {
        let mode = self.planes[MODE].byte()?;
        let before = self.memory.motions[i];
        let still = mode & motion::STILL != 0;
        if mode == 0 {
            self.memory.motions[i] = None;
            self.memory.boxes[i] = [0; 6];
            return Some((None, None));
        }
        if mode & motion::PRESENT == 0 || mode & !motion::ALL_BITS != 0 || (still && before.is_none()) {
            return None;
        }
        let mut r = [0; 12];
        if !still {
            for (plane, slot) in self.planes[MOTION..].iter_mut().zip(&mut r) {
                *slot = plane.signed()?;
            }
        }
        let seen = motion::decode(before.as_ref(), mode, &r, clock, &self.header.steps)?;
        self.memory.motions[i] = Some(seen);
        let mut aabb = None;
        if mode & motion::BOXED != 0 {
            let numbers = &mut self.memory.boxes[i];
            for (plane, slot) in self.planes[BOX..].iter_mut().zip(numbers.iter_mut()) {
                *slot = slot.checked_add(plane.signed()?)?;
            }
            let corner = |k: usize| {
                let n = DVec3::new(numbers[k] as f64, numbers[k + 1] as f64, numbers[k + 2] as f64);
                seen.state.pose.translation + n * self.header.steps.position
            };
            aabb = Some(Aabb::new(corner(0), corner(3)).ok()?);
        }
        Some((Some(seen.state), aabb))
    }

    fn contacts(&mut self) -> Option<Vec<Contact>> {
        let pairs = self.pairs(CONTACT)?;
        let mut touches = Vec::with_capacity(pairs.len());
        let before = std::mem::take(&mut self.memory.touches);
        for (&bodies, mut numbers) in pairs.iter().zip(ancestors(pairs.iter().copied(), &before)) {
            for (plane, slot) in self.planes[CONTACT + 3..].iter_mut().zip(&mut numbers) {
                *slot = slot.checked_add(plane.signed()?)?;
            }
            touches.push(Touch { bodies, numbers });
        }
        let s = &self.header.steps;
        let mut contacts = Vec::with_capacity(touches.len());
        for Touch { bodies: [a, b], numbers: n } in &touches {
            let vec = |k: usize| DVec3::new(n[k] as f64, n[k + 1] as f64, n[k + 2] as f64);
            let x = self.memory.motions[*a as usize]?.state.pose.translation;
            contacts.push(Contact {
                a: *a,
                b: *b,
                point: x + vec(0) * s.position,
                normal: vec(3).try_normalize()?,
                impulse: vec(6) * s.impulse,
            });
        }
        self.memory.touches = touches;
        Some(contacts)
    }

    /// A count and sorted pairs of bodies that are there.
    fn pairs(&mut self, plane: usize) -> Option<Vec<[u32; 2]>> {
        let count = usize::try_from(self.planes[plane].varint()?).ok()?;
        // Each pair takes a byte, so a larger count is a lie, and memory is bounded by the bytes there are.
        if count > self.planes[plane + 1].0.len() {
            return None;
        }
        let mut last = 0_u32;
        let mut pairs = Vec::with_capacity(count);
        for _ in 0..count {
            let a = last.checked_add(u32::try_from(self.planes[plane + 1].varint()?).ok()?)?;
            let b = u32::try_from(i64::from(a).checked_add(self.planes[plane + 2].signed()?)?).ok()?;
            for body in [a, b] {
                self.memory.motions.get(body as usize)?.as_ref()?;
            }
            last = a;
            pairs.push([a, b]);
        }
        // The order within one `a` is part of the format: `ancestors` relies on it.
        pairs.is_sorted().then_some(pairs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim_math::Pose;
    use sim_math::testkit::{SplitMix64, soak};

    /// The bytes of a piece with everything in it, not packed: changes are not seen by a check sum.
    fn piece() -> (Vec<u8>, Vec<f64>) {
        let (mut r, mut writer) = (SplitMix64(1), ChunkWriter::new());
        let times: Vec<f64> = (0..10).map(f64::from).collect();
        for &time in &times {
            let state = |r: &mut SplitMix64| BodyState {
                pose: Pose::new(r.vec3(1.0), r.unit_quat()),
                velocity: r.vec3(1.0),
                spin: r.vec3(1.0),
            };
            let contact = Contact { a: 0, b: 2, point: r.vec3(1.0), normal: DVec3::Z, impulse: r.vec3(1.0) };
            let aabb = Aabb::from_center_half_extents(DVec3::ZERO, DVec3::ONE);
            let frame = Frame {
                time,
                bodies: vec![Some(state(&mut r)), None, Some(BodyState::default())],
                contacts: vec![contact, contact],
                boxes: vec![Some(aabb), None, None],
                pairs: vec![[0, 2]],
                ..Frame::default()
            };
            writer.push(&frame, &Header::default()).unwrap();
        }
        (writer.finish(), times)
    }

    #[test]
    fn soak_changed_planes_are_decoded_or_refused() {
        let (raw, times) = piece();
        let header = Header::default();
        assert_eq!(read(&raw, &times, &header, 3).unwrap().len(), 10);
        let mut r = soak::random(8);
        let mut decoded = 0;
        for _ in 0..soak::cases(100_000) {
            let mut broken = raw.clone();
            for _ in 0..=r.below(3) {
                let at = r.below(broken.len());
                broken[at] = if r.below(2) == 0 { r.next_u64() as u8 } else { broken[at] ^ 1 << r.below(8) };
            }
            if let Ok(frames) = read(&broken, &times, &header, 3) {
                decoded += 1;
                for (_, state) in frames.iter().flat_map(Frame::present) {
                    assert!(state.pose.is_finite() && (state.pose.rotation.length() - 1.0).abs() < 1e-9);
                }
            }
        }
        assert!(decoded > 0);
    }

    #[test]
    fn lengths_that_lie_are_refused() {
        let (raw, times) = piece();
        let header = Header::default();
        assert!(read(&raw, &times[1..], &header, 3).unwrap_err().contains("10 frames of bodies for 9"));
        assert!(read(&raw, &times, &header, 2).unwrap_err().contains("3 bodies, but only 2 are listed"));
        assert!(read(&raw[..20], &times, &header, 3).unwrap_err().contains("ends within its lengths"));
        assert!(read(&raw[..raw.len() - 1], &times, &header, 3).unwrap_err().contains("ends early"));
        let mut long = raw;
        long.push(0);
        assert!(read(&long, &times, &header, 3).unwrap_err().contains("1 bytes after the last plane"));
    }
}
