//! Services of a program's nodes.

use super::{App, Place};
use crate::message::Message;
use crate::node::{Cycle, Spec};
use crate::service::{
    Answer, Client, MAX_CALLS, NodeServer, Options, Place as Seat, Watch, mismatch, open_answers, real,
};
use crate::topic::{IntoTopicName, Payload};

/// The services of a node, by their real names.
#[derive(Default)]
pub(crate) struct Services {
    /// It asks them.
    pub asks: Vec<String>,
    /// It serves them.
    pub serves: Vec<String>,
    /// Of those that it shares with others: the service, and the topic of its own requests.
    pub shares: Vec<(String, String)>,
}

impl App {
    /// Adds a node that serves `service`, and has its name: `handler` answers each request, in a cycle that the request releases. What it
    /// returns takes the node's promise, as that of [`node`](App::node): `.min_inter_arrival(ms(100))` says how often it is asked at most.
    ///
    /// Ports that were opened and parameters that were declared before remain those of the next node.
    ///
    /// ```
    /// use horus::prelude::*;
    /// use horus::message::Stamp;
    ///
    /// let mut world = VirtualWorld::new(|app| {
    ///     app.service::<Stamp, Stamp>("next", |asked, answer| {
    ///         let _ = answer.send(Stamp { sequence: asked.sequence + 1, sent_ns: 0 });
    ///     })?
    ///     .deadline(ms(1));
    ///     let mut client = app.client::<Stamp, Stamp>("next")?;
    ///     let (mut asked, mut last) = (None, Stamp::default());
    ///     let mut told = app.output::<Stamp>("told")?;
    ///     let asker = move |_: &Cycle| match &mut asked {
    ///         None => asked = client.ask(last).ok(),
    ///         Some(pending) => {
    ///             if let Ok(Some(answer)) = pending.try_answer(&mut client) {
    ///                 last = answer;
    ///                 told.set(answer);
    ///                 asked = None;
    ///             }
    ///         }
    ///     };
    ///     app.node("asker", asker).period(ms(10));
    ///     Ok(())
    /// })?;
    /// world.run_for(ms(100));
    /// assert_eq!(world.last::<Stamp>("told").unwrap().sequence, 5);
    /// # Ok::<(), horus::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`ServeError`](crate::service::ServeError): another server lives, other types under the same name, no permission.
    pub fn service<Q: Message, A: Message>(
        &mut self,
        service: &str,
        handler: impl FnMut(Q, Answer<'_, A>) + Send + 'static,
    ) -> crate::Result<&mut Spec> {
        self.service_as::<Q, A>(service, (), (), Options::default(), handler)
    }

    /// As [`service`](Self::service), for every [kind](crate::topic::payload) of payload: what both ends say of the requests and of the answers.
    ///
    /// # Errors
    /// As there.
    pub fn service_as<Q: Payload + ?Sized + 'static, A: Payload + ?Sized + 'static>(
        &mut self,
        service: &str,
        request: Q::Shape<'_>,
        answer: A::Shape<'_>,
        options: Options,
        mut handler: impl FnMut(Q::Message<'_>, Answer<'_, A>) + Send + 'static,
    ) -> crate::Result<&mut Spec>
    where
        NodeServer<Q, A>: Send,
    {
        let ports = (std::mem::take(&mut self.inputs), std::mem::take(&mut self.outlets));
        let others = (std::mem::take(&mut self.services), std::mem::take(&mut self.params));
        let server = self.server_as::<Q, A>(service, request, answer, options);
        let declared = server.map(|mut server| {
            // All that wait, and no more: a client that asks without end must not hold the step.
            let most = server.clients() * MAX_CALLS;
            let step = move |_: &Cycle| {
                for _ in 0..most {
                    if !server.serve(&mut handler) {
                        break;
                    }
                }
            };
            self.node(service, step).on(service);
        });
        (self.inputs, self.outlets) = ports;
        (self.services, self.params) = others;
        declared?;
        Ok(&mut self.nodes.last_mut().expect("it was just added").spec)
    }

    /// The answering end of a service, for the next node, which serves it among its other work. `.on("NAME")` releases that node by
    /// requests.
    ///
    /// # Errors
    /// As [`service`](Self::service).
    pub fn server<Q: Message, A: Message>(&mut self, service: &str) -> crate::Result<NodeServer<Q, A>> {
        self.server_as(service, (), (), Options::default())
    }

    /// As [`server`](Self::server), for every kind.
    ///
    /// # Errors
    /// As [`service`](Self::service).
    pub fn server_as<Q: Payload + ?Sized, A: Payload + ?Sized>(
        &mut self,
        service: &str,
        request: Q::Shape<'_>,
        answer: A::Shape<'_>,
        options: Options,
    ) -> crate::Result<NodeServer<Q, A>> {
        self.settings.allow_subscriber(service)?;
        let is_shared = options.is_shared();
        let server = self.server_of(service, request, answer, options)?;
        let name = service.into_topic_name()?.to_string();
        if is_shared {
            self.services.shares.push((name.clone(), server.service().to_owned()));
        }
        self.services.serves.push(name);
        Ok(server)
    }

    /// As [`server_as`](Self::server_as), whatever `node.toml` allows.
    pub(super) fn server_of<Q: Payload + ?Sized, A: Payload + ?Sized>(
        &mut self,
        service: &str,
        request: Q::Shape<'_>,
        answer: A::Shape<'_>,
        options: Options,
    ) -> crate::Result<NodeServer<Q, A>> {
        let options = self.place_of(options);
        let name = service.into_topic_name()?.to_string();
        let place = Seat::take::<Q, A>(&name, request, answer, &options)?;
        let requests = self
            .open_input::<Q>(real(&place.service)?, request, options.requests())
            .map_err(|error| mismatch(&name, false, error))?;
        // The lane behind the clients' is the monitor's, which asks nothing.
        let mut begins = requests.positions();
        begins.pop();
        let answers = open_answers::<A>(&place.service, answer, &options, &begins)?;
        Ok(NodeServer::new(requests, answers, place))
    }

    /// The asking end of a service, for a node of any kind: it asks in one step, and looks for the answer in a later one.
    ///
    /// # Errors
    /// [`OpenError`](crate::topic::OpenError) says what is in the way and what to do.
    pub fn client<Q: Message, A: Message>(&mut self, service: &str) -> crate::Result<Client<Q, A>> {
        self.client_as(service, (), (), Options::default())
    }

    /// As [`client`](Self::client), for every kind.
    ///
    /// # Errors
    /// As there.
    pub fn client_as<Q: Payload + ?Sized, A: Payload + ?Sized>(
        &mut self,
        service: &str,
        request: Q::Shape<'_>,
        answer: A::Shape<'_>,
        options: Options,
    ) -> crate::Result<Client<Q, A>> {
        let allowed = self.settings.allow_publisher(service, options.requests())?;
        let options = options.in_topic(allowed);
        let client = self.client_of(service, request, answer, options)?;
        self.services.asks.push(client.service().to_owned());
        Ok(client)
    }

    /// As [`client_as`](Self::client_as), whatever `node.toml` allows.
    pub(super) fn client_of<Q: Payload + ?Sized, A: Payload + ?Sized>(
        &mut self,
        service: &str,
        request: Q::Shape<'_>,
        answer: A::Shape<'_>,
        options: Options,
    ) -> crate::Result<Client<Q, A>> {
        let mut client = Client::open_as(service, request, answer, self.place_of(options))?;
        match self.place {
            Place::Machine => {
                let mut watches = client.watches();
                self.background(move |_| watches.iter_mut().for_each(Watch::look));
                Ok(client)
            }
            // A thread that looks when it likes would make two runs differ.
            Place::Conducted => Ok(client),
            // The stamps of a machine's clock mean nothing in virtual time.
            Place::Virtual(_) => Ok(client.unstamped()),
        }
    }

    fn place_of(&self, options: Options) -> Options {
        match &self.place {
            Place::Machine | Place::Conducted => options,
            Place::Virtual(directory) => options.directory(directory),
        }
    }
}
