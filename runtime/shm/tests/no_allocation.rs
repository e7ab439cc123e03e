//! After a topic was opened, nothing on its message path allocates: counted by a counting allocator.
#![cfg(not(loom))]

mod common;

use std::hint::black_box;
use std::time::Duration;

use allocation_counter::measure;
use common::{JOINING, KIND, MAKING, Scratch};
use horus_shm::ends::place::Copied;
use horus_shm::ends::{Joining, Making, Payload, Publication, Subscription};
use horus_shm::segment::layout::DeliveryPolicy;
use horus_shm::wait::WaitStrategy;

fn allocations(work: impl FnOnce()) -> u64 {
    measure(work).count_total
}

#[test]
fn the_counter_counts() {
    assert_eq!(allocations(|| drop(black_box(Box::new(1)))), 1);
}

#[test]
fn sending_receiving_waiting_and_reaping_never_allocate() {
    let scratch = Scratch::new();
    let payload = Payload::of::<[u64; 20]>();
    for policy in [DeliveryPolicy::Reliable, DeliveryPolicy::Latest] {
        let making = Making { policy, publishers: 2, ..MAKING };
        let wait_strategy = Some(WaitStrategy::SpinThenSleep(Duration::from_micros(50)));
        let joining = Joining { making, history: 2, wait_strategy, ..JOINING };
        let open = || Subscription::open(&scratch.directory, &scratch.name, KIND, payload, joining).unwrap();
        let mut publisher = Publication::open(&scratch.directory, &scratch.name, KIND, payload, &making).unwrap();
        let (mut subscriber, mut silent) = (open(), open());
        let mut copied = Copied::for_messages_of(&mut subscriber);
        let counted = allocations(|| {
            // From the first message on: nothing is set up lazily.
            for i in 0..20 {
                let _full = publisher.try_send(&[i; 20], i);
                let _full = publisher.send(&[i; 20], i, Duration::from_micros(100), WaitStrategy::Sleep);
                if let Ok(mut loan) = publisher.loan() {
                    loan[0] = i as u8;
                    loan.publish(i);
                }
                let _message = subscriber.try_recv::<[u64; 20]>();
                drop(subscriber.sample(&mut copied));
                let _nothing = subscriber.recv_timeout::<[u64; 20]>(Duration::from_micros(100));
            }
            publisher.reap();
            let _overtaken = silent.try_recv::<[u64; 20]>();
            assert_eq!(policy == DeliveryPolicy::Latest, silent.missed() > 0);
        });
        assert_eq!(counted, 0, "{policy}");
    }
}

#[test]
fn local_rings_never_allocate_after_they_were_made() {
    let (mut writer, mut reader) = horus_shm::ring::local::ring::<[u8; 48]>(4).unwrap();
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
