//! The messages of the field, from thread to thread and from process to process.

use std::process::ExitCode;

use horus::message::Message;
use horus::messages::{
    BatteryState, CmdVel, Imu, JointCommand, LaserScan, Odometry, PointCloud1k, PointCloud10k, PointCloud100,
};
use horus_benchmarks::suite::{Suite, Task};
use horus_benchmarks::systems::horus::Horus;
use horus_benchmarks::transport::Content;

fn both<M: Message + Content>() -> [Task; 2] {
    let name = M::TYPE_NAME.trim_start_matches("horus/");
    [Task::threads::<Horus, M>(), Task::processes::<Horus, M>()].map(|task| task.about(|heading| heading.message(name)))
}

fn tasks() -> Vec<Task> {
    [
        both::<CmdVel>(),
        both::<BatteryState>(),
        both::<Imu>(),
        both::<Odometry>(),
        both::<JointCommand>(),
        both::<LaserScan>(),
        both::<PointCloud100>(),
        both::<PointCloud1k>(),
        both::<PointCloud10k>(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn main() -> ExitCode {
    Suite { name: "robotics_messages_benchmark", tasks, summary: |_| Vec::new() }.main()
}
