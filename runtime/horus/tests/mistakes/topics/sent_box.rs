use horus::messages::CmdVel;
use horus::topic::{Options, Publisher};

fn main() {
    let mut publisher = Publisher::<CmdVel>::open("base.cmd", Options::latest(4)).unwrap();
    let boxed = Box::new(CmdVel::STOP);
    publisher.try_send(&boxed).unwrap();
}
