//! Beyond this machine only who has a certificate is served, and who has none costs nothing but a line in the journal.

mod running;

use std::io::{Read, Write};
use std::net::TcpStream;

use horus_gateway::client::{Address, ClientError, Connection, Identity};
use horus_gateway::frame::words::{Advertise, Begin, Subscribe, WhenFull};
use horus_gateway::frame::{Head, Type, batch};
use horus_gateway::server::config::Config;
use horus_gateway::tls::TlsError;
use running::PATIENCE;
use running::certificates::{Authority, Counts, listen};
use running::process::Process;

const TOPIC: &str = "[topics.speed]\ndirection = \"both\"\nbytes = 100000\ncapacity = 64\n";

fn open(address: &Address, identity: &Identity) -> Result<Connection, ClientError> {
    Connection::open_as(address, "test", Some(identity))
}

/// A sender and a receiver of topic `speed`.
fn pair(address: &Address, identity: &Identity) -> (Connection, Connection) {
    let (mut sender, mut receiver) = (open(address, identity).unwrap(), open(address, identity).unwrap());
    sender.advertise(1, &Advertise { layout_hash: 0, topic: "speed".into() }).unwrap();
    let subscription = Subscribe { begin: Begin::Now, when_full: WhenFull::DropOldest, topic: "speed".into() };
    receiver.subscribe(1, &subscription).unwrap();
    (sender, receiver)
}

/// Sends messages of many sizes one by one, each of which has to come as it is.
fn exchange((sender, receiver): &mut (Connection, Connection), messages: usize) {
    for number in 0..messages {
        let message = vec![number as u8; number * 7_919 % 100_001];
        sender.send(&Head::new(Type::Message, 1), &message).unwrap();
        let found = loop {
            let frame = receiver.receive(PATIENCE).unwrap().expect("it comes");
            match frame.head.kind {
                Type::Message => break frame.payload.to_vec(),
                Type::Batch => panic!("{} at once", batch::items(frame.payload).unwrap().len()),
                _ => {}
            }
        };
        assert!(found == message, "message {number}");
    }
    assert_eq!(receiver.damage().total(), 0);
}

/// Why a client gets nothing: the gateway's reason by TLS, or a closed connection where that came first.
fn refused(address: &Address, identity: &Identity) -> String {
    match open(address, identity) {
        Ok(_) => panic!("it was let in"),
        Err(ClientError::Untrusted(why)) => why,
        Err(ClientError::Closed) => "closed".into(),
        Err(other) => panic!("{other}"),
    }
}

#[test]
fn who_has_a_certificate_is_served_and_nobody_else_is_and_that_disturbs_nobody() {
    let (ours, other) = (Authority::new("ours"), Authority::new("another"));
    let gateway = Process::start(
        Some(&listen(&ours.sign("127.0.0.1", Counts::Now))),
        &format!("{TOPIC}[limits]\nheartbeat_ms = 60000\n"),
    );
    let address = &gateway.address;
    assert!(matches!(address, Address::Tls(_)), "{address}");
    let good = ours.client(Counts::Now);
    let mut served = pair(address, &good);
    exchange(&mut served, 200);
    let (files, memory) = (gateway.open_files(), gateway.peak_memory());

    // One that trusts the gateway, and has what another authority signed.
    let mut stranger = other.sign("laptop", Counts::Now);
    stranger.authority = ours.certificate();
    let stranger = stranger.client().unwrap();
    for (identity, words) in [
        (ours.client(Counts::NoLonger), "expired"),
        (ours.client(Counts::NotYet), "certificate"),
        (stranger, "unknown"),
    ] {
        let why = refused(address, &identity).to_lowercase();
        assert!(why.contains(words) || why == "closed", "{why}");
        exchange(&mut served, 3);
    }
    // A client that does not trust the gateway leaves by itself.
    let why = refused(address, &other.client(Counts::Now));
    assert!(why.contains("UnknownIssuer"), "{why}");
    let Address::Tls(place) = address else { unreachable!() };
    without_certificate(place, &ours);
    exchange(&mut served, 3);

    // No TLS at all, and what only looks like it.
    let hello = &[22, 3, 1, 2, 0, 1, 0, 1, 252, 3, 3];
    for garbage in [&b"GET / HTTP/1.1\r\n\r\n"[..], b"HRGW", &[0xff; 100_000], hello, &[22, 3, 3, 0xff, 0xff]] {
        for _ in 0..20 {
            let mut socket = TcpStream::connect(place).unwrap();
            let _ = socket.write_all(garbage); // the gateway may have closed it by then
            exchange(&mut served, 1);
            drop(socket);
        }
    }
    exchange(&mut served, 50);
    gateway.wait_for_files(files);
    let grown = gateway.peak_memory() - memory;
    assert!(grown < 32 << 20, "{grown} bytes more");
    let journal = gateway.end();
    for words in
        ["not let in", "certificate expired", "UnknownIssuer", "not valid yet", "no certificate", "corrupt message"]
    {
        assert!(journal.contains(words), "{words:?} is not in:\n{journal}");
    }
    assert!(journal.contains("entries were left out"), "{journal}");
    let count = journal.split(" had no certificate that counts").next().unwrap().rsplit(' ').next().unwrap();
    assert!((5..=105).contains(&count.parse::<u32>().unwrap()), "{count}");
}

/// A client that trusts the gateway and shows nothing of its own.
fn without_certificate(place: &str, authority: &Authority) {
    use rustls::pki_types::pem::PemObject;
    let mut store = rustls::RootCertStore::empty();
    store.add(rustls::pki_types::CertificateDer::from_pem_file(authority.certificate()).unwrap()).unwrap();
    let provider = std::sync::Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let config = config.with_root_certificates(store).with_no_client_auth();
    let mut tls = rustls::ClientConnection::new(config.into(), "127.0.0.1".try_into().unwrap()).unwrap();
    let mut socket = TcpStream::connect(place).unwrap();
    socket.set_read_timeout(Some(PATIENCE)).unwrap();
    let mut stream = rustls::Stream::new(&mut tls, &mut socket);
    let read = stream.write_all(b"hello").and_then(|()| stream.read(&mut [0; 100]));
    assert!(!matches!(read, Ok(1..)), "it is told nothing: {read:?}");
}

/// A client's part of a handshake, and its first words.
fn handshake(identity: &Identity) -> (rustls::ClientConnection, Vec<u8>) {
    let mut tls = rustls::ClientConnection::new(identity.clone(), "127.0.0.1".try_into().unwrap()).unwrap();
    let mut first = Vec::new();
    tls.write_tls(&mut first).unwrap();
    (tls, first)
}

#[test]
fn a_handshake_that_is_cut_anywhere_leaves_nothing() {
    let ours = Authority::new("ours");
    let settings = format!("{TOPIC}[limits]\nheartbeat_ms = 60000\n");
    let gateway = Process::start(Some(&listen(&ours.sign("127.0.0.1", Counts::Now))), &settings);
    let identity = ours.client(Counts::Now);
    let mut served = pair(&gateway.address, &identity);
    let Address::Tls(place) = &gateway.address else { unreachable!() };
    let files = gateway.open_files();
    // In the client's first words, and in those with its certificate, which answer the gateway's.
    for part in 0..2 {
        for cut in 0..8 {
            let (mut tls, mut words) = handshake(&identity);
            let mut socket = TcpStream::connect(place).unwrap();
            socket.set_read_timeout(Some(PATIENCE)).unwrap();
            if part == 1 {
                socket.write_all(&words).unwrap();
                while tls.is_handshaking() {
                    assert!(tls.read_tls(&mut socket).unwrap() > 0);
                    tls.process_new_packets().unwrap();
                }
                words.clear();
                while tls.wants_write() {
                    tls.write_tls(&mut words).unwrap();
                }
            }
            assert!(words.len() > 100, "{}", words.len());
            socket.write_all(&words[..words.len() * cut / 8]).unwrap();
            exchange(&mut served, 1);
            drop(socket);
        }
    }
    gateway.wait_for_files(files);
    exchange(&mut served, 5);
}

#[test]
fn a_handshake_byte_by_byte_ends_after_three_heartbeats() {
    let ours = Authority::new("ours");
    let settings = format!("{TOPIC}[limits]\nheartbeat_ms = 2000\n");
    let gateway = Process::start(Some(&listen(&ours.sign("127.0.0.1", Counts::Now))), &settings);
    let identity = ours.client(Counts::Now);
    let mut served = pair(&gateway.address, &identity);
    let Address::Tls(place) = &gateway.address else { unreachable!() };
    let mut socket = TcpStream::connect(place).unwrap();
    socket.set_nonblocking(true).unwrap();
    let (_, words) = handshake(&identity);
    let mut said = 0;
    for byte in &words {
        if socket.write_all(&[*byte]).is_err() || matches!(socket.read(&mut [0; 100]), Ok(0)) {
            break;
        }
        said += 1;
        exchange(&mut served, 1);
        served.1.send(&Head::new(Type::Heartbeat, 0), &[]).unwrap();
        // So few bytes that it is not through within three heartbeats.
        std::thread::park_timeout(std::time::Duration::from_millis(60));
    }
    assert!((1..words.len()).contains(&said), "it was not let finish: {said} of {}", words.len());
    exchange(&mut served, 5);
    let journal = gateway.end();
    assert!(journal.contains("silent for three heartbeats"), "{journal}");
}

#[test]
fn who_only_connects_gives_way_to_who_has_something_to_say() {
    let ours = Authority::new("ours");
    let settings = format!("{TOPIC}[limits]\nclients = 5\nheartbeat_ms = 60000\n");
    let gateway = Process::start(Some(&listen(&ours.sign("127.0.0.1", Counts::Now))), &settings);
    let mut served = pair(&gateway.address, &ours.client(Counts::Now));
    let Address::Tls(place) = &gateway.address else { unreachable!() };
    let silent: Vec<TcpStream> = (0..100).map(|_| TcpStream::connect(place).unwrap()).collect();
    let mut more = pair(&gateway.address, &ours.client(Counts::Now));
    exchange(&mut served, 10);
    exchange(&mut more, 10);
    drop(silent);
}

#[test]
fn a_session_is_not_taken_up_again_past_the_check_of_its_certificate() {
    let ours = Authority::new("ours");
    let gateway = Process::start(Some(&listen(&ours.sign("127.0.0.1", Counts::Now))), TOPIC);
    let identity = ours.client(Counts::Now);
    for _ in 0..3 {
        let mut served = pair(&gateway.address, &identity);
        exchange(&mut served, 1);
    }
    let journal = gateway.end();
    assert!(journal.contains(",certificate=laptop/"), "{journal}");
    assert_eq!(journal.matches(",certificate=").count(), journal.matches("went").count(), "{journal}");
}

#[test]
fn what_is_wrong_with_certificates_is_said_before_anything_is_listened_to() {
    use std::os::unix::fs::PermissionsExt;
    let (ours, other) = (Authority::new("ours"), Authority::new("another"));
    let good = ours.sign("127.0.0.1", Counts::Now);
    good.server().unwrap();
    let mut missing = good.clone();
    missing.key = "/nowhere/key".into();
    assert!(missing.server().unwrap_err().to_string().contains("/nowhere/key"));
    let mut swapped = good.clone();
    swapped.certificate = good.key.clone();
    assert!(matches!(swapped.server(), Err(TlsError::Content { wanted: "certificate", .. })));
    let mut foreign = good.clone();
    foreign.key = other.sign("127.0.0.1", Counts::Now).key;
    assert!(matches!(foreign.server(), Err(TlsError::Unusable { .. })));
    std::fs::set_permissions(&good.key, std::fs::Permissions::from_mode(0o604)).unwrap();
    assert!(matches!(good.server(), Err(TlsError::Open(_))));

    let open = |text: &str| text.parse::<Config>().map(|_| ()).map_err(|error| error.to_string());
    let port = "listen = [{ tcp = \"0.0.0.0:7447\" }]";
    assert!(open(port).unwrap_err().contains("add `tls = {"));
    open(&listen(&good).replace("127.0.0.1:0", "0.0.0.0:7447")).unwrap();
}
