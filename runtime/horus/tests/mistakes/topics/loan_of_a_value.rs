use horus::topic::{Bytes, Options, Publisher, Serde};

fn main() {
    let shape = Bytes::of_type("example/Names", 64);
    let mut publisher = Publisher::<Serde<Vec<String>>>::open_as("names", shape, Options::latest(4)).unwrap();
    let _loan = publisher.loan();
}
