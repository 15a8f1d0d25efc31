//! Text to a scene and back.

use super::{error::SceneError, model::Scene, suggest::nearest};
use ron::extensions::Extensions;
use serde::de::DeserializeOwned;
use serde_path_to_error::{Path, Segment};

/// Deepest nesting of brackets in a file.
const DEPTH: usize = 64;

const EARLY: &str = "the file ends too early";

/// How a scene is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Syntax {
    /// Rusty object notation, with comments.
    Ron,
    /// JSON.
    Json,
}

impl Syntax {
    /// By the ending of the file name: `.json` is JSON, all else RON.
    #[must_use]
    pub fn of(file: &str) -> Self {
        let json = file.len() >= 5 && file.as_bytes()[file.len() - 5..].eq_ignore_ascii_case(b".json");
        if json { Self::Json } else { Self::Ron }
    }
}

fn options() -> ron::Options {
    ron::Options::default().with_default_extension(Extensions::IMPLICIT_SOME).with_recursion_limit(DEPTH)
}

/// Reads a scene; `file` is its name in messages. Includes are not followed, values are not checked.
///
/// ```
/// use scene::format::text::{Syntax, parse};
///
/// let scene = parse("(bodies: [(shape: sphere(radius: 0.1), position: (0, 0, 1))])", Syntax::Ron, "ball.ron")?;
/// assert_eq!(scene.bodies.len(), 1);
/// let wrong = parse("(bodies: [(shape: sphere(radus: 0.1))])", Syntax::Ron, "ball.ron").unwrap_err();
/// assert_eq!(wrong.path, "bodies[0].shape");
/// assert_eq!(wrong.problem, "unknown field `radus`, did you mean `radius`?");
/// # Ok::<(), scene::SceneError>(())
/// ```
///
/// # Errors
/// Text that is not a scene, with file, line, column and path.
pub fn parse(text: &str, syntax: Syntax, file: &str) -> Result<Scene, SceneError> {
    parse_as(text, syntax, file)
}

fn parse_as<T: DeserializeOwned>(text: &str, syntax: Syntax, file: &str) -> Result<T, SceneError> {
    match syntax {
        Syntax::Ron => parse_ron(text, file),
        Syntax::Json => parse_json(text, file),
    }
}

fn parse_ron<T: DeserializeOwned>(text: &str, file: &str) -> Result<T, SceneError> {
    let place = |span: ron::error::Span, path: String, problem: String| SceneError {
        file: file.to_owned(),
        line: Some((span.start.line, span.start.col)),
        path,
        problem,
    };
    let mut source = ron::Deserializer::from_str_with_options(text, &options())
        .map_err(|e| place(e.span, String::new(), explain_ron(&e.code)))?;
    let value = serde_path_to_error::deserialize::<_, T>(&mut source).map_err(|e| {
        let path = path_of(e.path(), is_unknown_ron(e.inner()));
        let spanned = source.span_error(e.into_inner());
        let at_end = source.remainder().trim_start().is_empty();
        let syntax = spanned.code.to_string().starts_with("Expected");
        let problem = if at_end && syntax { EARLY.to_owned() } else { explain_ron(&spanned.code) };
        place(spanned.span, path, problem)
    })?;
    source.end().map_err(|e| {
        let spanned = source.span_error(e);
        place(spanned.span, String::new(), "there is more text after the end of the scene".to_owned())
    })?;
    Ok(value)
}

fn parse_json<T: DeserializeOwned>(text: &str, file: &str) -> Result<T, SceneError> {
    let fail = |e: &serde_json::Error, path: String| {
        let message = e.to_string();
        let bare = message.split(" at line ").next().unwrap_or(&message);
        SceneError {
            file: file.to_owned(),
            line: Some((e.line(), e.column())),
            path,
            problem: explain_serde(bare),
        }
    };
    let mut source = serde_json::Deserializer::from_str(text);
    let value = serde_path_to_error::deserialize::<_, T>(&mut source)
        .map_err(|e| fail(e.inner(), path_of(e.path(), e.inner().to_string().starts_with("unknown"))))?;
    source.end().map_err(|e| fail(&e, String::new()))?;
    Ok(value)
}

/// `bodies[2].shape.radius`: without the names of enum variants, and without the unknown name itself.
fn path_of(path: &Path, unknown: bool) -> String {
    let mut text = String::new();
    let segments: Vec<&Segment> = path.iter().collect();
    let kept = match segments.last() {
        Some(Segment::Map { .. } | Segment::Unknown) if unknown => segments.len() - 1,
        _ => segments.len(),
    };
    for segment in &segments[..kept] {
        match segment {
            Segment::Seq { index } => text.push_str(&format!("[{index}]")),
            Segment::Map { key } => {
                if !text.is_empty() {
                    text.push('.');
                }
                text.push_str(key);
            }
            Segment::Enum { .. } | Segment::Unknown => {}
        }
    }
    text
}

fn is_unknown_ron(error: &ron::Error) -> bool {
    matches!(error, ron::Error::NoSuchStructField { .. })
}

fn explain_ron(error: &ron::Error) -> String {
    match error {
        ron::Error::NoSuchStructField { expected, found, .. } => unknown("field", found, expected),
        ron::Error::NoSuchEnumVariant { expected, found, .. } => unknown("kind", found, expected),
        ron::Error::MissingStructField { field, .. } => format!("missing field `{field}`"),
        ron::Error::DuplicateStructField { field, .. } => format!("field `{field}` is given twice"),
        ron::Error::Eof => EARLY.to_owned(),
        ron::Error::ExceededRecursionLimit => format!("nested more than {DEPTH} deep"),
        ron::Error::ExpectedStructLike | ron::Error::ExpectedNamedStructLike(_) => "expected `(`".to_owned(),
        ron::Error::InvalidValueForType { expected, found } => format!("expected {expected}, got {found}"),
        ron::Error::ExpectedDifferentLength { expected, found } => {
            format!("expected {expected}, got {found}")
        }
        ron::Error::Message(message) => explain_serde(message),
        other => {
            let text = other.to_string();
            let mut letters = text.chars();
            letters.next().map_or_else(String::new, |first| first.to_lowercase().chain(letters).collect())
        }
    }
}

fn unknown<S: AsRef<str>>(what: &str, found: &str, expected: &[S]) -> String {
    let shown: String = found.chars().take(40).collect();
    match nearest(found, expected.iter().map(AsRef::as_ref)) {
        Some(near) => format!("unknown {what} `{shown}`, did you mean `{near}`?"),
        None if expected.is_empty() => format!("unknown {what} `{shown}`"),
        None => {
            let list: Vec<String> = expected.iter().map(|e| format!("`{}`", e.as_ref())).collect();
            format!("unknown {what} `{shown}`, known are {}", list.join(", "))
        }
    }
}

/// Serde's own words, made ours: unknown names get a suggestion.
fn explain_serde(message: &str) -> String {
    for (prefix, what) in [("unknown field `", "field"), ("unknown variant `", "kind")] {
        if let Some(rest) = message.strip_prefix(prefix) {
            let mut quoted = rest.split('`');
            let found = quoted.next().unwrap_or_default();
            let expected: Vec<&str> = quoted.skip(1).step_by(2).collect();
            return unknown(what, found, &expected);
        }
    }
    let message = message.strip_prefix("invalid type: ").unwrap_or(message);
    match message.split_once(", expected ") {
        Some((found, expected)) => format!("expected {expected}, got {found}"),
        None if message.starts_with("EOF") => EARLY.to_owned(),
        None => message.to_owned(),
    }
}

/// Writes a scene; what [`parse`] reads back as the same scene.
///
/// # Errors
/// A number that the syntax cannot write (JSON has no NaN and no infinity).
pub fn write(scene: &Scene, syntax: Syntax, file: &str) -> Result<String, SceneError> {
    match syntax {
        Syntax::Ron => {
            let pretty = ron::ser::PrettyConfig::new().depth_limit(4).indentor("    ").new_line("\n");
            options().to_string_pretty(scene, pretty).map_err(|e| SceneError::file(file, e.to_string()))
        }
        Syntax::Json => {
            serde_json::to_string_pretty(scene).map_err(|e| SceneError::file(file, e.to_string()))
        }
    }
}
