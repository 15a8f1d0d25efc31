//! The nearest known word to a misspelt one.

/// The candidate within two thirds of its length in edits (insert, delete, replace, swap of neighbours), nearest first,
/// the earlier one in a tie; `None` if nothing is near.
#[must_use]
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // Hostile words of a megabyte are near to nothing.
    if word.len() > 64 {
        return None;
    }
    let mut best: Option<(usize, &str)> = None;
    for candidate in candidates {
        let edits = edits(&word.to_lowercase(), candidate);
        if edits <= candidate.len() * 2 / 5 + 1 && best.is_none_or(|(least, _)| edits < least) {
            best = Some((edits, candidate));
        }
    }
    best.map(|(_, word)| word)
}

/// Edits from one word to another (optimal string alignment), O(n m).
fn edits(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    // Row i starts with i deletions, the first row is insertions only.
    let mut rows: Vec<Vec<usize>> = (0..=a.len()).map(|i| (i..=i + b.len()).collect()).collect();
    for i in 1..=a.len() {
        for j in 1..=b.len() {
            let replaced = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut least = replaced.min(rows[i - 1][j] + 1).min(rows[i][j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                least = least.min(rows[i - 2][j - 2] + 1);
            }
            rows[i][j] = least;
        }
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edits_are_those_counted_by_hand() {
        for (a, b, n) in [("", "", 0), ("abc", "abc", 0), ("radus", "radius", 1), ("ardius", "radius", 1)] {
            assert_eq!(edits(a, b), n, "{a} {b}");
        }
        assert_eq!(edits("kitten", "sitting"), 3);
    }

    #[test]
    fn near_words_are_found_and_far_ones_are_not() {
        let words = ["radius", "restitution", "position"];
        assert_eq!(nearest("radus", words), Some("radius"));
        assert_eq!(nearest("Positon", words), Some("position"));
        assert_eq!(nearest("zebra", words), None);
        assert_eq!(nearest(&"r".repeat(1000), words), None);
    }
}
