//! Parameters of puzzles: names, defaults, help, the flags that set them, and values as text.

use std::borrow::Cow;
use std::collections::BTreeMap;

use crate::digest::mix;
use crate::error::SpaceError;

/// Values of parameters as text, by name. A job records them.
pub type Parameters = BTreeMap<String, String>;

/// One parameter of a puzzle.
///
/// ```
/// use strata_space::Parameter;
///
/// const PARAMETERS: &[Parameter] = &[
///     Parameter::positional("size", "pancakes, 2 to 15"),
///     Parameter::optional("burnt", "no", "whether pancakes have a burnt side: yes or no")
///         .short('b')
///         .one_of(&[("no", "Both sides are equal"), ("yes", "Burnt sides go down")]),
///     Parameter::EXHAUST,
/// ];
/// # assert_eq!(PARAMETERS[1].flag.short, Some('b'));
/// ```
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Parameter {
    /// Name in records of jobs, and of the flag unless [`Flag::long`] has another.
    pub name: &'static str,
    /// Whether it is given by position, without a flag. It then has no default.
    pub positional: bool,
    /// The default; a description if it depends on other parameters.
    pub default: Option<&'static str>,
    /// Meaning and range.
    pub help: &'static str,
    /// Spelling on the command line, unless the parameter is positional.
    pub flag: Flag,
}

/// Spelling of a parameter on the command line.
///
/// Puzzles of one program share a flag if their parameters have one name. Long name, short name,
/// alias and [`Values::Switch`] must then be the same.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Flag {
    /// Long name, if it is not the parameter's.
    pub long: Option<&'static str>,
    /// Short name of one letter.
    pub short: Option<char>,
    /// Another long name.
    pub alias: Option<&'static str>,
    /// Placeholder of the value in help texts.
    pub value_name: &'static str,
    /// Values that are accepted before the puzzle reads them.
    pub values: Values,
    /// Help, if it is not the parameter's.
    pub help: Option<&'static str>,
    /// An example value, appended to the help together with the puzzle's name.
    pub example: Option<&'static str>,
    /// Whether the parameter means the same in many puzzles. Help texts then do not name the
    /// puzzle.
    pub general: bool,
    /// Whether `@` and the name of a file stand for the content of the file, as [`file_value`]
    /// writes it.
    pub takes_file: bool,
}

/// Values that a flag accepts.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Values {
    /// Any word.
    Word,
    /// A state in text form, which may begin with a hyphen.
    State,
    /// A whole number below 2^32.
    Number,
    /// One of these words, each with its meaning.
    OneOf(&'static [(&'static str, &'static str)]),
    /// No value: the flag alone sets the parameter to `true`.
    Switch,
    /// The name of a file. Its content is the parameter's value, as [`file_value`] writes it.
    File,
}

impl Flag {
    const PLAIN: Flag = Flag {
        long: None,
        short: None,
        alias: None,
        value_name: "VALUE",
        values: Values::Word,
        help: None,
        example: None,
        general: false,
        takes_file: false,
    };
}

impl Parameter {
    /// The parameter `exhaust`, for spaces that can be listed beyond their goal.
    pub const EXHAUST: Parameter = Parameter::optional(
        "exhaust",
        "false",
        "list the whole reachable space instead of stopping at the goal",
    )
    .switch()
    .flag_help("Search the whole reachable space and print its radius")
    .general();

    /// Whether this switch is on in `parameters`.
    #[must_use]
    pub fn is_on(&self, parameters: &Parameters) -> bool {
        parameters.get(self.name).is_some_and(|value| value == "true")
    }

    /// A parameter that is given by position and has no default.
    pub const fn positional(name: &'static str, help: &'static str) -> Parameter {
        Parameter { name, positional: true, default: None, help, flag: Flag::PLAIN }
    }

    /// A file that is given by position. Its content is the value, so that a job needs no file.
    pub const fn file(name: &'static str, help: &'static str) -> Parameter {
        let mut parameter = Parameter::positional(name, help);
        parameter.flag.values = Values::File;
        parameter
    }

    /// A parameter that is given by flag.
    pub const fn optional(
        name: &'static str,
        default: &'static str,
        help: &'static str,
    ) -> Parameter {
        Parameter { name, positional: false, default: Some(default), help, flag: Flag::PLAIN }
    }

    /// The parameter `symmetry`: `on` or `off`.
    pub const fn symmetry(default: &'static str, help: &'static str) -> Parameter {
        Parameter::optional("symmetry", default, help)
            .one_of(&[("on", "On"), ("off", "Off")])
            .value_name("on/off")
            .flag_help("Search states that are symmetric to each other once [default: on]")
            .general()
    }

    /// The parameter `start`: the state to begin with, in text form. With [`Self::goal`], paths
    /// are also found in parts, without all layers on disk.
    pub const fn start(
        default: &'static str,
        help: &'static str,
        example: &'static str,
    ) -> Parameter {
        let start = Parameter::optional("start", default, help).state();
        start.flag_help("The position to begin with").example(example)
    }

    /// The parameter `goal`: the state to end with, in text form.
    pub const fn goal(default: &'static str, help: &'static str) -> Parameter {
        let goal = Parameter::optional("goal", default, help).state();
        goal.flag_help("The position to end with, in the same form")
    }

    /// Sets the long name of the flag.
    #[must_use]
    pub const fn long(mut self, long: &'static str) -> Parameter {
        self.flag.long = Some(long);
        self
    }

    /// Sets the short name of the flag.
    #[must_use]
    pub const fn short(mut self, short: char) -> Parameter {
        self.flag.short = Some(short);
        self
    }

    /// Sets a second long name of the flag.
    #[must_use]
    pub const fn alias(mut self, alias: &'static str) -> Parameter {
        self.flag.alias = Some(alias);
        self
    }

    /// Sets the placeholder of the flag's value in help texts.
    #[must_use]
    pub const fn value_name(mut self, name: &'static str) -> Parameter {
        self.flag.value_name = name;
        self
    }

    /// Sets the help text of the flag.
    #[must_use]
    pub const fn flag_help(mut self, help: &'static str) -> Parameter {
        self.flag.help = Some(help);
        self
    }

    /// Also accepts `@` and the name of a file, whose content is then the value.
    #[must_use]
    pub const fn or_file(mut self) -> Parameter {
        self.flag.takes_file = true;
        self
    }

    /// Accepts whole numbers below 2^32 only.
    #[must_use]
    pub const fn number(mut self) -> Parameter {
        self.flag.values = Values::Number;
        self.flag.value_name = "N";
        self
    }

    /// Accepts these words only, each given with its meaning.
    #[must_use]
    pub const fn one_of(mut self, words: &'static [(&'static str, &'static str)]) -> Parameter {
        self.flag.values = Values::OneOf(words);
        self
    }

    /// Makes the flag a switch: it takes no value and sets the parameter to `true`.
    #[must_use]
    pub const fn switch(mut self) -> Parameter {
        self.flag.values = Values::Switch;
        self
    }

    const fn state(mut self) -> Parameter {
        self.flag.values = Values::State;
        self.flag.value_name = "POSITION";
        self.general()
    }

    const fn example(mut self, example: &'static str) -> Parameter {
        self.flag.example = Some(example);
        self
    }

    const fn general(mut self) -> Parameter {
        self.flag.general = true;
        self
    }

    /// The value as messages and names show it: a hash if the value is the content of a file. If `@` and a
    /// file's name may be given instead of the value, a value without backslashes is shown itself.
    pub fn shown(&self, value: &str) -> String {
        let is_long = self.flag.takes_file && value.contains('\\');
        match self.flag.values {
            values if values == Values::File || is_long => format!("hash-{:016x}", hash(value)),
            _ => value.to_owned(),
        }
    }

    /// Long name of the flag.
    pub const fn long_flag(&self) -> &'static str {
        match self.flag.long {
            Some(long) => long,
            None => self.name,
        }
    }
}

/// The most bytes of a file whose content is the value of a parameter.
pub const MAX_FILE_BYTES: usize = 64 << 10;

/// The content of a file as a parameter's value, in one line. A line feed becomes `\n`, a tab `\t`, a
/// backslash `\\`, and another control character `\x` and two hexadecimal digits. Other ends of lines
/// count as line feeds; see [`with_line_feeds`].
pub fn file_value(content: &str) -> String {
    let mut value = String::with_capacity(content.len());
    for c in with_line_feeds(content).chars() {
        match c {
            '\n' => value.push_str("\\n"),
            '\t' => value.push_str("\\t"),
            '\\' => value.push_str("\\\\"),
            c if c.is_control() => value.push_str(&format!("\\x{:02x}", u32::from(c))),
            c => value.push(c),
        }
    }
    value
}

/// The content of a file from a parameter's value: the inverse of [`file_value`]. None if the value has a
/// control character or an escape that [`file_value`] does not write.
pub fn file_content(value: &str) -> Option<String> {
    let mut content = String::with_capacity(value.len());
    let mut chars = value.chars();
    while let Some(c) = chars.next() {
        content.push(match c {
            '\\' => match chars.next()? {
                'n' => '\n',
                't' => '\t',
                '\\' => '\\',
                'x' => control(chars.next()?, chars.next()?)?,
                _ => return None,
            },
            c if c.is_control() => return None,
            c => c,
        });
    }
    Some(content)
}

/// The control character with these hexadecimal digits; None if [`file_value`] writes it otherwise.
fn control(high: char, low: char) -> Option<char> {
    let is_digit = |c: char| matches!(c, '0'..='9' | 'a'..='f');
    let digits =
        [high, low].into_iter().all(is_digit).then(|| [high, low].iter().collect::<String>())?;
    let c = char::from(u8::from_str_radix(&digits, 16).ok()?);
    (c.is_control() && !matches!(c, '\n' | '\t' | '\r')).then_some(c)
}

/// The text with a line feed at each end of line, in place of a carriage return with or without a line
/// feed.
pub fn with_line_feeds(text: &str) -> Cow<'_, str> {
    if text.contains('\r') {
        text.replace("\r\n", "\n").replace('\r', "\n").into()
    } else {
        text.into()
    }
}

/// FNV-1a of a text, mixed.
fn hash(text: &str) -> u64 {
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    mix(text.bytes().fold(0xcbf2_9ce4_8422_2325, step))
}

/// A puzzle with its positional parameters as a usage line shows them: `panex LEVEL`.
pub fn usage(name: &str, parameters: &[Parameter]) -> String {
    let positional = parameters.iter().filter(|parameter| parameter.positional);
    let words = positional.map(|parameter| parameter.name.to_uppercase());
    [name.to_owned()].into_iter().chain(words).collect::<Vec<_>>().join(" ")
}

/// Typed access to the parameters of one puzzle.
#[derive(Copy, Clone, Debug)]
pub struct ParameterReader<'a> {
    puzzle: &'static str,
    known: &'static [Parameter],
    given: &'a Parameters,
}

impl<'a> ParameterReader<'a> {
    /// Access to the parameters given for a puzzle.
    pub fn new(
        puzzle: &'static str,
        known: &'static [Parameter],
        given: &'a Parameters,
    ) -> ParameterReader<'a> {
        ParameterReader { puzzle, known, given }
    }

    /// Whether a value was given.
    pub fn is_given(&self, name: &str) -> bool {
        self.given.contains_key(name)
    }

    /// The value as text.
    pub fn text(&self, name: &str) -> Option<&'a str> {
        self.given.get(name).map(String::as_str)
    }

    /// The value of a parameter without a default.
    ///
    /// # Errors
    /// [`SpaceError::Arguments`] if it is missing.
    pub fn required(&self, name: &str) -> Result<&'a str, SpaceError> {
        self.text(name).ok_or_else(|| SpaceError::Arguments {
            space: self.puzzle.into(),
            expected: name.into(),
            usage: usage(self.puzzle, self.known),
        })
    }

    /// The value as a number.
    ///
    /// # Errors
    /// [`SpaceError::Malformed`] if it is not a whole number below 2^32;
    /// [`SpaceError::Arguments`] if it is missing and positional.
    pub fn number(&self, name: &str) -> Result<Option<u32>, SpaceError> {
        if self.known.iter().any(|parameter| parameter.name == name && parameter.positional) {
            self.required(name)?;
        }
        let Some(value) = self.text(name) else { return Ok(None) };
        let number = value.parse().ok();
        let number = number.filter(|_| value.bytes().all(|byte| byte.is_ascii_digit()));
        let malformed = || SpaceError::Malformed {
            name: name.into(),
            value: value.into(),
            expected: "a whole number".into(),
        };
        Ok(Some(number.ok_or_else(malformed)?))
    }

    /// The index of the value among `choices`; None if the value is missing.
    ///
    /// # Errors
    /// [`SpaceError::Malformed`] if the value is not among them.
    pub fn choice(&self, name: &str, choices: &[&str]) -> Result<Option<usize>, SpaceError> {
        let Some(value) = self.text(name) else { return Ok(None) };
        let index = choices.iter().position(|choice| *choice == value).ok_or_else(|| {
            let quoted: Vec<String> = choices.iter().map(|choice| format!("'{choice}'")).collect();
            SpaceError::Malformed {
                name: name.into(),
                value: value.into(),
                expected: quoted.join(" or "),
            }
        })?;
        Ok(Some(index))
    }

    /// Whether a switch such as [`Parameter::EXHAUST`] is `true`; false if it is `false` or missing.
    ///
    /// # Errors
    /// [`SpaceError::Malformed`] if the value is something else.
    pub fn switch(&self, name: &str) -> Result<bool, SpaceError> {
        Ok(self.choice(name, &["false", "true"])? == Some(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: &[Parameter] = &[
        Parameter::positional("size", "how many"),
        Parameter::optional("speed", "slow", "how fast").one_of(&[("slow", ""), ("fast", "")]),
        Parameter::EXHAUST,
    ];

    fn given(pairs: &[(&str, &str)]) -> Parameters {
        pairs.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect()
    }

    #[test]
    fn values_are_read_by_their_types() {
        let given = given(&[("size", "7"), ("speed", "fast"), ("exhaust", "true")]);
        let read = ParameterReader::new("toy", KNOWN, &given);
        assert_eq!(read.number("size"), Ok(Some(7)));
        assert_eq!(read.choice("speed", &["slow", "fast"]), Ok(Some(1)));
        assert_eq!(read.switch("exhaust"), Ok(true));
        assert_eq!((read.text("speed"), read.is_given("weight")), (Some("fast"), false));
    }

    #[test]
    fn file_contents_become_values_of_one_line_and_back() {
        for content in ["", "a\n\tb\\n", "é\n\n", "\0\u{7f}\u{9f}x"] {
            let value = file_value(content);
            assert!(!value.contains(char::is_control));
            assert_eq!(file_content(&value).as_deref(), Some(content));
        }
        assert_eq!(file_value("a\r\nb\rc\n\rd\u{7}"), "a\\nb\\nc\\n\\nd\\x07");
        for wrong in ["\\", "\\x", "\\x0", "\\x0A", "\\x0a", "\\x0d", "\\x41", "\\xé", "a\nb"] {
            assert_eq!(file_content(wrong), None);
        }
    }

    #[test]
    fn files_are_shown_by_their_hash() {
        let file = Parameter::file("file", "a file");
        assert_eq!(file.shown("a").len(), 21);
        assert_ne!(file.shown("a"), file.shown("b"));
        assert_eq!(Parameter::EXHAUST.shown("true"), "true");
        let goal = Parameter::goal("none", "a state").or_file();
        assert_eq!(goal.shown("1 2"), "1 2");
        assert_eq!(goal.shown(&file_value("1 2\n2 1")).len(), 21);
    }

    #[test]
    fn missing_and_malformed_values_are_named() {
        let pairs = [("speed", "late"), ("exhaust", "yes"), ("weight", "x"), ("height", "+7")];
        let given = given(&pairs);
        let read = ParameterReader::new("toy", KNOWN, &given);
        let errors = [
            (read.number("size").unwrap_err(), "toy takes size: toy SIZE"),
            (read.number("weight").unwrap_err(), "weight must be a whole number, not 'x'"),
            (read.number("height").unwrap_err(), "height must be a whole number, not '+7'"),
            (
                read.choice("speed", &["slow", "fast"]).unwrap_err(),
                "speed must be 'slow' or 'fast', not 'late'",
            ),
            (read.switch("exhaust").unwrap_err(), "exhaust must be 'false' or 'true', not 'yes'"),
        ];
        for (error, message) in errors {
            assert_eq!(error.to_string(), message);
        }
    }
}
