//! Every converter: what goes to ROS comes back the same, and what is no message is refused.

use horus::message::layout::Layout;
use horus::messages::ALL;

use super::*;

const CONTEXT: Context = Context { offset: Offset(1_700_000_000_000_000_000), frame: String::new() };

/// Every converter with a message of ours that it takes.
fn pairs() -> impl Iterator<Item = (Ours, &'static Entry, usize)> {
    ENTRIES.iter().flat_map(|entry| {
        let fields = ALL.iter().map(|definition| (Ours::Layout((definition.layout)()), definition.bytes));
        let bytes = std::iter::once((Ours::Bytes(64), 64));
        fields.chain(bytes).filter(|(ours, _)| entry.ours.is(ours)).map(move |(ours, size)| (ours, entry, size))
    })
}

#[test]
fn every_converter_has_a_message_that_it_takes() {
    for entry in &ENTRIES {
        assert!(pairs().any(|(_, found, _)| std::ptr::eq(found, entry)), "{}", entry.ros);
        crate::interface::standard::whole(entry.ros).unwrap();
    }
}

#[test]
fn bytes_that_are_no_message_are_refused_and_nothing_panics() {
    let mut seed = 1_u64;
    for (ours, entry, size) in pairs() {
        let Some(read) = entry.read else { continue };
        if size > 100_000 {
            continue;
        }
        let pairing = Pairing::new(&ours, Some(entry.ros), false).unwrap();
        let mut into = vec![0_u64; size.div_ceil(8)];
        let place = &mut horus::zerocopy::IntoBytes::as_mut_bytes(&mut into[..])[..size];
        assert!(pairing.read(&[], place, &CONTEXT).is_err(), "{}", entry.ros);
        for round in 0..200 {
            let noise: Vec<u8> = (0..round)
                .map(|_| {
                    seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                    if seed >> 60 < 8 { 0 } else { (seed >> 33) as u8 }
                })
                .collect();
            let _ = read(&mut Reader::new(&noise), place, &CONTEXT);
        }
    }
}

#[test]
fn a_pair_without_converter_is_told_what_there_is() {
    let imu = Ours::Layout(Layout::of::<horus::messages::Imu>());
    let error = Pairing::new(&imu, Some("nav_msgs/msg/Odometry"), true).unwrap_err().to_string();
    assert!(error.contains("sensor_msgs/msg/Imu"), "{error}");
    let error = Pairing::new(&imu, Some("nav_msgs/msg/Path"), true).unwrap_err().to_string();
    assert!(error.contains("nav_msgs/msg/Path"), "{error}");
    let odometry = Ours::Layout(Layout::of::<horus::messages::Odometry>());
    let error = Pairing::new(&odometry, Some("tf2_msgs/msg/TFMessage"), false).unwrap_err();
    assert!(matches!(error, Mismatch::OneWay { .. }), "{error}");
}

#[test]
fn a_message_with_the_name_of_one_of_ros_and_other_fields_is_refused() {
    let pair = |text: &str, ros| Pairing::new(&Ours::Layout(text.parse().unwrap()), ros, true);
    let fix = "message sensor_msgs/NavSatFix\n latitude f64\n longitude f64\n altitude f64";
    for ros in [None, Some("sensor_msgs/msg/NavSatFix")] {
        let error = pair(fix, ros).unwrap_err();
        assert!(matches!(error, Mismatch::Impostor { .. }), "{error}");
        assert!(error.to_string().contains("my_robot/NavSatFix"), "{error}");
    }
    // As another message it may go, and so may one that is what its name says.
    assert_eq!(pair(fix, Some("geometry_msgs/msg/Point")).unwrap().ros.top.name, "geometry_msgs/msg/Point");
    let flag = pair("message std_msgs/Bool\n data u8", None).unwrap();
    assert_eq!(flag.hash, crate::interface::hash::rihs01(&standard::whole("std_msgs/msg/Bool").unwrap()));
    // The same bytes, and another meaning; in another order, each number goes where its name is.
    let other = pair("message geometry_msgs/Point\n a f64\n b f64\n c f64", None);
    assert!(matches!(other, Err(Mismatch::Impostor { .. })), "{other:?}");
    let turned = pair("message geometry_msgs/Point\n z f64\n y f64\n x f64", None).unwrap();
    assert!(matches!(turned.conversion, Conversion::Fields(_)));
}

/// Writes a sample to `cdr` and reads it into `into`; how many bytes count.
fn there_and_back(sample: &samples::Sample, pairing: &Pairing, cdr: &mut Vec<u8>, into: &mut [u8]) -> usize {
    pairing.write(sample.bytes(), &mut Writer::new(cdr), &CONTEXT).unwrap();
    pairing.read(&cdr[crate::cdr::ENCAPSULATION.len()..], into, &CONTEXT).unwrap()
}

#[test]
fn what_goes_to_ros_comes_back_the_same_and_nothing_is_allocated() {
    let samples = samples::all();
    assert_eq!(samples.len(), ENTRIES.len() + samples::IMPORTED.len());
    for sample in &samples {
        let Ok(pairing) = Pairing::new(&sample.ours, Some(sample.ros), false) else { continue };
        let mut words = vec![0xa5a5_a5a5_a5a5_a5a5_u64; sample.bytes().len().div_ceil(8)];
        // What an image does not use is left as it is.
        if sample.bytes().len() > 100_000 {
            words.fill(0);
        }
        let place = &mut horus::zerocopy::IntoBytes::as_mut_bytes(&mut words[..])[..sample.bytes().len()];
        let mut cdr = Vec::new();
        let length = there_and_back(sample, &pairing, &mut cdr, place);
        assert_eq!(place[..length], *sample.bytes(), "{}", sample.ros);
        let counted = allocation_counter::measure(|| {
            there_and_back(sample, &pairing, &mut cdr, place);
        });
        assert_eq!(counted.count_total, 0, "{}", sample.ros);
    }
}
