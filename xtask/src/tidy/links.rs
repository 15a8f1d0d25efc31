//! Relative links in Markdown files.
//!
//! Understands `[text](target)`, `![image](target)` and `[label]: target`; leaves out code, targets with a
//! scheme (`https:`) and anchors within a page.

use super::Problem;
use crate::workspace::TextFile;
use std::path::Path;

/// Looks at every Markdown file.
pub(super) fn check(root: &Path, files: &[TextFile]) -> Vec<Problem> {
    let mut problems = Vec::new();
    for file in files.iter().filter(|f| f.path.ends_with(".md")) {
        let dir = root.join(&file.path);
        let dir = dir.parent().unwrap_or(root);
        for (line, target) in links(&file.text) {
            let path = target.split(['#', '?']).next().unwrap_or("");
            if path.is_empty() || has_scheme(path) {
                continue;
            }
            let path = path.replace("%20", " ");
            if path.starts_with('/') || !dir.join(&path).exists() {
                problems.push(Problem::error(&file.path, line, format!("broken link to `{target}`")));
            }
        }
    }
    problems
}

fn has_scheme(target: &str) -> bool {
    let scheme = target.split(':').next().unwrap_or("");
    scheme.len() < target.len()
        && scheme.len() > 1
        && scheme.chars().all(|c| c.is_ascii_alphanumeric() || c == '+')
}

/// Link targets with their line numbers, fenced and inline code left out.
fn links(text: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let mut fence = None;
    for (line, number) in text.lines().zip(1..) {
        let start = line.trim_start();
        let marker = ["```", "~~~"].into_iter().find(|m| start.starts_with(m));
        match (fence, marker) {
            (None, Some(m)) => fence = Some(m),
            (Some(open), Some(m)) if open == m => fence = None,
            (None, None) => found.extend(targets(&without_code(line)).into_iter().map(|t| (number, t))),
            _ => {}
        }
    }
    found
}

/// The line with everything between backticks blanked.
fn without_code(line: &str) -> String {
    let mut parts = line.split('`');
    let mut text = parts.next().unwrap_or("").to_owned();
    for (i, part) in parts.enumerate() {
        text += if i % 2 == 0 { " " } else { part };
    }
    text
}

fn targets(line: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut push = |raw: &str| {
        let raw = raw.trim();
        let target = match raw.strip_prefix('<') {
            Some(rest) => rest.split('>').next().unwrap_or(""),
            None => raw.split_whitespace().next().unwrap_or(""),
        };
        found.push(target.to_owned());
    };
    for (at, _) in line.match_indices("](") {
        let rest = &line[at + 2..];
        let mut depth = 1;
        let end = rest.find(|c: char| {
            depth += i32::from(c == '(') - i32::from(c == ')');
            depth == 0
        });
        push(&rest[..end.unwrap_or(rest.len())]);
    }
    if let Some((label, target)) = line.trim_start().split_once("]:") {
        // `[^1]:` is a footnote.
        if label.starts_with('[') && !label.starts_with("[^") && !label.contains(']') {
            push(target);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_found_outside_code_only() {
        let text = "See [a](a.md), ![b](img/b.png \"title\") and [c](<c d.md>).\n\n[d]: d.md#part\n[^1]: note\n\
                    ```text\n[e](e.md)\n```\n`[f](f.md)` [g](g(1).md)\n";
        let found: Vec<_> = links(text);
        let expected = [(1, "a.md"), (1, "img/b.png"), (1, "c d.md"), (3, "d.md#part"), (8, "g(1).md")];
        assert_eq!(found, expected.map(|(n, t)| (n, t.to_owned())));
    }

    #[test]
    fn a_link_to_nothing_is_reported_and_other_links_are_not() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let text = "[ok](src/main.rs#x) [web](https://a.b/c) [mail](mailto:a@b) [here](#part)\n[no](src/lost.rs)\n[abs](/src)\n";
        let file = TextFile { path: "a.md".to_owned(), text: text.to_owned() };
        let found: Vec<_> = check(root, &[file]).iter().map(ToString::to_string).collect();
        assert_eq!(
            found,
            ["a.md:2: error: broken link to `src/lost.rs`", "a.md:3: error: broken link to `/src`"]
        );
    }
}
