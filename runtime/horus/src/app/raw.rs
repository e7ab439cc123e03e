//! What a program of nodes offers to those whose types are known only at run time.

use super::App;
use crate::message::layout::Layout;
use crate::node::Spec;
use crate::port::raw::{RawInput, RawOutput, check_size, pair};
use crate::topic::{Options, Publisher, Raw, Subscriber};

impl App {
    /// As [`input_with`](Self::input_with), for messages of a layout; without `options` as [`input`](Self::input).
    ///
    /// # Errors
    /// As these.
    pub fn raw_input(&mut self, topic: &str, layout: &Layout, options: Option<Options>) -> crate::Result<RawInput> {
        let open = |options: &Options| Subscriber::<Raw>::open_as(topic, layout, options);
        let (subscriber, sight) = self.join(topic, options.unwrap_or_default(), layout.clone(), open)?;
        Ok(RawInput::new(subscriber, sight))
    }

    /// As [`output_with`](Self::output_with), for messages of a layout; without `options` as [`output`](Self::output).
    ///
    /// # Errors
    /// As these, and when a message is too large for an output.
    pub fn raw_output(&mut self, topic: &str, layout: &Layout, options: Option<Options>) -> crate::Result<RawOutput> {
        check_size(topic, layout)?;
        let options = options.unwrap_or_default();
        self.emit(topic, options, |options| {
            Ok(pair(topic, Publisher::<Raw>::open_as(topic, layout, options)?.into_publication()))
        })
    }

    /// How many nodes there are.
    pub fn node_count(&self) -> usize {
        self.nodes.len()
    }

    /// The wishes of the node that was added as number `index`, from 0: for who cannot keep what [`node`](Self::node) lends.
    pub fn spec(&mut self, index: usize) -> Option<&mut Spec> {
        Some(&mut self.nodes.get_mut(index)?.spec)
    }
}
