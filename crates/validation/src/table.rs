//! All rows as one Markdown page.

use crate::{Row, Scene, row::Number};

/// What running one scene gave.
#[derive(Debug)]
pub struct Outcome<'a> {
    /// The scene.
    pub scene: &'a Scene,
    /// Its rows, or why there are none.
    pub rows: Result<Vec<Row>, String>,
    /// How long it took, seconds of wall time.
    pub seconds: f64,
}

impl Outcome<'_> {
    /// True if the scene ran and every row holds.
    #[must_use]
    pub fn holds(&self) -> bool {
        self.rows.as_ref().is_ok_and(|rows| rows.iter().all(Row::holds))
    }
}

/// The page `docs/validation.md`.
#[must_use]
pub fn markdown(outcomes: &[Outcome<'_>]) -> String {
    let rows = || outcomes.iter().flat_map(|o| o.rows.iter().flatten());
    let mut page = format!(
        "# Validation\n\n\
         Scenes with known answers and what this engine makes of them, written by `cargo xtask validate`.\n\
         Each scene is also a test (`cargo test -p validation`). Units are SI.\n\n\
         {} scenes, {} numbers, {} outside their bound.\n",
        outcomes.len(),
        rows().filter(|row| row.bound != crate::Bound::NotRun).count(),
        rows().filter(|row| !row.holds()).count(),
    );
    for outcome in outcomes {
        let Scene { name, about, .. } = outcome.scene;
        page += &format!("\n## {name}\n\n{about} ({:.1} s of computing)\n\n", outcome.seconds);
        match &outcome.rows {
            Err(reason) => page += &format!("**Did not run**: {reason}\n"),
            Ok(rows) => {
                page += "| method | quantity | should be | measured | error | |\n|---|---|---|---|---|---|\n";
                for row in rows {
                    page += &line(row);
                }
            }
        }
    }
    page
}

fn line(row: &Row) -> String {
    let error = match row.bound {
        crate::Bound::Absolute(_) | crate::Bound::Relative(_) => Number(row.error()).to_string(),
        crate::Bound::AtMost | crate::Bound::AtLeast | crate::Bound::Reported => String::new(),
        crate::Bound::NotRun => return format!("| {} | not run: {} | | | | |\n", row.method, row.quantity),
    };
    format!(
        "| {} | {} | {} | {} | {error} | {} |\n",
        row.method,
        row.quantity,
        row.condition(),
        row.with_unit(row.measured),
        if row.holds() { "ok" } else { "**no**" }
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Bound;

    const SCENE: Scene = Scene { name: "fall", about: "A stone falls.", run: || Ok(Vec::new()) };

    #[test]
    fn the_page_counts_what_fails_and_says_where() {
        let rows = vec![
            Row::new("exact", "time", "s", 1.0, 1.0, Bound::Absolute(1e-12)),
            Row::new("rough", "time", "s", 1.5, 1.0, Bound::Relative(0.1)),
        ];
        let outcomes = [
            Outcome { scene: &SCENE, rows: Ok(rows), seconds: 0.1 },
            Outcome { scene: &SCENE, rows: Err("body 3 fell off".to_owned()), seconds: 0.0 },
        ];
        assert!(!outcomes[0].holds() && !outcomes[1].holds());
        let page = markdown(&outcomes);
        assert!(page.contains("2 scenes, 2 numbers, 1 outside"), "{page}");
        assert!(page.contains("| rough | time | 1 s, relative 0.1 | 1.5 s | 0.5 | **no** |"), "{page}");
        assert!(page.contains("body 3 fell off"));
    }
}
