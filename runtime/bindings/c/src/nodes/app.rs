//! A program of nodes: it is declared, and then it runs.

use std::ffi::{c_char, c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::slice;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use horus::app;
use horus::topic::{Bytes, Raw};

use crate::handle::{close, get, give, look, text};
use crate::layout::horus_layout;
use crate::nodes::node_handle::{NodeHandle, horus_app, horus_node};
use crate::nodes::port::{Port, horus_input, horus_output};
use crate::nodes::program::{Program, declare_by, horus_declare, null_step};
use crate::nodes::step::{CNode, horus_step};
use crate::payload::Of;
use crate::status::horus_status::HORUS_OK;
use crate::status::{call, failed, horus_status, make, misuse};
use crate::topic::options::{horus_options, options_if_any};

/// The most nodes of a chain.
const MAX_CHAIN: usize = 64;

/// A program without nodes. Its settings are those of `node.toml`, and it understands the options of every program of nodes
/// (`--describe`, `--releases N`, `--strict`); others on its command line are its own. What goes wrong from here on, the program says when it
/// is run: nothing has to be looked at before. Null only when `name` is none.
///
/// # Safety
/// `name` ends with a zero byte.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_app_new(name: *const c_char) -> *mut horus_app {
    make(|| {
        // SAFETY: the caller's promise is the same.
        let name = unsafe { text(name, "name of the program") }?;
        Ok(give(Program::own(name, app::start(name))))
    })
}

/// An input of the next node. `layout` says whether its messages are those of a struct or bytes of any length. `options` may be null. Null when it is refused; the program does not run then.
///
/// # Safety
/// `app` is a handle that no other call uses meanwhile, `layout` one that is not closed meanwhile, `topic` ends with a zero byte, `options` is null or may be read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_app_input(
    app: *mut horus_app,
    topic: *const c_char,
    layout: *mut horus_layout,
    options: *const horus_options,
) -> *mut horus_input {
    make(|| {
        // SAFETY: the caller's promise is the same.
        unsafe { get(app) }?.declare(|program| {
            // SAFETY: the caller's promises are the same.
            let (topic, layout, options) =
                unsafe { (text(topic, "name of the topic")?, look(layout)?, options_if_any(options)?) };
            let (turn, options) = (program.turn.clone(), options.unwrap_or_default());
            let input = match layout {
                Of::Messages(layout) => program.app()?.input_as::<Raw>(topic, layout, options).map(Of::Messages),
                Of::Bytes(maximum) => {
                    program.app()?.input_as::<[u8]>(topic, Bytes::up_to(*maximum), options).map(Of::Bytes)
                }
            }
            .map_err(failed)?;
            Ok(program.keep_end(give(Port::new(turn, input))))
        })
    })
}

/// An output of the next node, of a `latest` topic that holds 16 messages unless `options` say otherwise. Null when it is refused; the
/// program does not run then.
///
/// # Safety
/// As `horus_app_input`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_app_output(
    app: *mut horus_app,
    topic: *const c_char,
    layout: *mut horus_layout,
    options: *const horus_options,
) -> *mut horus_output {
    make(|| {
        // SAFETY: the caller's promise is the same.
        unsafe { get(app) }?.declare(|program| {
            // SAFETY: the caller's promises are the same.
            let (topic, layout, options) =
                unsafe { (text(topic, "name of the topic")?, look(layout)?, options_if_any(options)?) };
            let (turn, options) = (program.turn.clone(), options.unwrap_or_default());
            let output = match layout {
                Of::Messages(layout) => program.app()?.output_as::<Raw>(topic, layout, options).map(Of::Messages),
                Of::Bytes(maximum) => {
                    program.app()?.output_as::<[u8]>(topic, Bytes::up_to(*maximum), options).map(Of::Bytes)
                }
            }
            .map_err(failed)?;
            Ok(program.keep_end(give(Port::new(turn, output))))
        })
    })
}

/// Adds a node, which has the inputs and outputs that were opened since the last one. `step` is called with `context` once a cycle. What this
/// returns takes its period and its other wishes; it ends with the program.
///
/// # Safety
/// `app` is a handle that no other call uses meanwhile, `name` ends with a zero byte. Until the program has ended, a thread of its own may call
/// `step` with `context`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_app_node(
    app: *mut horus_app,
    name: *const c_char,
    step: horus_step,
    context: *mut c_void,
) -> *mut horus_node {
    make(|| {
        // SAFETY: the caller's promise is the same.
        unsafe { get(app) }?.declare(|program| {
            // SAFETY: the caller's promise is the same.
            let name = unsafe { text(name, "name of the node") }?;
            let safe = Arc::new(OnceLock::new());
            let step = step.ok_or_else(null_step)?;
            program.app()?;
            let node = CNode::new(step, Arc::clone(&safe), context, std::mem::take(&mut program.turn));
            let nodes = program.app()?;
            let index = nodes.node_count();
            nodes.node(name, node);
            Ok(program.keep_node(give(NodeHandle::new(app, index, safe))))
        })
    })
}

/// Names nodes that hand data on to each other, the first one first, and the longest time from the first one's release to the last one's
/// completion. A graph that may take longer is refused.
///
/// # Safety
/// `app` is a handle that no other call uses meanwhile; `count` texts may be read at `nodes`, each ends with a zero byte.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_app_chain(
    app: *mut horus_app,
    nodes: *const *const c_char,
    count: usize,
    end_to_end_ns: u64,
) -> horus_status {
    call(|| {
        // SAFETY: the caller's promise is the same.
        unsafe { get(app) }?.declare(|program| {
            if nodes.is_null() || !(2..=MAX_CHAIN).contains(&count) {
                return Err(misuse(format!("a chain has 2 to {MAX_CHAIN} nodes, and not {count}")));
            }
            // SAFETY: not null, and so many may be read, by the caller's promise.
            let names = unsafe { slice::from_raw_parts(nodes, count) };
            // SAFETY: each ends with a zero byte, by the caller's promise.
            let names: Vec<_> =
                names.iter().map(|&name| unsafe { text(name, "name of a node") }).collect::<Result<_, _>>()?;
            program.app()?.chain_of(&names).end_to_end(Duration::from_nanos(end_to_end_ns));
            Ok(HORUS_OK)
        })
    })
}

/// Ends the program after so many releases of each node.
///
/// # Safety
/// `app` is a handle that no other call uses meanwhile.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_app_releases(app: *mut horus_app, releases: u64) -> horus_status {
    call(|| {
        // SAFETY: the caller's promise is the same.
        unsafe { get(app) }?.declare(|program| {
            program.app()?.releases(releases);
            Ok(HORUS_OK)
        })
    })
}

/// Does not start unless the system grants everything that a node asks for.
///
/// # Safety
/// `app` is a handle that no other call uses meanwhile.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_app_strict(app: *mut horus_app) -> horus_status {
    call(|| {
        // SAFETY: the caller's promise is the same.
        unsafe { get(app) }?.declare(|program| {
            program.app()?.strict();
            Ok(HORUS_OK)
        })
    })
}

/// Gives each thread of nodes a stack of so many bytes, all of which is locked; 512 KiB if not said otherwise.
///
/// # Safety
/// `app` is a handle that no other call uses meanwhile.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_app_stack(app: *mut horus_app, bytes: usize) -> horus_status {
    call(|| {
        // SAFETY: the caller's promise is the same.
        unsafe { get(app) }?.declare(|program| {
            program.app()?.stack(bytes);
            Ok(HORUS_OK)
        })
    })
}

/// Has a second SIGTERM or SIGINT within so many nanoseconds of the first one change nothing; 1 s if neither this nor node.toml says otherwise. A
/// later one, or a third one, ends the program at once.
///
/// # Safety
/// `app` is a handle that no other call uses meanwhile.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_app_grace_ns(app: *mut horus_app, nanoseconds: u64) -> horus_status {
    call(|| {
        // SAFETY: the caller's promise is the same.
        unsafe { get(app) }?.declare(|program| {
            program.app()?.grace(Duration::from_nanos(nanoseconds));
            Ok(HORUS_OK)
        })
    })
}

/// Work without a deadline: `now_ns` is the time on CLOCK_MONOTONIC, and the largest number at the last call.
#[allow(non_camel_case_types)]
pub type horus_work = Option<unsafe extern "C-unwind" fn(context: *mut c_void, now_ns: u64)>;

/// A pointer of C's that its giver lets another thread use.
struct Given(*mut c_void);

// SAFETY: `horus_app_background` has the caller promise that it may go to that thread.
unsafe impl Send for Given {}

/// Adds work for the thread beside the loops, which has no deadline: `work` is called with `context` ten times a second, and a last time at the
/// end.
///
/// # Safety
/// `app` is a handle that no other call uses meanwhile. Until the program has ended, a thread of its own may call `work` with `context`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_app_background(
    app: *mut horus_app,
    work: horus_work,
    context: *mut c_void,
) -> horus_status {
    call(|| {
        // SAFETY: the caller's promise is the same.
        unsafe { get(app) }?.declare(|program| {
            let work = work.ok_or_else(|| misuse("the work is null: give it a function"))?;
            let given = Given(context);
            program.app()?.background(move |now| {
                let Given(context) = &given;
                // SAFETY: the caller promised that it may be called with this pointer.
                unsafe { work(*context, now.as_nanos()) };
            });
            Ok(HORUS_OK)
        })
    })
}

/// Runs the nodes until SIGTERM or SIGINT, until they have used up their releases, or until one of them ends the program; prints their
/// accounts. Gives what `main` returns: 0, or 1 when it has printed why. It ends the app with its nodes, inputs and outputs.
///
/// # Safety
/// `app` is null or a handle that no other call uses; neither it nor what belongs to it is used any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_app_run(app: *mut horus_app) -> c_int {
    let mut name = "horus".to_owned();
    let status = call(|| {
        // No reference to the handle is kept while the nodes run: a step may ask it, too, and is told that it runs.
        // SAFETY: the caller's promise is the same.
        let program = unsafe { get(app) }?;
        name.clone_from(&program.name);
        program.check_end()?;
        let nodes = program.take();
        let ran = catch_unwind(AssertUnwindSafe(|| app::finish(nodes?)));
        // SAFETY: the caller's promise is the same; the nodes have ended.
        unsafe { close(app) }?;
        match ran {
            Ok(ran) => ran.map(|()| HORUS_OK).map_err(failed),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    });
    ended(&name, status)
}

/// `main` of a program whose nodes `declare` declares with `context`: as `horus_app_new` and `horus_app_run`, for a function that a test can
/// give to `horus_world_new`, too. An option that it does not know is an error.
///
/// # Safety
/// `name` ends with a zero byte. `declare` may be called with `context`, and until the program has ended, its threads may call the steps.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_main(name: *const c_char, declare: horus_declare, context: *mut c_void) -> c_int {
    let mut is_success = false;
    let status = call(|| {
        // SAFETY: the caller's promise is the same.
        let name = unsafe { text(name, "name of the program") }?;
        // Outlives the nodes, which end in `main`.
        let mut owned = None;
        let code = app::main(name, |app| {
            // SAFETY: the caller's promise is the same.
            owned = Some(unsafe { declare_by(declare, context, app) }?);
            Ok(())
        });
        is_success = code == std::process::ExitCode::SUCCESS;
        Ok(HORUS_OK)
    });
    if status == HORUS_OK { c_int::from(!is_success) } else { ended("horus", status) }
}

/// Prints why a program ended.
fn ended(name: &str, status: horus_status) -> c_int {
    if status == HORUS_OK {
        return 0;
    }
    app::complain(name, &crate::status::last_sentence());
    1
}

/// Ends an app that is not to be run, with its nodes, inputs and outputs. Null is nothing to end.
///
/// # Safety
/// `app` is null or a handle that no other call uses; neither it nor what belongs to it is used any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_app_close(app: *mut horus_app) -> horus_status {
    call(|| {
        if !app.is_null() {
            // SAFETY: the caller's promise is the same.
            unsafe { get(app) }?.check_end()?;
        }
        // SAFETY: as above.
        unsafe { close(app) }
    })
}
