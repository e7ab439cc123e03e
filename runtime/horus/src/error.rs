//! The error of programs: any error, printed as a sentence.

use std::fmt;

/// What a program's `main` gives back.
pub type Result<T = ()> = std::result::Result<T, Error>;

/// Any error. It prints, with all its causes, as one sentence: also when `main` returns it, which prints errors by `Debug`.
pub struct Error(Box<dyn std::error::Error + Send + Sync>);

impl Error {
    /// An error that says this.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into().into())
    }

    /// The error inside.
    pub fn inner(&self) -> &(dyn std::error::Error + Send + Sync + 'static) {
        &*self.0
    }
}

impl<E: std::error::Error + Send + Sync + 'static> From<E> for Error {
    fn from(error: E) -> Self {
        Self(error.into())
    }
}

impl fmt::Display for Error {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut said = self.0.to_string();
        out.write_str(&said)?;
        let mut cause = self.0.source();
        while let Some(error) = cause {
            let text = error.to_string();
            // Many of our errors already end with what their cause says.
            if !said.contains(&text) {
                write!(out, ": {text}")?;
            }
            said = text;
            cause = error.source();
        }
        Ok(())
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_error_prints_as_a_sentence_for_people_and_for_main() {
        let parsed = || -> Result<u8> { Ok("300".parse()?) };
        let error = parsed().unwrap_err();
        assert_eq!(format!("{error:?}"), error.to_string());
        assert_eq!(Error::new("no robot").to_string(), "no robot");
    }
}
