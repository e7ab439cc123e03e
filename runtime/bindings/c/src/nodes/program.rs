//! What a program of nodes in C consists of: the nodes of [`horus::app`], and the handles that belong to it.

use std::ffi::{c_char, c_int, c_void};

use horus::app::App;

use crate::handle::{Kind, close, get, give, reason};
use crate::nodes::keep::{self, Belonging};
use crate::nodes::node_handle::{horus_app, horus_node};
use crate::nodes::turn::Turn;
use crate::status::horus_status::HORUS_OK;
use crate::status::{Refusal, call, failed, forget, horus_status, last_sentence, misuse};

impl Kind for horus_app {
    type Value = Program;
    const MARK: u64 = 0x7475_6f79_616c_0006;
    const NAME: &'static str = "app";
}

/// Declares the nodes of a program. What it gives is HORUS_OK, or less than 0 when something went wrong.
#[allow(non_camel_case_types)]
pub type horus_declare = Option<unsafe extern "C-unwind" fn(app: *mut horus_app, context: *mut c_void) -> c_int>;

/// Whose the nodes are.
enum Place {
    Own(Box<App>),
    /// It is lent to a function that declares nodes.
    Lent(*mut App),
    /// They could not be made.
    Refused,
    /// They run, or have run.
    Gone,
}

/// A program, as C declares it.
pub(crate) struct Program {
    place: Place,
    pub name: String,
    /// The first thing that went wrong; the program does not run then.
    refusal: Option<String>,
    owned: Owned,
    /// Of the next node, which the ports that are opened until then belong to.
    pub turn: Turn,
}

/// The handles of a program; they end with it, and its nodes last.
#[derive(Default)]
pub(crate) struct Owned {
    nodes: Vec<*mut horus_node>,
    ends: Vec<Handle>,
}

/// A handle of any kind, with what ends it. So this file knows no kind of an end, and those know it.
struct Handle {
    place: *mut c_void,
    end: unsafe fn(*mut c_void),
}

/// # Safety
/// As [`keep::end`], for a handle of the kind `K`.
unsafe fn end_of<K: Kind<Value: Belonging>>(place: *mut c_void) {
    // SAFETY: the caller's promise is the same.
    unsafe { keep::end(place.cast::<K>()) }
}

impl Program {
    pub fn own(name: &str, app: Result<App, horus::Error>) -> Self {
        let (place, refusal) = match app {
            Ok(app) => (Place::Own(Box::new(app)), None),
            Err(error) => (Place::Refused, Some(error.to_string())),
        };
        Self { place, name: name.to_owned(), refusal, owned: Owned::default(), turn: Turn::default() }
    }

    /// The nodes, for as long as they can be declared.
    pub fn app(&mut self) -> Result<&mut App, Refusal> {
        match &mut self.place {
            Place::Own(app) => Ok(app),
            // SAFETY: `declare_by` lends it only while the function runs that declares, and uses it not itself meanwhile.
            Place::Lent(app) => Ok(unsafe { &mut **app }),
            Place::Refused => Err(failed(self.refusal.clone().unwrap_or_default())),
            Place::Gone => Err(runs()),
        }
    }

    /// Does something that declares; what it refuses, the program will not start with.
    pub fn declare<T>(&mut self, work: impl FnOnce(&mut Self) -> Result<T, Refusal>) -> Result<T, Refusal> {
        let done = work(self);
        if let Err(refusal) = &done {
            self.refusal.get_or_insert_with(|| refusal.to_string());
        }
        done
    }

    /// Refuses to end nodes that are another app's, or that run.
    pub fn check_end(&self) -> Result<(), Refusal> {
        match self.place {
            Place::Own(_) | Place::Refused => Ok(()),
            Place::Lent(_) => Err(misuse("this app is lent to the function that declares its nodes: return from it")),
            Place::Gone => Err(runs()),
        }
    }

    /// What is to be run, or why it cannot.
    pub fn take(&mut self) -> horus::Result<App> {
        match (std::mem::replace(&mut self.place, Place::Gone), &self.refusal) {
            (Place::Own(app), None) => Ok(*app),
            (_, refusal) => Err(horus::Error::new(refusal.clone().unwrap_or_default())),
        }
    }

    /// Has a handle that `give` made end with the program.
    pub fn keep_end<K: Kind<Value: Belonging>>(&mut self, handle: *mut K) -> *mut K {
        self.owned.ends.push(Handle { place: handle.cast(), end: end_of::<K> });
        handle
    }

    pub fn keep_node(&mut self, node: *mut horus_node) -> *mut horus_node {
        self.owned.nodes.push(node);
        node
    }
}

impl Owned {
    /// The app of these nodes ends before them.
    fn leave(&self) {
        for &node in &self.nodes {
            // SAFETY: `give` made it, and `Owned` closes it; no other call uses it while nodes are declared.
            if let Ok(node) = unsafe { get(node) } {
                node.leave();
            }
        }
    }
}

impl Drop for Owned {
    fn drop(&mut self) {
        // SAFETY: `give` made all of them, nothing but this ends them, and the nodes that used them have ended. `keep_end` pairs each with
        // the function of its kind.
        unsafe {
            self.ends.drain(..).for_each(|handle| (handle.end)(handle.place));
            self.nodes.drain(..).for_each(|node| keep::end(node));
        }
    }
}

/// Refuses a program that is being declared, for a reason of the caller's: it does not run then, and says so. The first reason counts.
///
/// # Safety
/// `app` is a handle that no other call uses meanwhile; `why` is null or ends with a zero byte.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_app_refuse(app: *mut horus_app, why: *const c_char) -> horus_status {
    call(|| {
        // SAFETY: the caller's promise is the same.
        let program = unsafe { get(app) }?;
        program.app()?;
        // SAFETY: as above.
        let why = unsafe { reason(why) };
        program.refusal.get_or_insert(why);
        Ok(HORUS_OK)
    })
}

/// Has a function in C declare the nodes of `app`; gives the handles, which have to outlive the nodes.
///
/// # Safety
/// `declare` may be called with `given`.
pub(crate) unsafe fn declare_by(declare: horus_declare, given: *mut c_void, app: &mut App) -> horus::Result<Owned> {
    let declare = declare.ok_or_else(|| horus::Error::new("the function that declares the nodes is null"))?;
    let handle = give::<horus_app>(Program {
        place: Place::Lent(app),
        name: String::new(),
        refusal: None,
        owned: Owned::default(),
        turn: Turn::default(),
    });
    // What was said before has nothing to do with it.
    forget();
    // SAFETY: the caller's promise is the same, and `handle` lives.
    let status = unsafe { declare(handle, given) };
    // SAFETY: `give` made it, no call closes an app that is lent, and no other call uses it: the function has returned.
    let program = unsafe { get(handle) }.map_err(|refusal| horus::Error::new(refusal.to_string()))?;
    let (owned, refusal) = (std::mem::take(&mut program.owned), program.refusal.take());
    // A node that is kept by mistake finds no app, which ends here.
    owned.leave();
    // SAFETY: as above.
    let _ = unsafe { close(handle) };
    match refusal {
        Some(refusal) => Err(horus::Error::new(refusal)),
        None if status < 0 => {
            let said = last_sentence();
            let unsaid = || format!("the function that declares the nodes returned {status}");
            Err(horus::Error::new(if said.is_empty() { unsaid() } else { said }))
        }
        None => Ok(owned),
    }
}

fn runs() -> Refusal {
    misuse("the app runs: declare everything before, and let its steps end by themselves")
}

pub(crate) fn null_step() -> Refusal {
    misuse("the step of the node is null: give it a function")
}
