//! Listeners of nodes.

use std::net::SocketAddr;

use tokio::net::TcpListener;

use crate::error::NetError;

/// Listens on an address. Returns the listener and the bound address, with the chosen port if `addr`
/// has port 0.
///
/// # Errors
/// [`NetError::Listen`] if the address is taken or not one of this machine.
pub async fn listen(addr: SocketAddr) -> Result<(TcpListener, SocketAddr), NetError> {
    let failed = |source| NetError::Listen { addr, source };
    let listener = TcpListener::bind(addr).await.map_err(failed)?;
    let bound = listener.local_addr().map_err(failed)?;
    Ok((listener, bound))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_taken_address_is_named() {
        let (_listener, addr) = listen(SocketAddr::from(([127, 0, 0, 1], 0))).await.unwrap();
        assert_ne!(addr.port(), 0);
        let error = listen(addr).await.unwrap_err();
        assert!(error.to_string().starts_with(&format!("cannot listen on {addr}: ")), "{error}");
        assert!(matches!(error, NetError::Listen { .. }));
    }
}
