//! RabbitMQ of the distribution: a node of its own on this machine, with everything in a directory that goes with it.
//!
//! A queue in memory that only one client reads, without acknowledgements: what is nearest to the other ways, and the least work for it.

use std::io::Write;
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use horus_benchmarks::transport::Failure;
use tempfile::TempDir;

use super::amqp;
use super::bare::{Buffered, LOOK};
use super::child::Child;
use super::plan::Plan;
use super::way::{Receiving, Sending, System, Way};

/// The server of the distribution.
pub const SYSTEM: System = System { name: "rabbitmq", open };
/// Its script, behind the one that wants to be a service.
const SERVER: &str = "/usr/lib/rabbitmq/bin/rabbitmq-server";
const PATIENCE: Duration = Duration::from_secs(60);
/// How long an answer may take.
const ANSWER: Duration = Duration::from_secs(10);

/// What ends together: the node before the daemon by whose help Erlang's nodes find each other, and that before the directory.
#[expect(dead_code, reason = "kept alive")]
struct Node {
    server: Child,
    names: Child,
    directory: TempDir,
}

/// A port that was free a moment ago: RabbitMQ has no way to say which one it took.
fn port() -> Result<u16, Failure> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?.port())
}

fn start() -> Result<(Node, String), Failure> {
    if !Path::new(SERVER).exists() {
        return Err(format!("{SERVER} is not there: install rabbitmq-server").into());
    }
    let directory = tempfile::tempdir()?;
    let home = directory.path();
    let file = |name: &str, text: &str| -> Result<PathBuf, Failure> {
        let path = home.join(name);
        std::fs::write(&path, text)?;
        Ok(path)
    };
    let (names_port, own_port, nodes_port) = (port()?.to_string(), port()?.to_string(), port()?.to_string());
    let mut names = Command::new("epmd");
    names.args(["-address", "127.0.0.1", "-port", &names_port]).stdout(Stdio::null()).stderr(Stdio::null());
    let mut server = Command::new(SERVER);
    server.env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default()).env("HOME", home);
    server.env("RUNNING_UNDER_SYSTEMD", "1"); // the script becomes the server, whose end is its end
    server.env("ERL_EPMD_PORT", &names_port).env("ERL_EPMD_ADDRESS", "127.0.0.1");
    server.env("RABBITMQ_NODENAME", format!("bench{own_port}@localhost"));
    server.env("RABBITMQ_NODE_IP_ADDRESS", "127.0.0.1").env("RABBITMQ_NODE_PORT", &own_port);
    server.env("RABBITMQ_DIST_PORT", &nodes_port);
    server.env("RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS", "-start_epmd false -kernel inet_dist_use_interface {127,0,0,1}");
    server.env("RABBITMQ_MNESIA_BASE", home.join("data")).env("RABBITMQ_LOG_BASE", home.join("log"));
    server.env("RABBITMQ_PID_FILE", home.join("pid"));
    server.env("RABBITMQ_CONF_ENV_FILE", file("environment", "")?);
    server.env("RABBITMQ_CONFIG_FILE", file("rabbitmq.conf", "")?);
    server.env("RABBITMQ_ENABLED_PLUGINS_FILE", file("plugins", "[].")?);
    server.stdout(Stdio::null()).stderr(Stdio::null());
    let node = Node { names: Child::start(&mut names)?, server: Child::start(&mut server)?, directory };
    Ok((node, format!("127.0.0.1:{own_port}")))
}

fn open(plan: &Plan) -> Result<Way, Failure> {
    let (node, place) = start()?;
    let until = Instant::now() + PATIENCE;
    let connect = || -> Result<TcpStream, Failure> {
        let mut stream = loop {
            match TcpStream::connect(&place) {
                Ok(stream) => break stream,
                Err(error) if Instant::now() > until => return Err(format!("{place}: {error}").into()),
                Err(_) => std::thread::sleep(LOOK),
            }
        };
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(ANSWER))?;
        amqp::greet(&mut stream)?;
        Ok(stream)
    };
    let mut receiving = connect()?;
    amqp::consume(&mut receiving)?;
    receiving.set_read_timeout(Some(LOOK))?;
    let sending = Sender { socket: connect()?, before: amqp::before(plan.bytes), bytes: plan.bytes, out: Vec::new() };
    let receiving = Receiver(Buffered::new(receiving));
    Ok(Way { sending: Box::new(sending), receiving: Box::new(receiving), middle: Box::new(node) })
}

struct Sender {
    socket: TcpStream,
    before: Vec<u8>,
    bytes: usize,
    out: Vec<u8>,
}

impl Sending for Sender {
    fn send(&mut self, messages: &[u8]) -> Result<(), Failure> {
        self.out.clear();
        for message in messages.chunks_exact(self.bytes) {
            [&self.before[..], message, b"\xCE"].iter().for_each(|part| self.out.extend_from_slice(part));
        }
        Ok(self.socket.write_all(&self.out)?)
    }
}

struct Receiver(Buffered);

impl Receiving for Receiver {
    fn receive(&mut self, each: &mut dyn FnMut(&[u8])) -> Result<(), Failure> {
        self.0.fill()?;
        let taken = amqp::bodies(self.0.bytes(), each)?;
        self.0.consume(taken);
        Ok(())
    }
}
