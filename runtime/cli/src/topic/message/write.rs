//! A message's bytes from values that a person typed.

use horus::messages::set_text;

use super::value::{Value, parse};
use super::{Field, Kind, Number};

/// Writes what `text` says to `bytes`, those of a message of zeros; what it does not name stays zero.
///
/// # Errors
/// When a field is not there or a value does not fit, with the fields that there are.
pub fn write(kind: &Kind, text: &str, bytes: &mut [u8]) -> Result<(), String> {
    put(kind, &parse(text)?, bytes).map_err(|reason| {
        let fields: Vec<_> =
            kind.fields().iter().map(|field| format!("  {}: {}", field.name, field.kind.name())).collect();
        format!("{reason}; the fields are\n{}", fields.join("\n"))
    })
}

fn put(kind: &Kind, value: &Value, bytes: &mut [u8]) -> Result<(), String> {
    match (kind, value) {
        (Kind::Message(fields), Value::Fields(values)) => {
            values.iter().try_for_each(|(name, value)| put_field(fields, name, value, bytes))
        }
        (Kind::Array { length, .. }, Value::List(values)) if values.len() > *length => {
            Err(format!("a list of {} values does not fit into {}", values.len(), kind.name()))
        }
        (Kind::Array { element, bytes: size, .. }, Value::List(values)) => {
            let places = bytes.chunks_exact_mut(*size);
            values.iter().zip(places).try_for_each(|(value, place)| put(element, value, place))
        }
        (Kind::Number(number), Value::Word(word)) => number.write(word, bytes),
        (Kind::Text(_), Value::Word(text) | Value::Text(text)) => put_text(text, bytes),
        (Kind::Array { element, .. }, Value::Text(text)) if matches!(**element, Kind::Number(Number::Unsigned(1))) => {
            put_text(text, bytes)
        }
        _ => Err(format!("{} cannot be a {}: it is {}", shape(value), article(kind), kind.name())),
    }
}

/// Writes the field `name`, or, with dots, the field of a field.
fn put_field(fields: &[Field], name: &str, value: &Value, bytes: &mut [u8]) -> Result<(), String> {
    let (first, rest) = name.split_once('.').map_or((name, None), |(first, rest)| (first, Some(rest)));
    let field = fields.iter().find(|field| field.name == first);
    let field = field.ok_or_else(|| format!("there is no field {first}"))?;
    let place = &mut bytes[field.offset..][..field.bytes];
    let put = match rest {
        Some(rest) => put_field(field.kind.fields(), rest, value, place),
        None => put(&field.kind, value, place),
    };
    put.map_err(|reason| format!("{first}: {reason}"))
}

fn put_text(text: &str, bytes: &mut [u8]) -> Result<(), String> {
    set_text(bytes, text).map_err(|error| error.to_string())
}

fn shape(value: &Value) -> String {
    match value {
        Value::Word(word) => word.clone(),
        Value::Text(text) => format!("the text {text:?}"),
        Value::List(values) => format!("a list of {}", values.len()),
        Value::Fields(_) => "fields in braces".to_owned(),
    }
}

fn article(kind: &Kind) -> &'static str {
    match kind {
        Kind::Number(_) => "number",
        Kind::Array { .. } => "list",
        Kind::Text(_) => "text",
        Kind::Message(_) => "part with fields of its own",
        Kind::Unknown => "value",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topic::message::kind;
    use horus::message::{Message, description};
    use horus::messages::{CmdVel, JointCommand, Odometry, PointCloud100};

    fn written<M: Message>(text: &str) -> Result<M, String> {
        let mut message = horus::messages::zeroed::<M>();
        write(&kind(&description::<M>(), size_of::<M>()), text, message.as_mut_bytes()).map(|()| message)
    }

    #[test]
    fn fields_that_are_named_are_written_and_the_others_are_zero() {
        assert_eq!(written("turn: -0.5"), Ok(CmdVel { forward: 0.0, turn: -0.5 }));
        assert_eq!(written(""), Ok(CmdVel::default()));
        let odometry: Odometry =
            written("position: {x: 1}, linear.y: 2, pose_covariance: [3, 4], frame_text: 'odom'").unwrap();
        assert_eq!((odometry.position.x, odometry.linear.y), (1.0, 2.0));
        assert_eq!((&odometry.pose_covariance[..3], odometry.frame()), (&[3.0, 4.0, 0.0][..], "odom"));
        let cloud: PointCloud100 = written("count: 2, point: [{x: 1}, {y: 2}]").unwrap();
        assert_eq!((cloud.points()[0].x, cloud.points()[1].y), (1.0, 2.0));
        let joints: JointCommand = written("name_texts: [hip, \"left knee\"], mode_codes: [1, 0x2]").unwrap();
        assert_eq!((&joints.name_texts[1][..9], &joints.mode_codes[..3]), (&b"left knee"[..], &[1, 2, 0][..]));
    }

    #[test]
    fn what_is_not_there_or_does_not_fit_is_refused_with_the_fields() {
        let long = format!("frame_text: '{}'", "x".repeat(25));
        for (text, said) in [
            ("speed: 1", "there is no field speed;"),
            ("position.w: 1", "position: there is no field w;"),
            ("stamp_ns: -1", "stamp_ns: -1 is not possible: it is u64"),
            ("stamp_ns: [1]", "stamp_ns: a list of 1 cannot be a number"),
            ("position: 1", "position: 1 cannot be a part with fields"),
            ("position.x.y: 1", "position: x: there is no field y"),
            ("pose_covariance: 1", "pose_covariance: 1 cannot be a list"),
            (&format!("pose_covariance: [{}]", "1,".repeat(37)), "a list of 37 values does not fit into [f64; 36]"),
            (&long, "25 bytes does not fit"),
        ] {
            let error = written::<Odometry>(text).unwrap_err();
            assert!(error.contains(said) && error.contains("\n  position: {x: f64, y: f64, z: f64}\n"), "{error}");
        }
    }
}
