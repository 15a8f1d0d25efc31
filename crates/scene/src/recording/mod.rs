//! Recordings: a run as a file of frames with random access.
//!
//! A file is a row of zlib-packed records: one header, tables of shapes and bodies, pieces of up to
//! [`CHUNK_FRAMES`] frames that can be read without the others, and an end. Motion is predicted from earlier
//! frames and only the quantised difference is stored; a body in free flight costs almost nothing.
//! The bytes are described in `docs/recording-format.md`.
//!
//! | file | holds |
//! |---|---|
//! | `model` | what does not change: header, shapes, bodies |
//! | `frame` | what does: states, contacts, boxes, pairs, sums |
//! | `motion` | prediction and residuals of one body |
//! | `chunk` | frames to bytes and back |
//! | `joints` | joints: what is drawn of them, and what they bear |
//! | `recorder`, `reader` | the streaming writer and the reader |
//! | `merge` | several recordings in one |

mod bytes;
mod chunk;
mod error;
mod frame;
mod joints;
mod merge;
mod model;
mod motion;
mod reader;
mod recorder;

pub use error::RecordingError;
pub use frame::{BodyState, Contact, Frame, Sums};
pub use joints::{AnchorInfo, AxisInfo, AxisMotion, JointInfo, JointState, LineKind};
pub use merge::{MergePart, merge};
pub use model::{BodyInfo, BodyKind, Collider, Header, Mark, ShapeInfo, Steps};
pub use reader::Recording;
pub use recorder::Recorder;

/// First bytes of every recording; the digit is the version of the format.
pub const MAGIC: [u8; 8] = *b"tumble1\n";

/// Most frames in one piece, and so the most that must be decoded to show any frame.
pub const CHUNK_FRAMES: usize = 32;

/// Most bodies, and most states of bodies (frames times bodies) in one piece: bounds the memory of a reader.
pub const MAX_STATES: usize = 1 << 20;

/// Most unpacked bytes of one record, of all tables together, and most numbers in all sums: bounds the memory
/// of a reader.
pub const MAX_RECORD: usize = 1 << 26;
