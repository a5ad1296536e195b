//! Ports for programs that a test starts, stops and starts again at the same address.

use std::net::{Ipv4Addr, SocketAddr};

use tokio::net::TcpSocket;

/// A loopback port that nobody else is given while this is held, listened at or not.
///
/// The socket is bound and never listens. The kernel then gives the port to no other socket that asks for any port, and
/// lets one that asks for this very port listen at it, since both allow addresses to be reused.
pub struct Port {
    pub number: u16,
    _held: TcpSocket,
}

impl Port {
    pub fn free() -> Port {
        let held = TcpSocket::new_v4().expect("a socket");
        held.set_reuseaddr(true).expect("a fresh socket");
        held.bind(SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).expect("a free loopback port");
        Port { number: held.local_addr().expect("a bound port").port(), _held: held }
    }
}

#[tokio::test]
async fn a_held_port_can_be_listened_at_again_and_again() {
    let port = Port::free();
    for _ in 0..3 {
        let address = (Ipv4Addr::LOCALHOST, port.number);
        assert!(tokio::net::TcpStream::connect(address).await.is_err());
        let listener = tokio::net::TcpListener::bind(address).await.expect("held for this");
        let (client, server) = tokio::join!(tokio::net::TcpStream::connect(address), listener.accept());
        client.and(server).expect("a connection");
    }
}
