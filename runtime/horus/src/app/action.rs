//! Actions of a program's nodes.

use std::hash::{BuildHasher, RandomState};

use super::{App, Place};
use crate::action::{
    ActionClient, ActionServer, Carried, ClientEnds, Looker, Options, Requests, ServerEnds, cancels_of, feedback_of,
    goals_of, status_of,
};
use crate::message::Message;
use crate::time::MonotonicTime;
use crate::topic::{IntoTopicName, Publisher, Subscriber};

impl App {
    /// The end of an action that works on goals, for the next node: its steps ask for the goal that runs, tell how far it is, and end it.
    ///
    /// `options` is what becomes of a goal that comes while another one runs, such as [`Preemption::Replace`](crate::action::Preemption::Replace),
    /// or all of [`Options`]. A node with a period takes goals in by its steps. `.on("NAME.goal")` releases a node by goals, and
    /// `.on("NAME.cancel")` by requests to cancel.
    ///
    /// ```
    /// use horus::action::{ActionClient, Outcome, Preemption, Progress, SentGoal};
    /// use horus::prelude::*;
    /// use horus::message::Stamp;
    ///
    /// let mut world = VirtualWorld::new(|app| {
    ///     let mut count = app.action::<Stamp, Stamp, Stamp>("count", Preemption::Replace)?;
    ///     let mut counted = 0;
    ///     let step = move |_: &Cycle| {
    ///         let Some(mut goal) = count.goal() else { return };
    ///         if goal.is_new() {
    ///             counted = 0;
    ///         }
    ///         counted += 1;
    ///         let here = Stamp { sequence: counted, sent_ns: 0 };
    ///         let _ = match goal.value().sequence {
    ///             _ if goal.is_canceling() => goal.canceled_with(here),
    ///             wanted if wanted == counted => goal.succeed(here),
    ///             _ => goal.feedback(here),
    ///         };
    ///     };
    ///     app.node("count", step).period(ms(10));
    ///
    ///     let mut client = app.action_client::<Stamp, Stamp, Stamp>("count")?;
    ///     let mut told = app.output::<Stamp>("told")?;
    ///     let mut sent = None::<SentGoal<Stamp>>;
    ///     let step = move |_: &Cycle| match &mut sent {
    ///         None => sent = client.send(Stamp { sequence: 5, sent_ns: 0 }).ok(),
    ///         Some(goal) => {
    ///             if let Ok(Progress::Ended(Outcome { result: Some(result), .. })) = goal.look(&mut client) {
    ///                 told.set(result);
    ///             }
    ///         }
    ///     };
    ///     app.node("asks", step).period(ms(10));
    ///     Ok(())
    /// })?;
    /// world.run_for(ms(200));
    /// assert_eq!(world.last::<Stamp>("told").unwrap().sequence, 5);
    /// # Ok::<(), horus::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`ServeError`](crate::service::ServeError): another server lives, other types under the same name, no permission.
    pub fn action<G: Message, F: Message, R: Message>(
        &mut self,
        action: &str,
        options: impl Into<Options>,
    ) -> crate::Result<ActionServer<G, F, R>> {
        self.action_as(action, (), (), (), options)
    }

    /// As [`action`](Self::action), for every [kind](crate::topic::payload) of payload: what both ends say of goals, feedbacks and results.
    ///
    /// # Errors
    /// As there.
    pub fn action_as<G: Carried + ?Sized, F: Carried + ?Sized, R: Carried + ?Sized>(
        &mut self,
        action: &str,
        goal: G::Shape<'_>,
        feedback: F::Shape<'_>,
        result: R::Shape<'_>,
        options: impl Into<Options>,
    ) -> crate::Result<ActionServer<G, F, R>> {
        self.settings.allow_subscriber(action)?;
        let (name, options) = (action.into_topic_name()?, options.into());
        let action = name.as_str();
        let goals = self.server_of(&goals_of(action), goal, result, options.service())?;
        let ends = ServerEnds {
            goals: Requests::InNode(goals),
            cancels: Requests::InNode(self.server_of(&cancels_of(action), (), (), options.service())?),
            feedback: Publisher::open_as(&feedback_of(action), feedback, self.placed(options.feedback()))?,
            status: Publisher::open(&status_of(action), self.placed(options.status()))?,
        };
        let server = ActionServer::assemble(action, ends, &options);
        // The clients of a world are its own nodes: they live as long as it.
        if matches!(self.place, Place::Machine) {
            let file = options.feedback().open_directory()?.file(&goals_of(action).as_str().into_topic_name()?);
            let mut looker = Looker::new(file, server.roll());
            self.background(move |_| looker.look());
        }
        Ok(server)
    }

    /// The end of an action that sends goals, for a node of any kind: it sends in one step, and looks in later ones what becomes of the goal.
    ///
    /// # Errors
    /// [`OpenError`](crate::topic::OpenError) says what is in the way and what to do.
    pub fn action_client<G: Message, F: Message, R: Message>(
        &mut self,
        action: &str,
    ) -> crate::Result<ActionClient<G, F, R>> {
        self.action_client_as(action, (), (), (), Options::default())
    }

    /// As [`action_client`](Self::action_client), for every kind.
    ///
    /// # Errors
    /// As there.
    pub fn action_client_as<G: Carried + ?Sized, F: Carried + ?Sized, R: Carried + ?Sized>(
        &mut self,
        action: &str,
        goal: G::Shape<'_>,
        feedback: F::Shape<'_>,
        result: R::Shape<'_>,
        options: impl Into<Options>,
    ) -> crate::Result<ActionClient<G, F, R>> {
        let (name, options) = (action.into_topic_name()?, options.into());
        let allowed = self.settings.allow_publisher(action, options.feedback())?;
        let options = options.of_topic(allowed);
        let action = name.as_str();
        let goals = self.client_of(&goals_of(action), goal, result, options.service())?;
        let number = match &self.place {
            Place::Machine => RandomState::new().hash_one((std::process::id(), MonotonicTime::now())),
            // The same in each run.
            Place::Conducted | Place::Virtual(_) => goals.next_place().0 as u64 + 1,
        };
        let ends = ClientEnds {
            goals,
            cancels: self.client_of(&cancels_of(action), (), (), options.service())?,
            feedback: Subscriber::open_as(&feedback_of(action), feedback, self.placed(options.feedback()))?,
        };
        Ok(ActionClient::assemble(action, ends, number))
    }
}
