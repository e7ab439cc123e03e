//! Declares parameters of a kind that is known at run time, for other languages.

use super::App;
use crate::param::{AnyParam, Number, Param, Type, Value, Wishes};

impl App {
    /// As [`param`](Self::param), of the kind that the default has.
    ///
    /// # Errors
    /// When its range is of another kind than its default, or it can have none. All else that is wrong is told when the program starts.
    #[doc(hidden)] // for bindings: in Rust the kind is known
    pub fn any_param(&mut self, name: &str, default: &Value, wishes: &Wishes<'_>) -> crate::Result<AnyParam> {
        let kind = default.kind();
        if default.as_kind(kind).is_none() {
            let text = format!("parameter {name} is {}, and its default is none", kind.noun());
            return Err(crate::Error::new(text));
        }
        let refused = || {
            let text = format!("the range of parameter {name} is not of {}, as its default is", kind.noun());
            crate::Error::new(format!("{text}: give its least and greatest value"))
        };
        let range = match &wishes.range {
            None => None,
            Some(values) => {
                let [least, greatest] = values.each_ref().map(|value| value.as_kind(kind));
                Some((least.ok_or_else(refused)?, greatest.ok_or_else(refused)?))
            }
        };
        Ok(match (default, range) {
            (Value::Bool(value), None) => AnyParam::Bool(said(self.param(name, *value), wishes)),
            (Value::I64(value), None) => AnyParam::I64(said(self.param(name, *value), wishes)),
            (Value::F64(value), None) => AnyParam::F64(said(self.param(name, *value), wishes)),
            (Value::Text(value), None) => AnyParam::Text(said(self.param(name, value.as_str()), wishes)),
            (Value::I64(value), Some((Value::I64(least), Value::I64(greatest)))) => {
                AnyParam::I64(ranged(said(self.param(name, *value), wishes), least, greatest))
            }
            (Value::F64(value), Some((Value::F64(least), Value::F64(greatest)))) => {
                AnyParam::F64(ranged(said(self.param(name, *value), wishes), least, greatest))
            }
            _ => return Err(refused()),
        })
    }
}

fn said<T: Type>(param: Param<T>, wishes: &Wishes<'_>) -> Param<T> {
    let param = param.unit(wishes.unit).about(wishes.about);
    if wishes.read_only { param.read_only() } else { param }
}

fn ranged<T: Number>(param: Param<T>, least: T, greatest: T) -> Param<T> {
    param.range(least..=greatest)
}
