//! Plain text tables for the terminal.

/// Lays out rows under a header; the first column is left-aligned, the others right-aligned.
pub(crate) fn render(header: &[&str], rows: &[Vec<String>]) -> String {
    let mut widths: Vec<usize> = header.iter().map(|h| h.chars().count()).collect();
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let line = |cells: &[String]| {
        let mut text = String::new();
        for (i, (cell, width)) in cells.iter().zip(&widths).enumerate() {
            let gap = " ".repeat(width - cell.chars().count());
            text += &if i == 0 { format!("{cell}{gap}") } else { format!("  {gap}{cell}") };
        }
        text.trim_end().to_owned() + "\n"
    };
    let header: Vec<String> = header.iter().map(|h| (*h).to_owned()).collect();
    let rule: Vec<String> = widths.iter().map(|w| "-".repeat(*w)).collect();
    let mut text = line(&header) + &line(&rule);
    for row in rows {
        text += &line(row);
    }
    text
}

#[cfg(test)]
mod tests {
    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let rows = [vec!["a".to_owned(), "10".to_owned()], vec!["long".to_owned(), "±2".to_owned()]];
        assert_eq!(super::render(&["id", "n"], &rows), "id     n\n----  --\na     10\nlong  ±2\n");
    }
}
