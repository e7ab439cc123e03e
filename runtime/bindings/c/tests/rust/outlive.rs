//! Threads that use topics go on while `main` returns, as in `../c/outlive.c`: the process ends well.

use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::{spawn, yield_now};

use horus::prelude::*;

static RUNNING: AtomicU32 = AtomicU32::new(0);

fn main() -> horus::Result {
    let options = Options::reliable(8);
    let mut subscriber = Subscriber::<CmdVel>::open("counts", &options)?;
    let mut publisher = Publisher::<CmdVel>::open("counts", &options)?;
    spawn(move || {
        RUNNING.fetch_add(1, Ordering::Relaxed);
        loop {
            subscriber.recv();
        }
    });
    spawn(move || {
        RUNNING.fetch_add(1, Ordering::Relaxed);
        loop {
            let _ = publisher.send(CmdVel { forward: 1.0, turn: 2.0 });
        }
    });
    spawn(|| {
        RUNNING.fetch_add(1, Ordering::Relaxed);
        loop {
            drop(Publisher::<Imu>::open("imu", Options::default()));
            drop(Publisher::<Imu>::open("a//b", Options::default()));
        }
    });
    while RUNNING.load(Ordering::Relaxed) < 3 {
        yield_now();
    }
    println!("all of it holds");
    Ok(())
}
