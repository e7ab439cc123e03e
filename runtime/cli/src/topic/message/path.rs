//! A part of a message by its path: `position.x`, `range[3]`.

use std::fmt;
use std::str::FromStr;

use super::Kind;

/// Fields from the outside in, and places in arrays.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Path(Vec<Step>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    Field(String),
    Place(usize),
}

impl FromStr for Path {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("{text:?} is no field: write it as position.x or range[3]");
        let mut steps = Vec::new();
        for part in text.split('.') {
            let (name, places) = part.find('[').map_or((part, ""), |at| part.split_at(at));
            if name.is_empty() {
                return Err(wrong());
            }
            steps.push(Step::Field(name.to_owned()));
            for place in places.split_inclusive(']') {
                let number = place.strip_prefix('[').and_then(|place| place.strip_suffix(']'));
                steps.push(Step::Place(number.and_then(|number| number.parse().ok()).ok_or_else(wrong)?));
            }
        }
        Ok(Self(steps))
    }
}

impl fmt::Display for Path {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, step) in self.0.iter().enumerate() {
            match step {
                Step::Field(name) => write!(out, "{}{name}", if at == 0 { "" } else { "." })?,
                Step::Place(place) => write!(out, "[{place}]")?,
            }
        }
        Ok(())
    }
}

impl Path {
    /// What the part is, and where it stands: first byte and bytes. The error says what there is.
    pub fn find(&self, whole: &Kind, bytes: usize) -> Result<(Kind, usize, usize), String> {
        let (mut kind, mut offset, mut bytes) = (whole.clone(), 0, bytes);
        for step in &self.0 {
            (kind, offset, bytes) = match (step, &kind) {
                (Step::Field(name), Kind::Message(fields)) => {
                    let names = || fields.iter().map(|field| field.name.as_str()).collect::<Vec<_>>().join(", ");
                    let field = fields.iter().find(|field| field.name == *name);
                    let field =
                        field.ok_or_else(|| format!("there is no field {name} in {self}; there are: {}", names()))?;
                    (field.kind.clone(), offset + field.offset, field.bytes)
                }
                (Step::Place(place), Kind::Array { element, bytes, length }) if place < length => {
                    ((**element).clone(), offset + place * bytes, *bytes)
                }
                (Step::Place(place), _) => return Err(format!("{self}: no place {place} in {}", kind.name())),
                (Step::Field(name), _) => return Err(format!("{self}: no field {name} in {}", kind.name())),
            };
        }
        Ok((kind, offset, bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topic::message::kind;
    use horus::message::description;
    use horus::messages::PointCloud100;

    fn find(path: &str) -> Result<(String, usize, usize), String> {
        let cloud = kind(&description::<PointCloud100>(), size_of::<PointCloud100>());
        let found = path.parse::<Path>()?.find(&cloud, size_of::<PointCloud100>())?;
        Ok((found.0.name(), found.1, found.2))
    }

    #[test]
    fn a_part_is_found_through_messages_and_arrays() {
        assert_eq!(find("sensor"), Ok(("u32".into(), 8, 4)));
        assert_eq!(find("point[2].y"), Ok(("f32".into(), 16 + 2 * 12 + 4, 4)));
        assert_eq!(find("point[99]").unwrap().1, 16 + 99 * 12);
        assert_eq!("a.b[3][1]".parse::<Path>().unwrap().to_string(), "a.b[3][1]");
    }

    #[test]
    fn a_part_that_is_not_there_is_told_with_those_that_are() {
        assert!(find("speed").unwrap_err().ends_with("there are: stamp_ns, sensor, count, point"));
        for path in ["point[100]", "point.x", "sensor[0]", "sensor.x"] {
            assert!(find(path).unwrap_err().starts_with(path), "{path}");
        }
        for path in ["", ".", "a..b", "a[", "a[x]", "a[1", "a[1]b", "[1]"] {
            assert!(find(path).unwrap_err().contains("is no field"), "{path}");
        }
    }
}
