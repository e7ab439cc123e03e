//! Values as a person types them: `forward: 0.5, turn: 0`, a part of YAML that JSON is a part of.
//!
//! The braces around the whole may be left out. A list stands in brackets, a text in either kind of quotes.

/// A value without a type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// A number, or anything else without quotes.
    Word(String),
    /// What stood in quotes.
    Text(String),
    List(Vec<Value>),
    Fields(Vec<(String, Value)>),
}

/// How deep lists and fields may lie in each other.
const DEPTH: usize = 16;

/// The value that `text` says; fields if nothing is there.
pub fn parse(text: &str) -> Result<Value, String> {
    let text = text.trim();
    let whole = if text.starts_with('{') { text.to_owned() } else { format!("{{{text}}}") };
    let mut reader = Reader { rest: &whole };
    let value = reader.value(DEPTH)?;
    match reader.peek() {
        None => Ok(value),
        Some(_) => Err(reader.wrong("the end")),
    }
}

struct Reader<'a> {
    rest: &'a str,
}

impl Reader<'_> {
    /// The next character that is no space.
    fn peek(&mut self) -> Option<char> {
        self.rest = self.rest.trim_start();
        self.rest.chars().next()
    }

    /// Takes `wanted` if it comes next.
    fn takes(&mut self, wanted: char) -> bool {
        let is_there = self.peek() == Some(wanted);
        if is_there {
            self.rest = &self.rest[wanted.len_utf8()..];
        }
        is_there
    }

    fn wrong(&self, wanted: &str) -> String {
        let found = if self.rest.is_empty() { "the end".to_owned() } else { format!("{:?}", self.rest) };
        format!("{wanted} was expected before {found}: write values as 'x: 0.5, list: [1, 2], part: {{y: 1}}'")
    }

    fn value(&mut self, depth: usize) -> Result<Value, String> {
        let deeper = depth.checked_sub(1).ok_or("the values lie too deep in each other")?;
        if self.takes('{') {
            return self.until('}', |this| this.field(deeper)).map(Value::Fields);
        }
        if self.takes('[') {
            return self.until(']', |this| this.value(deeper)).map(Value::List);
        }
        let (word, is_quoted) = self.word()?;
        Ok(if is_quoted { Value::Text(word) } else { Value::Word(word) })
    }

    fn field(&mut self, depth: usize) -> Result<(String, Value), String> {
        let (name, _is_quoted) = self.word()?;
        match self.takes(':') {
            true => Ok((name, self.value(depth)?)),
            false => Err(self.wrong(&format!("a colon after {name}"))),
        }
    }

    /// What `one` reads, again and again, with commas between, until `end`.
    fn until<R>(&mut self, end: char, one: impl Fn(&mut Self) -> Result<R, String>) -> Result<Vec<R>, String> {
        let mut all = Vec::new();
        while !self.takes(end) {
            all.push(one(self)?);
            if !self.takes(',') && self.peek() != Some(end) {
                return Err(self.wrong(&format!("a comma or {end}")));
            }
        }
        Ok(all)
    }

    /// A word, and whether it stood in quotes.
    fn word(&mut self) -> Result<(String, bool), String> {
        if let Some(quote @ ('"' | '\'')) = self.peek() {
            let (text, rest) = self.rest[1..].split_once(quote).ok_or_else(|| self.wrong("a closing quote"))?;
            self.rest = rest;
            return Ok((text.to_owned(), true));
        }
        let end = self.rest.find([',', ':', '[', ']', '{', '}']).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        if word.trim().is_empty() {
            return Err(self.wrong("a value"));
        }
        self.rest = rest;
        Ok((word.trim().to_owned(), false))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn word(text: &str) -> Value {
        Value::Word(text.to_owned())
    }

    fn fields<const COUNT: usize>(fields: [(&str, Value); COUNT]) -> Value {
        Value::Fields(fields.map(|(name, value)| (name.to_owned(), value)).into())
    }

    #[test]
    fn fields_are_read_with_braces_and_without_and_from_json() {
        let both = fields([("forward", word("0.5")), ("turn", word("-1e-3"))]);
        for text in ["forward: 0.5, turn: -1e-3", "{forward: 0.5, turn: -1e-3,}", "{\"forward\":0.5,'turn':-1e-3}"] {
            assert_eq!(parse(text).as_ref(), Ok(&both), "{text}");
        }
        let nested = fields([("at", fields([("x", word("1"))])), ("list", Value::List(vec![word("1"), word("2")]))]);
        assert_eq!(parse("at: {x: 1}, list: [1,2]"), Ok(nested));
        assert_eq!(parse("name_text: 'left, wheel'"), Ok(fields([("name_text", Value::Text("left, wheel".into()))])));
        assert_eq!(parse(" "), Ok(fields([])));
    }

    #[test]
    fn what_cannot_be_read_is_told_with_an_example() {
        for text in ["forward", "forward 0.5", "x: [1, 2", "x: {y: 1", "x: 1}", "x: 'open", ": 1", "x: 1 y: 2", "x:"] {
            let error = parse(text).unwrap_err();
            assert!(error.contains("x: 0.5"), "{text}: {error}");
        }
        assert!(parse(&format!("x: {}", "[".repeat(99))).is_err());
    }
}
