//! How old a result can be at the end of a chain of tasks that hand it on over topics.
//!
//! A periodic task samples its input: what arrives just after its release waits a whole period, then takes a response.
//! So a chain takes at most `sum (R_i + T_i)` (Davare et al., "Period optimization for hard real-time distributed
//! automotive systems", DAC 2007). A task that its input releases adds `R_i` only.
//!
//! That is true although results come out unevenly and an early one has to wait for the end of the gap. The task before
//! releases at points that lie at least `T` apart, and each result follows its release within `R`. With a gap of at
//! most `T`, the result of release `r` is never deferred beyond `r + R`. With a longer gap results pile up, so such a
//! chain is an error.

use std::time::Duration;

use thiserror::Error;

use super::span::Span;
use super::{Admission, Arrival, Assessment};

/// Why a chain has no end-to-end bound.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum ChainError {
    /// Nothing to add up.
    #[error("the chain is empty: name its tasks, from the source to the end")]
    Empty,
    /// No task of the set has this name.
    #[error("there is no task {0}: write its name as in the set")]
    UnknownTask(String),
    /// The task is not admitted, so its response has no bound that counts.
    #[error("task {0} has no promised response: make it fit, or give it a real-time policy")]
    NotAdmitted(String),
    /// A task that is released by its input accepts it more seldom than it comes.
    #[error(
        "task {task} runs at most every {shortest}, and {before} feeds it every {distance}: shorten its minimum inter-arrival time, or feed it more \
         seldom",
        shortest = Span(*shortest), distance = Span(*distance)
    )]
    InterArrivalTooLong {
        /// The task.
        task: String,
        /// Its minimum inter-arrival time.
        shortest: Duration,
        /// The task before it in the chain.
        before: String,
        /// The period or minimum inter-arrival time of the task before.
        distance: Duration,
    },
}

impl Admission {
    /// The longest time from a change at the input of the first task to a result of the last one that knows of it.
    ///
    /// For a first task that is sporadic it counts from its release. Sporadic tasks behind the first are released by the
    /// task before them, which must be the only one that releases them.
    ///
    /// # Errors
    /// When the chain is empty, a task is unknown or not admitted, or a minimum inter-arrival time is longer than the distance of its input.
    pub fn end_to_end(&self, chain: &[&str]) -> Result<Duration, ChainError> {
        let mut sum = Duration::ZERO;
        let mut before: Option<&Assessment> = None;
        for name in chain {
            let found = self.assessments.iter().find(|assessment| assessment.task.name == *name);
            let assessment = found.ok_or_else(|| ChainError::UnknownTask((*name).to_owned()))?;
            let worst = assessment.worst_response().filter(|_| assessment.is_admitted());
            sum += worst.ok_or_else(|| ChainError::NotAdmitted((*name).to_owned()))?;
            match assessment.task.arrival {
                Arrival::Periodic { period } => sum += period,
                Arrival::Sporadic { min_inter_arrival } => is_fed(assessment, min_inter_arrival, before)?,
            }
            before = Some(assessment);
        }
        before.map(|_| sum).ok_or(ChainError::Empty)
    }
}

fn is_fed(assessment: &Assessment, shortest: Duration, before: Option<&Assessment>) -> Result<(), ChainError> {
    match before {
        Some(before) if before.task.arrival.distance() < shortest => Err(ChainError::InterArrivalTooLong {
            task: assessment.task.name.clone(),
            shortest,
            before: before.task.name.clone(),
            distance: before.task.arrival.distance(),
        }),
        _ => Ok(()),
    }
}
