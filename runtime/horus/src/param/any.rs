//! Parameters of a kind that is known at run time: what other languages declare.

use super::value::{Kind, Number, Text, Value};
use super::{Param, Type};
use crate::app::App;

/// What is said of a parameter beside its name and its default.
#[derive(Clone, Debug, Default)]
pub struct Wishes<'a> {
    /// [`Param::unit`]; empty for none.
    pub unit: &'a str,
    /// [`Param::about`]; empty for none.
    pub about: &'a str,
    /// [`Param::range`]: the least and the greatest value, of the parameter's kind.
    pub range: Option<[Value; 2]>,
    /// [`Param::read_only`].
    pub read_only: bool,
}

/// A parameter, by its kind.
#[derive(Clone)]
pub enum AnyParam {
    /// Of [`Kind::Bool`].
    Bool(Param<bool>),
    /// Of [`Kind::I64`].
    I64(Param<i64>),
    /// Of [`Kind::F64`].
    F64(Param<f64>),
    /// Of [`Kind::Text`].
    Text(Param<Text>),
}

impl AnyParam {
    /// Declares one for the next node of `app`, as [`App::param`] does.
    ///
    /// # Errors
    /// When its range is of another kind than its default, or it can have none. All else that is wrong is told when the program starts.
    pub fn declare(app: &mut App, name: &str, default: &Value, wishes: &Wishes<'_>) -> crate::Result<Self> {
        if default.as_kind(default.kind()).is_none() {
            let kind = default.kind().noun();
            return Err(crate::Error::new(format!("parameter {name} is {kind}, and its default is none")));
        }
        let refused = || {
            let kind = default.kind().noun();
            crate::Error::new(format!(
                "the range of parameter {name} is not of {kind}, as its default is: give its least and greatest value"
            ))
        };
        let range = match &wishes.range {
            None => None,
            Some(values) => {
                let [least, greatest] = values.each_ref().map(|value| value.as_kind(default.kind()));
                Some((least.ok_or_else(refused)?, greatest.ok_or_else(refused)?))
            }
        };
        Ok(match (default, range) {
            (Value::Bool(value), None) => Self::Bool(said(app.param(name, *value), wishes)),
            (Value::I64(value), None) => Self::I64(said(app.param(name, *value), wishes)),
            (Value::F64(value), None) => Self::F64(said(app.param(name, *value), wishes)),
            (Value::Text(value), None) => Self::Text(said(app.param(name, value.as_str()), wishes)),
            (Value::I64(value), Some((Value::I64(least), Value::I64(greatest)))) => {
                Self::I64(ranged(said(app.param(name, *value), wishes), least, greatest))
            }
            (Value::F64(value), Some((Value::F64(least), Value::F64(greatest)))) => {
                Self::F64(ranged(said(app.param(name, *value), wishes), least, greatest))
            }
            _ => return Err(refused()),
        })
    }

    /// Its value in this cycle. Allocates for a text.
    pub fn get(&self) -> Value {
        match self {
            Self::Bool(param) => Value::Bool(param.get()),
            Self::I64(param) => Value::I64(param.get()),
            Self::F64(param) => Value::F64(param.get()),
            Self::Text(param) => Value::Text(param.get().to_string()),
        }
    }
}

fn said<T: Type>(param: Param<T>, wishes: &Wishes<'_>) -> Param<T> {
    let param = param.unit(wishes.unit).about(wishes.about);
    if wishes.read_only { param.read_only() } else { param }
}

fn ranged<T: Number>(param: Param<T>, least: T, greatest: T) -> Param<T> {
    param.range(least..=greatest)
}

impl Value {
    /// Its kind.
    pub fn kind(&self) -> Kind {
        match self {
            Self::Bool(_) => Kind::Bool,
            Self::I64(_) => Kind::I64,
            Self::F64(_) => Kind::F64,
            Self::Text(_) => Kind::Text,
        }
    }
}
