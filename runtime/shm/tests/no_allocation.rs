//! After a topic was opened, nothing on its message path allocates: counted by a counting allocator.
#![cfg(not(loom))]

use std::hint::black_box;
use std::time::Duration;

use allocation_counter::measure;
use horus_shm::directory::Directory;
use horus_shm::endpoint::{Joining, Kind, Making, Reader, Writer};
use horus_shm::layout::Policy;
use horus_shm::map::Access;
use horus_shm::wait::Waiting;

const KIND: Kind<'static> = Kind { type_name: "test/Message", layout_hash: 7, description: "" };

fn allocations(work: impl FnOnce()) -> u64 {
    measure(work).count_total
}

#[test]
fn the_counter_counts() {
    assert_eq!(allocations(|| drop(black_box(Box::new(1)))), 1);
}

#[test]
fn sending_receiving_waiting_and_burying_never_allocate() {
    let files = tempfile::tempdir().unwrap();
    let directory = Directory::at(files.path()).unwrap();
    let name = "topic".parse().unwrap();
    for policy in [Policy::Reliable, Policy::Latest] {
        let making = Making { capacity: 4, policy, access: Access::default(), publishers: 2 };
        let joining =
            Joining { wait: Duration::ZERO, history: 2, waiting: Waiting::SpinThenSleep(Duration::from_micros(50)) };
        let mut publisher = Writer::<[u64; 20]>::create_or_open(&directory, &name, KIND, &making).unwrap();
        let mut subscriber = Reader::<[u64; 20]>::open(&directory, &name, KIND, joining).unwrap();
        let mut silent = Reader::<[u64; 20]>::open(&directory, &name, KIND, joining).unwrap();
        let counted = allocations(|| {
            // From the first message on: nothing is set up lazily.
            for i in 0..20 {
                let _full = publisher.try_send([i; 20], i);
                let _full = publisher.send([i; 20], i, Duration::from_micros(100), Waiting::Sleep);
                if let Ok(mut loan) = publisher.loan() {
                    loan[0] = i;
                    loan.publish(i);
                }
                let _message = subscriber.try_recv();
                drop(subscriber.borrow());
                let _nothing = subscriber.recv_timeout(Duration::from_micros(100));
            }
            publisher.bury_subscribers();
            let _overtaken = silent.try_recv();
            assert_eq!(policy == Policy::Latest, silent.missed() > 0);
        });
        assert_eq!(counted, 0, "{policy}");
    }
}

#[test]
fn local_rings_never_allocate_after_they_were_made() {
    let (mut writer, mut reader) = horus_shm::local::ring::<[u8; 48]>(4).unwrap();
    let counted = allocations(|| {
        for i in 0..20 {
            let _full = writer.try_send([i; 48]);
            if i % 3 == 0 {
                reader.try_recv().unwrap();
            }
        }
    });
    assert_eq!(counted, 0);
}
