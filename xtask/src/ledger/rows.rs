//! Rows of `docs/ledger.tsv`: reading, changing by tags, writing.

use super::tags::Tag;
use super::{PATH, SYSTEMS, UNUSED};
use std::collections::BTreeSet;

const HEADER: &str = "id\tcapability\tcrate\tcheck\tstatus\tproof";

/// Begins the list of tests behind the reason of a partial row.
const BY: &str = "(by: ";

/// How far a capability is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Status {
    Done,
    Partial,
    Open,
    Declined,
}

impl Status {
    /// All, in the order of the summary.
    pub(super) const ALL: [Self; 4] = [Self::Done, Self::Partial, Self::Open, Self::Declined];

    fn name(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Partial => "partial",
            Self::Open => "open",
            Self::Declined => "declined",
        }
    }
}

/// One capability.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Row {
    pub(super) id: String,
    /// Capability, crate and check, as they stand in the file.
    columns: [String; 3],
    pub(super) status: Status,
    pub(super) proof: String,
}

/// The whole file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Ledger {
    pub(super) rows: Vec<Row>,
}

impl Ledger {
    /// Reads the file; rows must be exactly the canonical ones, in order.
    pub(super) fn parse(text: &str) -> Result<Self, Vec<String>> {
        let mut lines = text.lines().zip(1..);
        if lines.next().map(|(line, _)| line) != Some(HEADER) {
            return Err(vec![format!("{PATH}:1: the header must be: {}", HEADER.replace('\t', " | "))]);
        }
        let (mut rows, mut problems) = (Vec::new(), Vec::new());
        for (line, number) in lines {
            match parse_row(line) {
                Ok(row) => rows.push(row),
                Err(message) => problems.push(format!("{PATH}:{number}: {message}")),
            }
        }
        check_ids(&rows, &mut problems);
        if problems.is_empty() { Ok(Self { rows }) } else { Err(problems) }
    }

    /// The file that holds these rows.
    pub(super) fn to_text(&self) -> String {
        let mut text = format!("{HEADER}\n");
        for row in &self.rows {
            let [capability, package, check] = &row.columns;
            let status = row.status.name();
            text += &format!("{}\t{capability}\t{package}\t{check}\t{status}\t{}\n", row.id, row.proof);
        }
        text
    }

    /// Sets status and proof of each row from the tags.
    pub(super) fn apply(&mut self, tags: &[Tag], problems: &mut Vec<String>) {
        for row in &mut self.rows {
            let proofs = |part_too: bool| -> String {
                let wanted = tags.iter().filter(|tag| tag.id == row.id && (part_too || !tag.part));
                let sorted: BTreeSet<String> = wanted.map(Tag::proof).collect();
                sorted.into_iter().collect::<Vec<_>>().join("; ")
            };
            let (full, all) = (proofs(false), proofs(true));
            if !full.is_empty() {
                (row.status, row.proof) = (Status::Done, all);
            } else if row.status == Status::Partial {
                let reason = reason(&row.proof).to_owned();
                row.proof = if all.is_empty() { reason } else { format!("{reason} {BY}{all})") };
            } else {
                if row.status == Status::Done {
                    row.status = Status::Open;
                }
                if row.status == Status::Open {
                    row.proof.clear();
                }
                for tag in tags.iter().filter(|tag| tag.id == row.id) {
                    problems.push(format!(
                        "{}:{}: `proves-part` tag for {}, which is {}: make the row `partial` by hand and say what is missing",
                        tag.path,
                        tag.line,
                        row.id,
                        row.status.name()
                    ));
                }
            }
        }
        for tag in tags.iter().filter(|tag| self.rows.iter().all(|row| row.id != tag.id)) {
            problems.push(format!("{}:{}: `{}` is not a row of {PATH}", tag.path, tag.line, tag.id));
        }
    }

    /// Partial and declined rows say why.
    pub(super) fn check_reasons(&self, problems: &mut Vec<String>) {
        for (row, line) in self.rows.iter().zip(2..) {
            let by_hand = matches!(row.status, Status::Partial | Status::Declined);
            if by_hand && reason(&row.proof).is_empty() {
                let status = row.status.name();
                problems.push(format!("{PATH}:{line}: {} is {status} without a reason in `proof`", row.id));
            }
        }
    }
}

/// The hand-written part of a proof column.
fn reason(proof: &str) -> &str {
    proof.find(BY).map_or(proof, |at| &proof[..at]).trim()
}

fn parse_row(line: &str) -> Result<Row, String> {
    let cells: Vec<&str> = line.split('\t').collect();
    let &[id, capability, package, check, status, proof] = cells.as_slice() else {
        return Err(format!("{} columns instead of six", cells.len()));
    };
    let status = Status::ALL
        .into_iter()
        .find(|s| s.name() == status)
        .ok_or_else(|| format!("{id}: unknown status `{status}`"))?;
    Ok(Row {
        id: id.to_owned(),
        columns: [capability, package, check].map(str::to_owned),
        status,
        proof: proof.trim().to_owned(),
    })
}

/// The ids the file must have, in order: two digits at least.
fn canonical_ids() -> Vec<String> {
    let ids =
        SYSTEMS.iter().flat_map(|(_, prefix, last)| (1..=*last).map(move |n| format!("{prefix}-{n:02}")));
    ids.filter(|id| !UNUSED.contains(&id.as_str())).collect()
}

fn check_ids(rows: &[Row], problems: &mut Vec<String>) {
    let before = problems.len();
    let canonical = canonical_ids();
    let known: BTreeSet<&str> = canonical.iter().map(String::as_str).collect();
    let mut seen = BTreeSet::new();
    for row in rows {
        if !known.contains(row.id.as_str()) {
            problems.push(format!("{PATH}: `{}` is not a known id", row.id));
        } else if !seen.insert(row.id.as_str()) {
            problems.push(format!("{PATH}: {} appears twice", row.id));
        }
    }
    problems.extend(known.difference(&seen).map(|id| format!("{PATH}: {id} is missing")));
    if problems.len() == before
        && let Some((row, id)) = rows.iter().zip(&canonical).find(|(row, id)| row.id != **id)
    {
        problems.push(format!("{PATH}: {} stands where {id} belongs", row.id));
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::rust_text::Function;

    /// Every row, open.
    pub(in crate::ledger) fn full() -> Ledger {
        let row = |id: String| Row {
            id,
            columns: ["it does".to_owned(), "sim-math".to_owned(), "it did".to_owned()],
            status: Status::Open,
            proof: String::new(),
        };
        Ledger { rows: canonical_ids().into_iter().map(row).collect() }
    }

    fn tag(id: &str, part: bool, test: &str) -> Tag {
        let function = Function { at: 0, name: test.to_owned(), modules: vec!["tests".to_owned()] };
        Tag { id: id.to_owned(), part, path: "crates/a/src/b.rs".to_owned(), line: 7, test: Some(function) }
    }

    fn applied(ledger: &mut Ledger, tags: &[Tag]) -> Vec<String> {
        let mut problems = Vec::new();
        ledger.apply(tags, &mut problems);
        ledger.check_reasons(&mut problems);
        problems
    }

    #[test]
    fn text_survives_a_round_trip() {
        let ledger = full();
        assert_eq!(ledger.rows.len(), 601);
        assert_eq!(Ledger::parse(&ledger.to_text()), Ok(ledger));
    }

    #[test]
    fn missing_unknown_repeated_and_misplaced_rows_are_reported() {
        let good = full().to_text();
        let row = "FON-99\tit does\tsim-math\tit did\topen\t\n";
        for (broken, expected) in [
            (good.replace(row, ""), "FON-99 is missing"),
            (good.replace(row, &row.replace("99", "142")), "`FON-142` is not a known id"),
            (good.replace(row, &row.repeat(2)), "FON-99 appears twice"),
            (good.replace(row, "") + row, "FON-100 stands where FON-99 belongs"),
            (good.replace("FON-09\t", "FON-9\t"), "`FON-9` is not a known id"),
            (good.replace(row, &row.replace("open", "finished")), "unknown status `finished`"),
            (good.replace(row, "FON-99\topen\n"), "2 columns instead of six"),
            (good.replace("capability", "ability"), "the header must be"),
        ] {
            let problems = Ledger::parse(&broken).unwrap_err();
            assert!(problems.iter().any(|p| p.contains(expected)), "{expected}: {problems:?}");
        }
    }

    #[test]
    fn tags_make_rows_done_with_sorted_proofs_and_lost_tags_reopen_them() {
        let mut ledger = full();
        let tags = [tag("MIR-02", false, "z"), tag("MIR-02", false, "a"), tag("MIR-02", false, "a")];
        assert_eq!(applied(&mut ledger, &tags), [""; 0]);
        assert_eq!(ledger.rows[1].status, Status::Done);
        assert_eq!(ledger.rows[1].proof, "crates/a/src/b.rs::a; crates/a/src/b.rs::z");
        assert_eq!(applied(&mut ledger, &[]), [""; 0]);
        assert_eq!(ledger, full());
    }

    #[test]
    fn hand_written_rows_stay_until_a_tag_proves_them() {
        let mut ledger = full();
        for (row, status) in [(0, Status::Partial), (1, Status::Declined)] {
            ledger.rows[row].status = status;
            ledger.rows[row].proof = "no cylinders yet".to_owned();
        }
        let before = ledger.clone();
        assert_eq!(applied(&mut ledger, &[]), [""; 0]);
        assert_eq!(ledger, before);
        assert_eq!(applied(&mut ledger, &[tag("MIR-01", false, "a"), tag("MIR-02", false, "b")]), [""; 0]);
        assert!(ledger.rows[..2].iter().all(|row| row.status == Status::Done));
        assert_eq!(ledger.rows[0].proof, "crates/a/src/b.rs::a");
    }

    #[test]
    fn part_tags_support_a_partial_row_and_keep_its_reason() {
        let mut ledger = full();
        ledger.rows[0].status = Status::Partial;
        ledger.rows[0].proof = "no cylinders (yet)".to_owned();
        let before = ledger.clone();
        for _ in 0..2 {
            assert_eq!(applied(&mut ledger, &[tag("MIR-01", true, "a")]), [""; 0]);
            assert_eq!(ledger.rows[0].status, Status::Partial);
            assert_eq!(ledger.rows[0].proof, "no cylinders (yet) (by: crates/a/src/b.rs::a)");
        }
        assert_eq!(applied(&mut ledger, &[]), [""; 0]);
        assert_eq!(ledger, before);
    }

    #[test]
    fn part_tags_elsewhere_unknown_ids_and_missing_reasons_are_problems() {
        assert!(applied(&mut full(), &[tag("MIR-01", true, "a")])[0].contains("which is open"));
        assert!(
            applied(&mut full(), &[tag("MIR-999", false, "a")])[0].contains("b.rs:7: `MIR-999` is not a row")
        );
        for status in [Status::Partial, Status::Declined] {
            let mut ledger = full();
            ledger.rows[2].status = status;
            assert!(applied(&mut ledger, &[])[0].contains("docs/ledger.tsv:4: MIR-03 is"));
        }
    }
}
