//! Rust source as text: where it is code, where comment, and which functions it declares.
//!
//! Not a parser. Enough of the lexical rules (nested block comments, raw strings, character literals
//! against lifetimes) to never take a comment or a string for code.

/// One source text taken apart; all parts have the same bytes per line as the source, blanked by spaces.
#[derive(Debug, Clone)]
pub(crate) struct Masked {
    /// Code with comments and the inside of string and character literals blanked.
    pub(crate) code: String,
    /// Comments only.
    pub(crate) comments: String,
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Code,
    Comment,
    Literal,
}

impl Masked {
    /// Takes a source text apart.
    pub(crate) fn new(text: &str) -> Self {
        let kinds = classify(text.as_bytes());
        let keep = |wanted: Kind| {
            let mut out = String::with_capacity(text.len());
            for (at, c) in text.char_indices() {
                if c == '\n' || kinds[at] == wanted {
                    out.push(c);
                } else {
                    out.extend(std::iter::repeat_n(' ', c.len_utf8()));
                }
            }
            out
        };
        Self { code: keep(Kind::Code), comments: keep(Kind::Comment) }
    }
}

fn classify(bytes: &[u8]) -> Vec<Kind> {
    let mut kinds = vec![Kind::Code; bytes.len()];
    let mut i = 0;
    while i < bytes.len() {
        let rest = &bytes[i..];
        let in_word = i > 0 && is_word(bytes[i - 1]);
        let (kind, len) = if rest.starts_with(b"//") {
            (Kind::Comment, rest.iter().position(|&b| b == b'\n').unwrap_or(rest.len()))
        } else if rest.starts_with(b"/*") {
            (Kind::Comment, block_comment(rest))
        } else if let Some(len) = raw_string(rest).filter(|_| !in_word) {
            (Kind::Literal, len)
        } else if rest[0] == b'"' {
            (Kind::Literal, quoted(rest, b'"'))
        } else if rest[0] == b'\'' && is_char_literal(rest) {
            (Kind::Literal, quoted(rest, b'\''))
        } else {
            (Kind::Code, 1)
        };
        kinds[i..i + len].fill(kind);
        i += len;
    }
    kinds
}

fn is_word(b: u8) -> bool {
    b.is_ascii_alphanumeric() || b == b'_'
}

fn block_comment(rest: &[u8]) -> usize {
    let (mut depth, mut i) = (0_usize, 0);
    while i < rest.len() {
        if rest[i..].starts_with(b"/*") {
            depth += 1;
            i += 2;
        } else if rest[i..].starts_with(b"*/") {
            depth -= 1;
            i += 2;
            if depth == 0 {
                return i;
            }
        } else {
            i += 1;
        }
    }
    rest.len()
}

/// Length of `r"..."`, `r#"..."#`, `br"..."` or `cr"..."` at the start of `rest`.
fn raw_string(rest: &[u8]) -> Option<usize> {
    let prefix = if matches!(rest[0], b'b' | b'c') { 2 } else { 1 };
    if rest.get(prefix - 1) != Some(&b'r') {
        return None;
    }
    let hashes = rest[prefix..].iter().take_while(|&&b| b == b'#').count();
    let open = prefix + hashes;
    if rest.get(open) != Some(&b'"') {
        return None;
    }
    let mut close = vec![b'"'];
    close.extend(std::iter::repeat_n(b'#', hashes));
    let inside = &rest[open + 1..];
    let end = inside.windows(close.len()).position(|w| w == close);
    Some(end.map_or(rest.len(), |at| open + 1 + at + close.len()))
}

fn quoted(rest: &[u8], quote: u8) -> usize {
    let mut i = 1;
    while i < rest.len() {
        match rest[i] {
            b'\\' => i += 2,
            b if b == quote => return i + 1,
            _ => i += 1,
        }
    }
    rest.len()
}

/// `'x'` and `'\n'` are literals, `'a` alone is a lifetime or a label.
fn is_char_literal(rest: &[u8]) -> bool {
    match rest.get(1) {
        Some(b'\\') => true,
        Some(&b) => {
            let len = match b {
                0..0x80 => 1,
                0x80..0xe0 => 2,
                0xe0..0xf0 => 3,
                _ => 4,
            };
            rest.get(1 + len) == Some(&b'\'')
        }
        None => false,
    }
}

/// A function declared in a source text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Function {
    /// Byte offset of its `fn`.
    pub(crate) at: usize,
    /// Its name.
    pub(crate) name: String,
    /// Modules written in this file around it, outermost first.
    pub(crate) modules: Vec<String>,
}

/// All functions in masked code, with the inline modules around each.
pub(crate) fn functions(code: &str) -> Vec<Function> {
    let tokens = tokens(code);
    let mut found = Vec::new();
    let mut modules: Vec<(&str, usize)> = Vec::new();
    let mut depth = 0_usize;
    for (i, &(at, token)) in tokens.iter().enumerate() {
        let next = |k: usize| tokens.get(i + k).map_or("", |t| t.1);
        match token {
            "{" => depth += 1,
            "}" => {
                depth = depth.saturating_sub(1);
                modules.retain(|m| m.1 <= depth);
            }
            "mod" if next(2) == "{" => modules.push((next(1), depth + 1)),
            "fn" if next(1).starts_with(|c: char| c.is_alphabetic() || c == '_') => {
                let modules = modules.iter().map(|m| m.0.to_owned()).collect();
                found.push(Function { at, name: next(1).to_owned(), modules });
            }
            _ => {}
        }
    }
    found
}

/// Words and single punctuation marks with their byte offsets.
pub(crate) fn tokens(code: &str) -> Vec<(usize, &str)> {
    let mut tokens = Vec::new();
    let mut chars = code.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        if c.is_alphanumeric() || c == '_' {
            let mut end = at + c.len_utf8();
            while let Some((_, c)) = chars.next_if(|(_, c)| c.is_alphanumeric() || *c == '_') {
                end += c.len_utf8();
            }
            tokens.push((at, &code[at..end]));
        } else if !c.is_whitespace() {
            tokens.push((at, &code[at..at + c.len_utf8()]));
        }
    }
    tokens
}

/// Line number, from 1, of a byte offset.
pub(crate) fn line_of(text: &str, at: usize) -> usize {
    text.as_bytes()[..at].iter().filter(|&&b| b == b'\n').count() + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_literals_are_not_code() {
        let text = "let a = \"todo // x\"; // fn hidden() {}\n/* fn /* b */ c() */ let r = r#\"fn d() \" {\"#;\n\
                    let q = '\"'; let l: &'static str = \"é\"; fn real<'a>(x: &'a u8) {}";
        let masked = Masked::new(text);
        assert_eq!(masked.code.len(), text.len());
        assert!(!masked.code.contains("todo") && !masked.code.contains("hidden"));
        assert!(masked.comments.contains("fn hidden()") && !masked.comments.contains("todo"));
        let names: Vec<_> = functions(&masked.code).into_iter().map(|f| f.name).collect();
        assert_eq!(names, ["real"]);
    }

    #[test]
    fn functions_know_the_inline_modules_around_them() {
        let code =
            "fn a() { if x { y() } }\nmod outer { mod inner { fn b() {} } fn c() {} }\nmod file;\nfn d() {}";
        let found: Vec<_> =
            functions(code).into_iter().map(|f| format!("{}::{}", f.modules.join("::"), f.name)).collect();
        assert_eq!(found, ["::a", "outer::inner::b", "outer::c", "::d"]);
    }

    #[test]
    fn an_unfinished_literal_ends_with_the_file() {
        for text in ["\"abc", "r#\"abc", "/* abc", "'\\", "'", "b", "r"] {
            assert_eq!(Masked::new(text).code.len(), text.len(), "{text}");
        }
    }

    #[test]
    fn lines_count_from_one() {
        assert_eq!((line_of("a\nb", 0), line_of("a\nb", 2)), (1, 2));
    }
}
