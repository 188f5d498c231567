//! Listeners of nodes.

use std::net::SocketAddr;

use crate::platform::{Listener, Platform};

use crate::net::error::NetError;

/// Listens on an address. Returns the listener and the bound address, with the chosen port if `addr`
/// has port 0.
///
/// # Errors
/// [`NetError::Listen`] if the address is taken or not one of this machine.
pub async fn listen(
    platform: &dyn Platform,
    addr: SocketAddr,
) -> Result<(Box<dyn Listener>, SocketAddr), NetError> {
    let failed = |source| NetError::Listen { addr, source };
    let listener = platform.listen(addr).await.map_err(failed)?;
    let bound = listener.local_addr().map_err(failed)?;
    Ok((listener, bound))
}

#[cfg(test)]
mod tests {
    use crate::platform::System;
    use tokio::runtime::Handle;

    use super::*;

    #[tokio::test]
    async fn a_taken_address_is_named() {
        let system = System::new(&Handle::current());
        let loopback = SocketAddr::from(([127, 0, 0, 1], 0));
        let (_listener, addr) = listen(&*system, loopback).await.unwrap();
        assert_ne!(addr.port(), 0);
        let error = listen(&*system, addr).await.map(drop).unwrap_err();
        assert!(error.to_string().starts_with(&format!("cannot listen on {addr}: ")), "{error}");
        assert!(matches!(error, NetError::Listen { .. }));
    }
}
