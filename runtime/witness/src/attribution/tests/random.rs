//! Whatever the events are: each nanosecond of the window has one owner.

use proptest::prelude::*;

use super::*;

fn any_what() -> impl Strategy<Value = What> {
    let tid = prop::sample::select(vec![IDLE, NODE, HOG, WORKER, INTERRUPT_THREAD]);
    prop_oneof![
        6 => (tid.clone(), any::<bool>(), tid).prop_map(|(from, sleeps, to)| What::Switch { from: task(from), sleeps, to: task(to) }),
        1 => (0_u32..3).prop_map(|number| What::InterruptEntry { number, name: "eth0".to_owned() }),
        1 => Just(What::InterruptExit),
        1 => Just(What::TimerEntry),
        1 => Just(What::TimerExit),
        1 => (0_u32..12).prop_map(What::SoftirqEntry),
        1 => Just(What::SoftirqExit),
        1 => any::<u64>().prop_map(What::Touch),
        1 => any::<Option<u64>>().prop_map(What::FaultEntry),
        1 => Just(What::FaultExit),
        1 => any::<u64>().prop_map(What::WorkStart),
        1 => Just(What::WorkEnd),
        1 => (0_u32..3, any::<u64>()).prop_map(|(cpu, khz)| What::Frequency { cpu, khz }),
        1 => Just(What::Marker),
        1 => Just(What::Lost),
        1 => Just(What::Other),
    ]
}

fn any_event() -> impl Strategy<Value = (u64, u32, What)> {
    (0_u64..400_000, prop::sample::select(vec![IDLE, NODE, HOG, WORKER]), any_what())
}

proptest! {
    #[test]
    fn the_shares_add_up_to_the_window(
        steps in prop::collection::vec(any_event(), 0..80),
        times in prop::array::uniform4(0_u64..20_000_000),
        seen in prop::array::uniform2(0_u64..20_000_000),
        tick_ns in prop::option::of(1_u64..500_000),
        budget_ns in prop::option::of(0_u64..5_000_000),
        is_in_order in any::<bool>(),
    ) {
        let mut now = 0;
        let event = |(step, tid, what)| {
            now = if is_in_order { now + step } else { step * 40 };
            Event { ns: now, tid, what }
        };
        let events: Vec<Event> = steps.into_iter().map(event).collect();
        let [release_ns, wake_ns, completion_ns, deadline_ns] = times;
        let missed = Missed { release_ns, wake_ns, completion_ns, deadline_ns, budget_ns, ..missed(0, 0) };
        let record = Record { events, seen: seen[0]..seen[1] };
        let verdict = judge_with(&record, &missed, tick_ns, &Signs::default());
        prop_assert_eq!(verdict.window_ns, completion_ns.saturating_sub(release_ns));
        prop_assert!(verdict.shares.iter().all(|share| share.ns > 0));
        prop_assert!(words::sentence(&verdict, &missed).len() < 2_000);
    }

    #[test]
    fn times_at_the_end_of_the_clock_do_no_harm(release_ns in u64::MAX - 1_000.., completion_ns in any::<u64>(), ns in any::<u64>()) {
        let missed = Missed { release_ns, wake_ns: ns, completion_ns, ..missed(0, 0) };
        let events = vec![Event { ns, tid: NODE, what: What::Other }];
        judge_with(&Record { events, seen: ns..u64::MAX }, &missed, Some(1), &Signs::default());
        let missed = Missed { release_ns: completion_ns.min(5), completion_ns: release_ns, ..missed };
        let events = vec![Event { ns, tid: NODE, what: What::TimerEntry }];
        judge_with(&Record { events, seen: 0..ns }, &missed, Some(u64::MAX), &Signs::default());
    }
}
