//! Tokens as one line of text, spaced as a reader would write them.

use proc_macro2::{Delimiter, Spacing, TokenStream, TokenTree};
use quote::ToTokens;

/// Writes tokens in one line.
pub fn tidy(tokens: &impl ToTokens) -> String {
    let mut words = Vec::new();
    split(tokens.to_token_stream(), &mut words);
    let mut text = String::new();
    for (at, word) in words.iter().enumerate() {
        // A comma before a closing bracket comes from a list that was written in several lines.
        let next = words.get(at + 1).map(String::as_str);
        if word == "," && matches!(next, Some(")" | ">" | "]")) {
            continue;
        }
        if at > 0 && is_apart(&words[at - 1], word) {
            text.push(' ');
        }
        text += word;
    }
    text
}

fn split(tokens: TokenStream, words: &mut Vec<String>) {
    // Punctuation that continues the last word: `::`, `->`, a lifetime.
    let mut is_joint = false;
    for token in tokens {
        match token {
            TokenTree::Group(group) => {
                let (open, close) = match group.delimiter() {
                    Delimiter::Parenthesis => ("(", ")"),
                    Delimiter::Bracket => ("[", "]"),
                    Delimiter::Brace => ("{", "}"),
                    Delimiter::None => ("", ""),
                };
                words.extend(Some(open.to_owned()).filter(|open| !open.is_empty()));
                split(group.stream(), words);
                words.extend(Some(close.to_owned()).filter(|close| !close.is_empty()));
                is_joint = false;
            }
            TokenTree::Punct(punct) => {
                let symbol = punct.as_char();
                match words.last_mut() {
                    Some(last) if is_joint && is_compound(last, symbol) => last.push(symbol),
                    _ => words.push(symbol.to_string()),
                }
                is_joint = punct.spacing() == Spacing::Joint;
            }
            other => {
                match words.last_mut() {
                    Some(last) if is_joint && last == "'" => *last += &other.to_string(),
                    _ => words.push(other.to_string()),
                }
                is_joint = false;
            }
        }
    }
}

fn is_compound(word: &str, symbol: char) -> bool {
    matches!((word, symbol), (":", ':') | ("-" | "=", '>') | ("." | "..", '.') | ("..", '='))
}

/// Whether a space stands between two words.
fn is_apart(left: &str, right: &str) -> bool {
    let is_word = left.ends_with(|symbol: char| symbol.is_alphanumeric() || symbol == '_');
    match (left, right) {
        (_, "," | ";" | ":" | "." | "?" | ")" | "]" | ">") => false,
        ("(" | "[" | "<" | "&" | "::" | "." | "!" | "?" | "#" | "*" | "..", _) => false,
        (_, "(" | "<" | "::") if is_word || left == ">" => left == "where" || left == "mut",
        _ => true,
    }
}
