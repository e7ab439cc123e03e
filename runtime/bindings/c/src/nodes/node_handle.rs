//! The handle of a node, and what it knows of the program that the node belongs to: that there is one.

use std::sync::{Arc, OnceLock};

use crate::handle::Kind;
use crate::nodes::keep::{Belonging, Holders};
use crate::nodes::step::horus_step;

/// A program of nodes.
#[allow(non_camel_case_types)]
pub struct horus_app {
    _opaque: (),
}

/// A node of a program, as long as that does not run. It ends with its program.
#[allow(non_camel_case_types)]
pub struct horus_node {
    _opaque: (),
}

/// Which node of which program.
pub(crate) struct NodeHandle {
    /// Null when it takes no wishes any more.
    pub app: *mut horus_app,
    pub index: usize,
    pub safe: Arc<OnceLock<horus_step>>,
    holders: Holders,
}

impl NodeHandle {
    pub fn new(app: *mut horus_app, index: usize, safe: Arc<OnceLock<horus_step>>) -> Self {
        Self { app, index, safe, holders: Holders::default() }
    }

    /// The app that it was declared by ends.
    pub fn leave(&mut self) {
        self.app = std::ptr::null_mut();
    }
}

impl Belonging for NodeHandle {
    fn holders(&self) -> &Holders {
        &self.holders
    }

    unsafe fn end(this: *mut Self) {
        // SAFETY: it is there, by the caller's promise.
        unsafe { (*this).app = std::ptr::null_mut() };
    }
}

impl Kind for horus_node {
    type Value = NodeHandle;
    const MARK: u64 = 0x7475_6f79_616c_0007;
    const NAME: &'static str = "node";
}
