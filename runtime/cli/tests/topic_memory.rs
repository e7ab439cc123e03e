//! docs/topics.md tells how much memory topics take: its table against the layout, and against a real file.

use horus::message::Message;
use horus::messages::{CmdVel, ImageHd, Imu, LaserScan, PointCloud10k};
use horus::topic::{Options, Publisher};
use horus_shm::segment::layout::{MAX_SUBSCRIBERS, Shape};

/// The rows of the table: name of the message, then bytes, capacity, publishers, bytes of the file.
fn rows() -> Vec<(String, [usize; 4])> {
    let page = include_str!("../../../docs/topics.md");
    let row = |line: &str| {
        let cells: Vec<_> = line.trim_matches('|').split('|').map(str::trim).collect();
        let numbers: Option<Vec<usize>> = cells.get(1..)?.iter().map(|cell| cell.parse().ok()).collect();
        Some((cells[0].trim_matches('`').to_owned(), numbers?.try_into().ok()?))
    };
    page.lines().filter_map(row).collect()
}

fn size_and_alignment(name: &str) -> (usize, usize) {
    fn of<M: Message>() -> (usize, usize) {
        (size_of::<M>(), align_of::<M>())
    }
    match name {
        "CmdVel" => of::<CmdVel>(),
        "Imu" => of::<Imu>(),
        "LaserScan" => of::<LaserScan>(),
        "PointCloud10k" => of::<PointCloud10k>(),
        "ImageHd" => of::<ImageHd>(),
        other => panic!("docs/topics.md has a row for {other}: add it here"),
    }
}

#[test]
fn topics_take_the_memory_that_the_page_says() {
    let rows = rows();
    assert!(rows.len() >= 5, "the table is gone: {rows:?}");
    for (name, [bytes, capacity, publishers, file]) in rows {
        let (size, alignment) = size_and_alignment(&name);
        let shape = Shape::new(size, alignment, capacity, publishers, MAX_SUBSCRIBERS).unwrap();
        assert_eq!((bytes, file), (size, shape.total_bytes()), "{name}, capacity {capacity}");
    }
}

#[test]
fn a_real_topic_has_the_bytes_of_its_row() {
    let files = tempfile::tempdir_in("/dev/shm").unwrap();
    let (_, [_, capacity, publishers, bytes]) = rows().into_iter().find(|(name, _)| name == "LaserScan").unwrap();
    let options = Options::latest(capacity).publishers(publishers).directory(files.path());
    let _publisher = Publisher::<LaserScan>::open("scan", &options).unwrap();
    assert_eq!(std::fs::metadata(files.path().join("scan.topic")).unwrap().len(), bytes as u64);
}
