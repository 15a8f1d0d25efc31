//! Finding `proves` tags in Rust and scene files.

use crate::rust_text::{Function, Masked, functions, tokens};
use crate::workspace::TextFile;

const SCENES: [&str; 4] = ["ron", "json5", "toml", "scn"];

/// Words that may stand between the attributes of a function and its `fn`.
const QUALIFIERS: [&str; 9] = ["pub", "(", ")", "crate", "super", "async", "const", "unsafe", "extern"];

/// One id of one tag.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Tag {
    pub(super) id: String,
    /// `proves-part` instead of `proves`.
    pub(super) part: bool,
    pub(super) path: String,
    pub(super) line: usize,
    /// The tagged function; none where the file itself is the proof.
    pub(super) test: Option<Function>,
}

impl Tag {
    /// What the ledger shows: `path` or `path::function`.
    pub(super) fn proof(&self) -> String {
        match &self.test {
            Some(function) => format!("{}::{}", self.path, function.name),
            None => self.path.clone(),
        }
    }
}

/// All tags of the repository, and what is wrong with others.
pub(super) fn collect(files: &[TextFile]) -> (Vec<Tag>, Vec<String>) {
    let (mut tags, mut problems) = (Vec::new(), Vec::new());
    for file in files {
        if file.path.ends_with(".rs") {
            rust_tags(file, &mut tags, &mut problems);
        } else if SCENES.iter().any(|e| file.path.ends_with(&format!(".{e}"))) {
            for (line, number) in file.text.lines().zip(1..) {
                let mut found = Vec::new();
                read_line(line, &["#", "//"], &file.path, number, &mut found, &mut problems);
                tags.extend(found);
            }
        }
    }
    (tags, problems)
}

fn rust_tags(file: &TextFile, tags: &mut Vec<Tag>, problems: &mut Vec<String>) {
    if !file.text.contains("prove") && !file.text.contains("Prove") {
        return;
    }
    let masked = Masked::new(&file.text);
    let declared = functions(&masked.code);
    let mut end = 0;
    for (line, number) in masked.comments.lines().zip(1..) {
        end += line.len() + 1;
        let mut found = Vec::new();
        read_line(line, &["//"], &file.path, number, &mut found, problems);
        if found.is_empty() {
            continue;
        }
        if !file.path.starts_with("benches/") {
            let Some(function) = next_function(&masked.code, end, &declared) else {
                let message = "a `proves` tag stands directly above a function and its attributes";
                problems.push(format!("{}:{number}: {message}", file.path));
                continue;
            };
            for tag in &mut found {
                tag.test = Some(function.clone());
            }
        }
        tags.extend(found);
    }
}

/// Reads `// proves: A-1, B-2` after one of the comment markers.
fn read_line(
    line: &str,
    markers: &[&str],
    path: &str,
    number: usize,
    tags: &mut Vec<Tag>,
    problems: &mut Vec<String>,
) {
    let Some(comment) = markers.iter().find_map(|marker| line.trim().strip_prefix(marker)) else { return };
    let (part, ids) = if let Some(ids) = comment.strip_prefix(" proves:") {
        (false, ids)
    } else if let Some(ids) = comment.strip_prefix(" proves-part:") {
        (true, ids)
    } else {
        // A tag that is nearly right would be lost without a word.
        let start = comment.trim_start_matches(['/', '!', '#', ' ']).to_lowercase();
        let keyword = start.starts_with("prove") && start.split(':').next().is_some_and(|k| k.len() < 16);
        if keyword && start.contains(':') {
            problems.push(format!(
                "{path}:{number}: write the tag as `// proves: ID, ID` or `// proves-part: ID`"
            ));
        }
        return;
    };
    for id in ids.split(',').map(str::trim) {
        if id.is_empty() || id.contains(char::is_whitespace) {
            problems.push(format!("{path}:{number}: `{id}` in a tag is not an id; ids are parted by commas"));
            continue;
        }
        tags.push(Tag { id: id.to_owned(), part, path: path.to_owned(), line: number, test: None });
    }
}

/// The function that begins after `from`, if only its attributes and qualifiers come before it.
fn next_function<'a>(code: &str, from: usize, declared: &'a [Function]) -> Option<&'a Function> {
    let rest = code.get(from..)?;
    let mut depth = 0_usize;
    let mut attribute = false;
    for (at, token) in tokens(rest) {
        match token {
            "#" if depth == 0 => attribute = true,
            "[" if attribute => depth += 1,
            "]" if attribute => {
                depth = depth.saturating_sub(1);
                attribute = depth > 0;
            }
            _ if attribute => {}
            "fn" => return declared.iter().find(|f| f.at == from + at),
            _ if QUALIFIERS.contains(&token) => {}
            _ => return None,
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(path: &str, text: &str) -> (Vec<String>, Vec<String>) {
        let file = TextFile { path: path.to_owned(), text: text.to_owned() };
        let (tags, problems) = collect(&[file]);
        let show = |t: &Tag| format!("{} {}{}", t.id, if t.part { "part " } else { "" }, t.proof());
        (tags.iter().map(show).collect(), problems)
    }

    #[test]
    fn a_tag_applies_to_the_next_function() {
        let text = "mod tests {\n    // proves: MIR-01, CLI-04\n    // why\n\n    #[test]\n    #[cfg(feature = \"a]b\")]\n\
                    pub(crate) fn one() {}\n    // proves-part: DYN-07\n    #[test]\n    fn two() {}\n}\n";
        let (tags, problems) = read("crates/a/src/b.rs", text);
        let expected = [
            "MIR-01 crates/a/src/b.rs::one",
            "CLI-04 crates/a/src/b.rs::one",
            "DYN-07 part crates/a/src/b.rs::two",
        ];
        assert_eq!(tags, expected);
        assert_eq!(problems, [""; 0]);
        let (tags, _) = collect(&[TextFile { path: "crates/a/src/b.rs".to_owned(), text: text.to_owned() }]);
        assert_eq!(
            (tags[0].line, tags[0].test.as_ref().unwrap().modules.as_slice()),
            (2, &["tests".to_owned()][..])
        );
    }

    #[test]
    fn a_tag_above_anything_else_is_a_problem() {
        for text in [
            "// proves: MIR-01\nstruct A;\nfn a() {}\n",
            "fn a() {\n    x();\n    // proves: MIR-01\n}\n#[test]\nfn b() {}\n",
            "// proves: MIR-01\n",
            "// proves: MIR-01",
        ] {
            let (tags, problems) = read("crates/a/src/b.rs", text);
            assert_eq!((tags.len(), problems.len()), (0, 1), "{text}");
        }
    }

    #[test]
    fn misspelt_tags_are_reported_and_prose_is_not() {
        for text in [
            "//proves: MIR-01",
            "// Proves: MIR-01",
            "// prove: MIR-01",
            "/// proves: MIR-01",
            "// proves-partly: A",
        ] {
            let (tags, problems) = read("crates/a/src/b.rs", &format!("{text}\nfn a() {{}}\n"));
            assert_eq!((tags.len(), problems.len()), (0, 1), "{text}");
        }
        let (_, problems) = read("crates/a/src/b.rs", "// proves: MIR-01 CLI-02\nfn a() {}\n");
        assert!(problems[0].contains("parted by commas"));
        for text in
            ["// proves that a = b", "// Proven in chapter 3: see there", "let a = \"// proves: MIR-01\";"]
        {
            assert_eq!(read("crates/a/src/b.rs", text), (vec![], vec![]), "{text}");
        }
    }

    #[test]
    fn benches_and_scenes_are_proofs_themselves() {
        let bench = "// proves: MIR-05\nuse a::b;\n";
        assert_eq!(read("benches/benches/math/pose.rs", bench).0, ["MIR-05 benches/benches/math/pose.rs"]);
        let scene = "# proves: ARN-02\n// proves-part: ARN-03\nbody = 1\n";
        let expected = ["ARN-02 crates/scene/a.scn", "ARN-03 part crates/scene/a.scn"];
        assert_eq!(read("crates/scene/a.scn", scene).0, expected);
        assert_eq!(read("docs/a.md", scene).0, [""; 0]);
    }
}
