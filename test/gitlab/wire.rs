//! Connections that can be reset under a request.

use axum::extract::connect_info::Connected;
use axum::serve::{IncomingStream, Listener};
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};

/// Marks one connection as doomed: the next byte written to it resets it.
#[derive(Clone, Default)]
pub struct Doom(Arc<AtomicBool>);

impl Doom {
    /// The connection dies with a reset instead of carrying another byte.
    pub fn seal(&self) {
        self.0.store(true, Ordering::SeqCst);
    }

    fn sealed(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }
}

/// A listener whose connections can be doomed.
pub struct Wire(pub TcpListener);

impl Listener for Wire {
    type Io = Line;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Line, SocketAddr) {
        let (stream, from) = Listener::accept(&mut self.0).await;
        // A reset instead of an orderly end, should the line be doomed.
        (Line { stream, doom: Doom::default() }, from)
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.0.local_addr()
    }
}

impl Connected<IncomingStream<'_, Wire>> for Doom {
    fn connect_info(stream: IncomingStream<'_, Wire>) -> Doom {
        stream.io().doom.clone()
    }
}

/// One connection.
pub struct Line {
    stream: TcpStream,
    doom: Doom,
}

impl AsyncRead for Line {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buf)
    }
}

impl AsyncWrite for Line {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        if self.doom.sealed() {
            // With nothing lingering, closing the socket sends a reset.
            let _ = self.stream.set_zero_linger();
            return Poll::Ready(Err(io::ErrorKind::ConnectionReset.into()));
        }
        Pin::new(&mut self.stream).poll_write(cx, buf)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.doom.sealed() {
            true => Poll::Ready(Ok(())),
            false => Pin::new(&mut self.stream).poll_shutdown(cx),
        }
    }
}
