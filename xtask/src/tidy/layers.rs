//! Dependencies between members against the table in `docs/architecture.md`.

use super::Problem;
use crate::workspace::{TextFile, Workspace};

const DOCUMENT: &str = "docs/architecture.md";
const HEADING: &str = "## Layer table";
const COLUMNS: [&str; 3] = ["layer", "crate", "may depend on"];

/// One row of the table.
#[derive(Debug, PartialEq, Eq)]
struct Row {
    line: usize,
    layer: u32,
    name: String,
    allowed: Vec<String>,
}

/// Compares what cargo says with what the document says.
pub(super) fn check(workspace: &Workspace, files: &[TextFile]) -> Vec<Problem> {
    let Some(document) = files.iter().find(|f| f.path == DOCUMENT) else {
        return vec![Problem::error(DOCUMENT, 1, "missing: it holds the layer table")];
    };
    let (rows, mut problems) = parse(&document.text);
    if rows.is_empty() {
        return problems;
    }
    compare_with_workspace(workspace, files, &rows, &mut problems);
    check_order(&rows, &mut problems);
    problems
}

fn parse(text: &str) -> (Vec<Row>, Vec<Problem>) {
    let mut lines = text.lines().zip(1..).skip_while(|(line, _)| line.trim_end() != HEADING);
    let Some((_, heading)) = lines.next() else {
        return (Vec::new(), vec![Problem::error(DOCUMENT, 1, format!("no line `{HEADING}`"))]);
    };
    let table = lines
        .take_while(|(line, _)| !line.starts_with('#'))
        .skip_while(|(line, _)| !line.starts_with('|'))
        .take_while(|(line, _)| line.starts_with('|'));
    let (mut rows, mut problems) = (Vec::new(), Vec::new());
    for (k, (line, number)) in table.enumerate() {
        let cells = cells(line);
        if k == 0 && cells != COLUMNS {
            let message = format!("the columns must be | {} |", COLUMNS.join(" | "));
            return (Vec::new(), vec![Problem::error(DOCUMENT, number, message)]);
        }
        if k >= 2 {
            match row(&cells, number) {
                Ok(row) => rows.push(row),
                Err(message) => problems.push(Problem::error(DOCUMENT, number, message)),
            }
        }
    }
    if rows.is_empty() && problems.is_empty() {
        problems.push(Problem::error(DOCUMENT, heading, format!("no table with rows under `{HEADING}`")));
    }
    (rows, problems)
}

fn cells(line: &str) -> Vec<&str> {
    line.trim().trim_start_matches('|').trim_end_matches('|').split('|').map(str::trim).collect()
}

fn row(cells: &[&str], line: usize) -> Result<Row, String> {
    let &[layer, name, allowed] = cells else {
        return Err(format!("{} cells instead of three", cells.len()));
    };
    let number = layer.split(|c: char| !c.is_ascii_digit()).next().unwrap_or("");
    let layer = number.parse().map_err(|_| format!("layer `{layer}` does not begin with a number"))?;
    let bare = |name: &str| {
        let inner = name.trim().strip_prefix('`').and_then(|n| n.strip_suffix('`'));
        inner.map(str::to_owned).ok_or_else(|| format!("`{name}`: package names stand in backticks"))
    };
    let allowed = if allowed == "-" {
        Vec::new()
    } else {
        allowed.split(',').map(bare).collect::<Result<Vec<_>, _>>()?
    };
    Ok(Row { line, layer, name: bare(name)?, allowed })
}

fn compare_with_workspace(
    workspace: &Workspace,
    files: &[TextFile],
    rows: &[Row],
    problems: &mut Vec<Problem>,
) {
    for package in &workspace.packages {
        let manifest = format!("{}/Cargo.toml", package.dir);
        let Some(row) = rows.iter().find(|r| r.name == package.name) else {
            let message = format!("`{}` has no row in the layer table of {DOCUMENT}", package.name);
            problems.push(Problem::error(&manifest, 1, message));
            continue;
        };
        for dependency in package.depends_on.iter().filter(|d| !row.allowed.contains(d)) {
            let text = files.iter().find(|f| f.path == manifest).map_or("", |f| &f.text);
            let line = text.lines().position(|l| l.trim_start().starts_with(dependency)).map_or(1, |i| i + 1);
            let message = format!(
                "`{}` may not depend on `{dependency}`: {DOCUMENT}:{} does not list it",
                package.name, row.line
            );
            problems.push(Problem::error(&manifest, line, message));
        }
    }
    let members: Vec<&str> = workspace.packages.iter().map(|p| p.name.as_str()).collect();
    for row in rows {
        for name in std::iter::once(&row.name).chain(&row.allowed) {
            if !members.contains(&name.as_str()) {
                let message = format!("`{name}` is not a member of the workspace");
                problems.push(Problem::error(DOCUMENT, row.line, message));
            }
        }
    }
}

fn check_order(rows: &[Row], problems: &mut Vec<Problem>) {
    for (i, row) in rows.iter().enumerate() {
        if rows[..i].iter().any(|r| r.name == row.name) {
            problems.push(Problem::error(DOCUMENT, row.line, format!("second row for `{}`", row.name)));
        }
        for lower in rows.iter().filter(|r| row.allowed.contains(&r.name) && r.layer >= row.layer) {
            let message = format!(
                "`{}` (layer {}) may only depend on lower layers, but `{}` is in layer {}",
                row.name, row.layer, lower.name, lower.layer
            );
            problems.push(Problem::error(DOCUMENT, row.line, message));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::Package;
    use std::path::PathBuf;

    const GOOD: &str = "# Architecture\n\n## Layer table\n\nHow to read it.\n\n\
        | layer | crate | may depend on |\n|---|---|---|\n\
        | 0 base | `low` | - |\n| 1 | `mid` | `low` |\n| 2 | `top` | `low`, `mid` |\n\nText.\n";

    fn problems(document: &str, edges: &[(&str, &[&str])]) -> Vec<String> {
        let packages = edges.iter().map(|(name, depends_on)| Package {
            name: (*name).to_owned(),
            dir: format!("crates/{name}"),
            depends_on: depends_on.iter().map(|d| (*d).to_owned()).collect(),
            ..Package::default()
        });
        let workspace =
            Workspace { root: PathBuf::new(), target: PathBuf::new(), packages: packages.collect() };
        let files = [
            TextFile { path: DOCUMENT.to_owned(), text: document.to_owned() },
            TextFile {
                path: "crates/low/Cargo.toml".to_owned(),
                text: "[package]\n\n[dependencies]\ntop.workspace = true\n".to_owned(),
            },
        ];
        check(&workspace, &files).iter().map(ToString::to_string).collect()
    }

    const EDGES: &[(&str, &[&str])] = &[("low", &[]), ("mid", &["low"]), ("top", &["mid"])];

    #[test]
    fn a_workspace_that_follows_its_table_passes() {
        assert_eq!(problems(GOOD, EDGES), [""; 0]);
    }

    #[test]
    fn an_edge_outside_the_table_is_reported_at_its_line_in_the_manifest() {
        let found = problems(GOOD, &[("low", &["top"]), ("mid", &["low"]), ("top", &[])]);
        assert_eq!(found.len(), 1);
        assert!(
            found[0].starts_with("crates/low/Cargo.toml:4: error: `low` may not depend on `top`"),
            "{found:?}"
        );
    }

    #[test]
    fn crates_missing_on_either_side_are_reported() {
        let found = problems(GOOD, &[("low", &[]), ("mid", &[]), ("other", &[])]);
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found[0].contains("`other` has no row"));
        assert!(found[1].contains("docs/architecture.md:11: error: `top` is not a member"));
    }

    #[test]
    fn the_table_itself_must_point_down_and_name_each_crate_once() {
        let sideways = GOOD.replace("| 1 | `mid`", "| 2 | `mid`");
        assert!(problems(&sideways, EDGES)[0].contains("may only depend on lower layers"));
        let twice = GOOD.replace("\nText", "| 3 | `top` | - |\n\nText");
        assert!(problems(&twice, EDGES)[0].contains("second row for `top`"));
    }

    #[test]
    fn a_table_that_cannot_be_read_is_an_error() {
        for (broken, expected) in [
            (GOOD.replace("## Layer table", "## Layers"), "no line"),
            (GOOD.replace("may depend on", "uses"), "the columns must be"),
            (GOOD.replace("| 1 | `mid`", "| one | `mid`"), "does not begin with a number"),
            (GOOD.replace("| `low` | - |", "| low | - |"), "backticks"),
            (GOOD.replace("| `low`, `mid` |", "|"), "cells instead of three"),
            ("## Layer table\n\ntext\n".to_owned(), "no table"),
        ] {
            let found = problems(&broken, EDGES);
            assert!(found.iter().any(|p| p.contains(expected)), "{expected}: {found:?}");
        }
    }
}
