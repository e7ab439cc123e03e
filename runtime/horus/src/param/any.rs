//! Parameters of a kind that is known at run time: what other languages declare.

use super::Param;
use super::value::{Kind, Text, Value};

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

/// A parameter, by its kind; [`App::any_param`](crate::app::App::any_param) declares it.
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
