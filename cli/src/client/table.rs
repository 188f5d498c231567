//! Aligned tables within a width. Empty columns are left out. If lines are too long, long texts are
//! cut, and spare columns are left out if that is not enough.

use std::io::{self, Write};

/// Greatest length of a line, unless all columns are requested.
pub(crate) const WIDTH: usize = 80;

/// Spaces between two cells.
const GAP: usize = 2;

/// Alignment of a column, and whether its cells may be cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Text that is never cut.
    Left,
    /// A number.
    Right,
    /// Text that is cut to no less than this length, if the table is too wide.
    Cut(usize),
}

/// A column: its heading and its kind.
pub(crate) type Column = (&'static str, Kind);

/// Writes a table. `width` is the greatest length of a line; with none, nothing is cut or left out.
/// `spare` names the columns that are left out if lines are too long, the first one first.
///
/// # Errors
/// Those of the output.
pub(crate) fn write<const N: usize>(
    columns: [Column; N],
    rows: &[[String; N]],
    (width, spare): (Option<usize>, &[&str]),
    out: &mut impl Write,
) -> io::Result<()> {
    // A column in which every cell is empty is left out.
    let mut used: Vec<usize> = (0..N)
        .filter(|at| rows.is_empty() || rows.iter().any(|row| !row[*at].is_empty()))
        .collect();
    let natural = |at: usize| {
        let cells = rows.iter().map(|row| row[at].chars().count());
        cells.max().unwrap_or(0).max(columns[at].0.len())
    };
    let least = |used: &[usize]| {
        let cells = used.iter().map(|at| match columns[*at].1 {
            Kind::Cut(least) => natural(*at).min(least),
            Kind::Left | Kind::Right => natural(*at),
        });
        cells.sum::<usize>() + GAP * used.len().saturating_sub(1)
    };
    for name in spare {
        if width.is_some_and(|width| least(&used) > width) {
            used.retain(|at| columns[*at].0 != *name);
        }
    }
    let mut widths: Vec<usize> = used.iter().map(|at| natural(*at)).collect();
    if let Some(width) = width {
        shrink(&mut widths, &used.iter().map(|at| columns[*at].1).collect::<Vec<_>>(), width);
    }
    let header = columns.map(|(name, _)| name.to_owned());
    for row in std::iter::once(&header).chain(rows) {
        let mut line = String::new();
        for (at, width) in used.iter().zip(&widths) {
            let cell = cut(&row[*at], *width);
            line += &match columns[*at].1 {
                Kind::Right => format!("{cell:>width$}"),
                Kind::Left | Kind::Cut(_) => format!("{cell:<width$}"),
            };
            line.push_str("  ");
        }
        writeln!(out, "{}", line.trim_end())?;
    }
    Ok(())
}

/// Narrows the widest column that may be cut, until the lines fit or no column can be narrowed.
fn shrink(widths: &mut [usize], kinds: &[Kind], width: usize) {
    let gaps = GAP * widths.len().saturating_sub(1);
    while widths.iter().sum::<usize>() + gaps > width {
        let spare = |(at, kind): (usize, &Kind)| match kind {
            Kind::Cut(least) if widths[at] > *least => Some((widths[at], at)),
            _ => None,
        };
        match kinds.iter().enumerate().filter_map(spare).max() {
            Some((_, at)) => widths[at] -= 1,
            None => return,
        }
    }
}

/// A text of at most `width` characters: a longer one ends with an ellipsis.
pub(crate) fn cut(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_owned();
    }
    let mut short: String = text.chars().take(width.saturating_sub(1)).collect();
    short.push('…');
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    const COLUMNS: [Column; 3] =
        [("job", Kind::Cut(6)), ("states", Kind::Right), ("name", Kind::Cut(4))];

    fn table(rows: &[[&str; 3]], width: Option<usize>) -> String {
        let rows: Vec<[String; 3]> = rows.iter().map(|row| row.map(str::to_owned)).collect();
        let mut out = Vec::new();
        write(COLUMNS, &rows, (width, &["name"]), &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn columns_are_aligned_and_empty_ones_left_out() {
        assert_eq!(
            table(&[["a-job", "1", ""], ["b", "1,234,567", ""]], Some(80)),
            "job       states\na-job          1\nb      1,234,567\n"
        );
        assert_eq!(table(&[], Some(80)), "job  states  name\n");
    }

    #[test]
    fn long_texts_are_cut_only_where_a_line_would_be_too_long() {
        let row = ["panex-10-aaaaaa", "1,234", "a-long-name"];
        assert_eq!(
            table(&[row], None),
            "job              states  name\npanex-10-aaaaaa   1,234  a-long-name\n"
        );
        let cut = table(&[row], Some(26));
        assert_eq!(cut, "job       states  name\npanex-1…   1,234  a-long-…\n");
        // No column may be left out, and texts that may not be cut stay whole.
        assert_eq!(table(&[row], Some(19)), "job          states\npanex-10-a…   1,234\n");
        assert!(table(&[row], Some(5)).ends_with("\npanex…   1,234\n"));
    }
}
