use horus::topic::{Options, Publisher};

#[derive(Clone, Copy)]
struct Speed {
    forward: f64,
}

fn main() {
    let _plain_type = Publisher::<Speed>::open("speed", Options::latest(4));
}
