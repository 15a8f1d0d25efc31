//! The reader, with random access by frame.

use super::bytes::Record;
use super::chunk;
use super::error::{RecordingError, invalid};
use super::frame::{Frame, Sums};
use super::joints::{self, JointInfo};
use super::model::{BodyInfo, End, Header, Mark, ShapeInfo, Tables};
use super::{CHUNK_FRAMES, MAGIC, MAX_RECORD, MAX_STATES};
use serde::de::DeserializeOwned;
use std::path::Path;

/// A recording in memory, packed as in the file; one piece is unpacked at a time.
#[derive(Debug, Clone)]
pub struct Recording {
    file: Vec<u8>,
    header: Header,
    shapes: Vec<ShapeInfo>,
    bodies: Vec<BodyInfo>,
    joints: Vec<JointInfo>,
    marks: Vec<Mark>,
    times: Vec<f64>,
    sums: Vec<Sums>,
    chunks: Vec<Chunk>,
    open: Option<(usize, Vec<Frame>)>,
    table_bytes: usize,
}

/// Where a piece lies and which frames it has.
#[derive(Debug, Clone, Copy)]
struct Chunk {
    record: Record,
    first: usize,
    count: usize,
    bodies: usize,
    /// What joints bear, if there are any, and how many are listed.
    loads: Option<Record>,
    joints: usize,
}

impl Recording {
    /// Reads a file.
    ///
    /// # Errors
    /// [`RecordingError::Io`] with the path, or as [`Self::from_bytes`].
    pub fn open(path: impl AsRef<Path>) -> Result<Self, RecordingError> {
        let path = path.as_ref();
        let file = std::fs::read(path)
            .map_err(|source| RecordingError::Io { what: format!("reading {}", path.display()), source })?;
        Self::from_bytes(file)
    }

    /// Checks the frame of every record and reads all but the motion, which [`Self::frame`] reads when asked.
    ///
    /// # Errors
    /// [`RecordingError::NotARecording`], [`RecordingError::Truncated`] and [`RecordingError::Corrupt`] with the
    /// place in the file.
    pub fn from_bytes(file: Vec<u8>) -> Result<Self, RecordingError> {
        if !file.starts_with(&MAGIC) {
            return Err(RecordingError::NotARecording);
        }
        let record = Record::find(&file, MAGIC.len())?;
        if record.tag != b'H' {
            return Err(record.corrupt("the first record must be the header"));
        }
        let header: Header = json(&record, &file)?;
        header.validate().map_err(|e| record.corrupt(e.to_string()))?;
        let mut this = Self {
            header,
            shapes: Vec::new(),
            bodies: Vec::new(),
            joints: Vec::new(),
            marks: Vec::new(),
            times: Vec::new(),
            sums: Vec::new(),
            chunks: Vec::new(),
            open: None,
            table_bytes: 0,
            file,
        };
        let end = this.read_records(record.end)?;
        if end != this.file.len() {
            let what = format!("{} bytes after the end", this.file.len() - end);
            return Err(RecordingError::Corrupt { at: end, what });
        }
        Ok(this)
    }

    /// Reads all records after the header, and returns where the last one ends.
    fn read_records(&mut self, mut at: usize) -> Result<usize, RecordingError> {
        let (mut pending, mut moved) = (false, false);
        loop {
            let record = Record::find(&self.file, at)?;
            at = record.end;
            if pending != (record.tag == b'F') {
                return Err(record.corrupt("sums and bodies must take turns"));
            }
            let after_motion = std::mem::replace(&mut moved, record.tag == b'F');
            match record.tag {
                b'B' => self.read_tables(&record)?,
                b'S' => {
                    self.read_sums(&record)?;
                    pending = true;
                }
                b'F' => {
                    let (bodies, joints) = (self.bodies.len(), self.joints.len());
                    if let Some(chunk) = self.chunks.last_mut() {
                        chunk.record = record;
                        (chunk.bodies, chunk.joints) = (bodies, joints);
                    }
                    pending = false;
                }
                b'J' if after_motion => {
                    if let Some(chunk) = self.chunks.last_mut() {
                        chunk.loads = Some(record);
                    }
                }
                b'J' => return Err(record.corrupt("joints must come right after the motion of bodies")),
                b'E' => {
                    let end: End = json(&record, &self.file)?;
                    if end.frames != self.times.len() {
                        let what = format!("{} frames promised, {} found", end.frames, self.times.len());
                        return Err(record.corrupt(what));
                    }
                    self.marks = end.marks;
                    return Ok(at);
                }
                _ => return Err(record.corrupt("unknown kind of record")),
            }
        }
    }

    fn read_tables(&mut self, record: &Record) -> Result<(), RecordingError> {
        self.table_bytes += record.raw_len;
        if self.table_bytes > MAX_RECORD {
            return Err(record.corrupt(format!("tables of more than {MAX_RECORD} bytes")));
        }
        let tables: Tables = json(record, &self.file)?;
        for shape in tables.shapes {
            shape
                .validate(&format!("shapes[{}]", self.shapes.len()))
                .map_err(|e| record.corrupt(e.to_string()))?;
            self.shapes.push(shape);
        }
        for body in tables.bodies {
            body.validate(&format!("bodies[{}]", self.bodies.len()), self.shapes.len())
                .map_err(|e| record.corrupt(e.to_string()))?;
            self.bodies.push(body);
        }
        for joint in tables.joints {
            joint
                .validate(&format!("joints[{}]", self.joints.len()), self.bodies.len())
                .map_err(|e| record.corrupt(e.to_string()))?;
            self.joints.push(joint);
        }
        if self.bodies.len().max(self.joints.len()) > MAX_STATES {
            return Err(record.corrupt(format!("more than {MAX_STATES} bodies or joints")));
        }
        Ok(())
    }

    fn read_sums(&mut self, record: &Record) -> Result<(), RecordingError> {
        let raw = record.unpack(&self.file)?;
        let Some((head, values)) = raw.split_first_chunk() else {
            return Err(record.corrupt("no number of frames"));
        };
        let count = u32::from_le_bytes(*head) as usize;
        let width = Sums::COLUMNS + self.header.work.len();
        if count == 0 || count > CHUNK_FRAMES || values.len() != count * width * 8 {
            let what = format!("{} bytes for {count} frames of {width} numbers", values.len());
            return Err(record.corrupt(what));
        }
        let value = |i: usize| {
            let bytes = values.get(i * 8..i * 8 + 8).and_then(|b| b.try_into().ok());
            bytes.map_or(f64::NAN, f64::from_le_bytes)
        };
        let first = self.times.len();
        if (first + count) * width > MAX_RECORD {
            return Err(record.corrupt(format!("more than {MAX_RECORD} numbers of sums")));
        }
        for frame in 0..count {
            let columns: Vec<f64> = (0..width).map(|column| value(column * count + frame)).collect();
            if let Some(column) = columns.iter().position(|v| !v.is_finite()) {
                return Err(record.corrupt(format!("frame {}: column {column} is not finite", first + frame)));
            }
            if self.times.last().is_some_and(|&last| columns[0] <= last) {
                return Err(record.corrupt(format!("frame {}: time does not increase", first + frame)));
            }
            self.times.push(columns[0]);
            self.sums.push(Sums::from_columns(&columns));
        }
        self.chunks.push(Chunk { record: *record, first, count, bodies: 0, loads: None, joints: 0 });
        Ok(())
    }

    /// What the recording says about itself.
    #[must_use]
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// All shapes, in the order of their index.
    #[must_use]
    pub fn shapes(&self) -> &[ShapeInfo] {
        &self.shapes
    }

    /// All bodies that ever are, in the order of their index.
    #[must_use]
    pub fn bodies(&self) -> &[BodyInfo] {
        &self.bodies
    }

    /// All joints that ever are, in the order of their index.
    #[must_use]
    pub fn joints(&self) -> &[JointInfo] {
        &self.joints
    }

    /// Named moments, by time.
    #[must_use]
    pub fn marks(&self) -> &[Mark] {
        &self.marks
    }

    /// Time of each frame, seconds, increasing.
    #[must_use]
    pub fn times(&self) -> &[f64] {
        &self.times
    }

    /// Energies, momenta and counts of each frame.
    #[must_use]
    pub fn sums(&self) -> &[Sums] {
        &self.sums
    }

    /// Number of frames.
    #[must_use]
    pub fn len(&self) -> usize {
        self.times.len()
    }

    /// True if there are no frames.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.times.is_empty()
    }

    /// The packed bytes, as in the file.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.file
    }

    /// Index of the frame nearest to a time in seconds; `None` without frames or for NaN.
    #[must_use]
    pub fn nearest(&self, time: f64) -> Option<usize> {
        if self.times.is_empty() || time.is_nan() {
            return None;
        }
        let after = self.times.partition_point(|&t| t < time).min(self.times.len() - 1);
        let before = after.saturating_sub(1);
        let nearer = (self.times[before] - time).abs() < (self.times[after] - time).abs();
        Some(if nearer { before } else { after })
    }

    /// The frame with this index. Frames near each other are cheap, another piece has to be unpacked first.
    ///
    /// # Errors
    /// [`RecordingError::NoFrame`], or [`RecordingError::Corrupt`] if the bytes of its piece make no sense.
    pub fn frame(&mut self, index: usize) -> Result<&Frame, RecordingError> {
        let count = self.times.len();
        let none = RecordingError::NoFrame { index, count };
        let at = self.chunks.partition_point(|c| c.first + c.count <= index);
        let Some(chunk) = self.chunks.get(at).copied() else { return Err(none) };
        if self.open.as_ref().is_none_or(|(open, _)| *open != at) {
            self.open = Some((at, self.read_chunk(&chunk)?));
        }
        self.open.as_ref().and_then(|(_, frames)| frames.get(index - chunk.first)).ok_or(none)
    }

    /// Reads every frame and forgets it: after this, [`Self::frame`] cannot fail for a frame that exists.
    ///
    /// # Errors
    /// [`RecordingError::Corrupt`] for the first piece whose bytes make no sense.
    pub fn verify(&self) -> Result<(), RecordingError> {
        self.chunks.iter().try_for_each(|chunk| self.read_chunk(chunk).map(|_| ()))
    }

    fn read_chunk(&self, chunk: &Chunk) -> Result<Vec<Frame>, RecordingError> {
        let raw = chunk.record.unpack(&self.file)?;
        let range = chunk.first..chunk.first + chunk.count;
        let mut frames = chunk::read(&raw, &self.times[range.clone()], &self.header, chunk.bodies)
            .map_err(|what| chunk.record.corrupt(what))?;
        for (frame, sums) in frames.iter_mut().zip(&self.sums[range]) {
            frame.sums.clone_from(sums);
        }
        if let Some(record) = chunk.loads {
            let raw = record.unpack(&self.file)?;
            let loads = joints::read(&raw, chunk.count, chunk.joints, &self.header.steps);
            let loads = loads.map_err(|what| record.corrupt(what))?;
            frames.iter_mut().zip(loads).for_each(|(frame, joints)| frame.joints = joints);
        }
        Ok(frames)
    }

    /// First and last frame in which a body exists; `None` if it never does.
    ///
    /// # Errors
    /// [`RecordingError::Invalid`] for an unknown body, and as [`Self::frame`].
    pub fn life(&mut self, body: usize) -> Result<Option<(usize, usize)>, RecordingError> {
        if body >= self.bodies.len() {
            return Err(invalid(format!("body {body}"), format!("of {}", self.bodies.len())));
        }
        let mut life = None;
        for i in 0..self.len() {
            if self.frame(i)?.bodies.get(body).is_some_and(Option::is_some) {
                life = Some((life.map_or(i, |(first, _)| first), i));
            }
        }
        Ok(life)
    }
}

fn json<T: DeserializeOwned>(record: &Record, file: &[u8]) -> Result<T, RecordingError> {
    serde_json::from_slice(&record.unpack(file)?).map_err(|e| record.corrupt(e.to_string()))
}
