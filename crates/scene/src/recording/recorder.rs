//! The streaming writer.

use super::bytes::write_record;
use super::chunk::ChunkWriter;
use super::error::{RecordingError, invalid};
use super::frame::{Frame, Sums};
use super::joints::{JointInfo, JointWriter};
use super::model::{BodyInfo, End, Header, Mark, ShapeInfo, Tables};
use super::{MAGIC, MAX_STATES};
use serde::Serialize;
use std::io::Write;

/// Writes a recording frame by frame; holds at most one piece of it in memory.
///
/// ```
/// use scene::recording::{BodyInfo, BodyKind, BodyState, Frame, Header, Recorder, Recording, ShapeInfo};
///
/// let mut recorder = Recorder::new(Vec::new(), Header { title: "one ball".into(), ..Header::default() })?;
/// let ball = recorder.add_shape(ShapeInfo::Sphere { radius: 0.1 })?;
/// recorder.add_body(BodyInfo::new("ball", BodyKind::Free, 1.0, ball))?;
/// recorder.push(&Frame { bodies: vec![Some(BodyState::default())], ..Frame::default() })?;
/// let bytes = recorder.finish()?;
///
/// let mut recording = Recording::from_bytes(bytes)?;
/// assert_eq!(recording.frame(0)?.bodies.len(), 1);
/// # Ok::<(), scene::RecordingError>(())
/// ```
#[derive(Debug)]
pub struct Recorder<W: Write> {
    out: W,
    header: Header,
    tables: Tables,
    shapes: usize,
    bodies: usize,
    joints: usize,
    loads: JointWriter,
    chunk: ChunkWriter,
    sums: Vec<Vec<f64>>,
    last_time: Option<f64>,
    end: End,
}

impl<W: Write> Recorder<W> {
    /// Begins a recording.
    ///
    /// # Errors
    /// [`RecordingError::Invalid`] for a header that makes no sense, [`RecordingError::Io`] from the writer.
    pub fn new(mut out: W, header: Header) -> Result<Self, RecordingError> {
        header.validate()?;
        out.write_all(&MAGIC)
            .map_err(|source| RecordingError::Io { what: "writing a recording".to_owned(), source })?;
        write_json(&mut out, b'H', &header)?;
        Ok(Self {
            sums: vec![Vec::new(); Sums::COLUMNS + header.work.len()],
            out,
            header,
            tables: Tables::default(),
            shapes: 0,
            bodies: 0,
            joints: 0,
            loads: JointWriter::default(),
            chunk: ChunkWriter::new(),
            last_time: None,
            end: End::default(),
        })
    }

    /// Adds a shape and returns its index. Bodies of the same shape should share it.
    ///
    /// # Errors
    /// [`RecordingError::Invalid`] for a shape that cannot be.
    pub fn add_shape(&mut self, shape: ShapeInfo) -> Result<u32, RecordingError> {
        shape.validate(&format!("shapes[{}]", self.shapes))?;
        let index = table_index("shapes", self.shapes)?;
        self.tables.shapes.push(shape);
        self.shapes += 1;
        Ok(index)
    }

    /// Adds a body and returns its index; it may come at any time, and is in every frame pushed from now on.
    ///
    /// # Errors
    /// [`RecordingError::Invalid`] for a body that cannot be.
    pub fn add_body(&mut self, body: BodyInfo) -> Result<u32, RecordingError> {
        body.validate(&format!("bodies[{}]", self.bodies), self.shapes)?;
        let index = table_index("bodies", self.bodies)?;
        self.tables.bodies.push(body);
        self.bodies += 1;
        Ok(index)
    }

    /// Adds a joint between bodies that are listed and returns its index; it may come at any time, and is in every frame pushed
    /// from now on.
    ///
    /// # Errors
    /// [`RecordingError::Invalid`] for a joint that cannot be.
    pub fn add_joint(&mut self, joint: JointInfo) -> Result<u32, RecordingError> {
        joint.validate(&format!("joints[{}]", self.joints), self.bodies)?;
        let index = table_index("joints", self.joints)?;
        self.tables.joints.push(joint);
        self.joints += 1;
        Ok(index)
    }

    /// Adds a frame later than the one before.
    ///
    /// # Errors
    /// [`RecordingError::Invalid`] naming what is wrong; the frame is then not recorded.
    /// [`RecordingError::Io`] from the writer; the recording is then broken.
    pub fn push(&mut self, frame: &Frame) -> Result<(), RecordingError> {
        frame.validate(self.bodies, self.joints, self.header.work.len())?;
        JointWriter::check(frame.time, &frame.joints, &self.header.steps)?;
        if let Some(last) = self.last_time.filter(|&last| frame.time <= last) {
            return Err(invalid("frame.time", format!("must be later than {last} s, got {}", frame.time)));
        }
        if self.chunk.is_full(self.bodies) || self.loads.is_full(self.joints) {
            self.flush()?;
        }
        if let Err(error) = self.chunk.push(frame, &self.header) {
            self.flush()?;
            return Err(error);
        }
        self.loads.push(&frame.joints, &self.header.steps);
        for (column, value) in self.sums.iter_mut().zip(Sums::columns(frame)) {
            column.push(value);
        }
        self.last_time = Some(frame.time);
        Ok(())
    }

    /// Writes out the frames so far, so that a reader of a recording that still grows can show them. Costs a key frame.
    ///
    /// # Errors
    /// [`RecordingError::Io`] from the writer.
    pub fn cut(&mut self) -> Result<(), RecordingError> {
        self.flush()
    }

    /// Names a moment, in seconds of simulated time.
    ///
    /// # Errors
    /// [`RecordingError::Invalid`] if the time is not finite.
    pub fn mark(&mut self, time: f64, name: impl Into<String>) -> Result<(), RecordingError> {
        if !time.is_finite() {
            return Err(invalid("mark.time", format!("must be finite, got {time}")));
        }
        self.end.marks.push(Mark { time, name: name.into() });
        Ok(())
    }

    /// Writes what is left and the end, and returns the writer.
    ///
    /// # Errors
    /// [`RecordingError::Io`] from the writer.
    pub fn finish(mut self) -> Result<W, RecordingError> {
        self.flush()?;
        self.end.marks.sort_by(|a, b| a.time.total_cmp(&b.time));
        write_json(&mut self.out, b'E', &self.end)?;
        self.out
            .flush()
            .map_err(|source| RecordingError::Io { what: "writing a recording".to_owned(), source })?;
        Ok(self.out)
    }

    fn flush(&mut self) -> Result<(), RecordingError> {
        let Tables { shapes, bodies, joints } = &self.tables;
        if !(shapes.is_empty() && bodies.is_empty() && joints.is_empty()) {
            write_json(&mut self.out, b'B', &std::mem::take(&mut self.tables))?;
        }
        let frames = self.chunk.frames();
        if frames > 0 {
            let mut raw = (frames as u32).to_le_bytes().to_vec();
            raw.extend(self.sums.iter().flatten().flat_map(|v| v.to_le_bytes()));
            write_record(&mut self.out, b'S', &raw)?;
            let chunk = std::mem::replace(&mut self.chunk, ChunkWriter::new());
            write_record(&mut self.out, b'F', &chunk.finish())?;
            if let Some(loads) = std::mem::take(&mut self.loads).finish() {
                write_record(&mut self.out, b'J', &loads)?;
            }
            self.sums.iter_mut().for_each(Vec::clear);
            self.end.frames += frames;
        }
        Ok(())
    }
}

fn table_index(item: &str, index: usize) -> Result<u32, RecordingError> {
    if index >= MAX_STATES {
        return Err(invalid(item, format!("at most {MAX_STATES}")));
    }
    Ok(index as u32)
}

fn write_json(out: &mut impl Write, tag: u8, value: &impl Serialize) -> Result<(), RecordingError> {
    let raw =
        serde_json::to_vec(value).map_err(|e| invalid(format!("record `{}`", tag as char), e.to_string()))?;
    write_record(out, tag, &raw)
}
