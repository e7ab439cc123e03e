//! What RustDDS calls a serialiser, for messages that are serialised already.

use std::cell::RefCell;
use std::convert::Infallible;

use bytes::Bytes;
use rustdds::RepresentationIdentifier;
use rustdds::no_key::{Decode, DeserializerAdapter, SerializerAdapter};

/// A message as it goes out.
pub struct Raw(pub Bytes);

/// Messages of CDR, version 1, little-endian.
pub struct Plain;

impl SerializerAdapter<Raw> for Plain {
    type Error = Infallible;

    fn output_encoding() -> RepresentationIdentifier {
        RepresentationIdentifier::CDR_LE
    }

    fn to_bytes(value: &Raw) -> Result<Bytes, Infallible> {
        Ok(value.0.clone())
    }
}

impl DeserializerAdapter<()> for Plain {
    type Error = Infallible;
    type Decoded = ();

    fn supported_encodings() -> &'static [RepresentationIdentifier] {
        &[RepresentationIdentifier::CDR_LE]
    }

    fn transform_decoded((): ()) {}
}

/// Who hears the bytes of a sample, or that one cannot be read.
pub type Heard<'a> = &'a mut dyn FnMut(Option<&[u8]>);

/// Hands the bytes of a message over while RustDDS still has them: nothing is copied on the way.
#[derive(Clone, Copy)]
pub struct Decoder<'a, 'b>(pub &'a RefCell<Heard<'b>>);

impl Decode<'_, ()> for Decoder<'_, '_> {
    type Error = Infallible;

    fn decode_bytes(self, bytes: &[u8], _: RepresentationIdentifier) -> Result<(), Infallible> {
        self.0.borrow_mut()(Some(bytes));
        Ok(())
    }
}
