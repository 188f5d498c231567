//! Limit on wrong tokens: eight from one network at once, then one in two seconds.
//!
//! Above this rate the sign-in of the web page refuses all tokens of the network, right ones too;
//! browsers that are signed in stay signed in. gRPC and `/metrics` always admit the right token and
//! only delay the refusal of a wrong one, so that others in their network cannot lock out nodes and
//! collectors.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::platform::Instant;

/// Wrong tokens that one network may present at once.
const BURST: u32 = 8;

/// Time after which a network may present one more wrong token.
const EACH: Duration = Duration::from_secs(2);

/// Networks whose wrong tokens are counted at a time.
const NETWORKS: usize = 1024;

/// Counts wrong tokens by the sender's network.
#[derive(Debug, Default)]
pub struct Throttle {
    /// By network, the time from which its wrong tokens no longer count.
    forgiven: Mutex<HashMap<IpAddr, Instant>>,
}

impl Throttle {
    fn forgiven(&self) -> MutexGuard<'_, HashMap<IpAddr, Instant>> {
        self.forgiven.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How long the network of `from` is over the limit; `None` if it is not.
    #[must_use]
    pub fn wait(&self, from: IpAddr, now: Instant) -> Option<Duration> {
        let debt = self.forgiven().get(&network(from))?.saturating_duration_since(now);
        let over = debt.saturating_sub((BURST - 1) * EACH);
        (!over.is_zero()).then_some(over)
    }

    /// Counts a wrong token. Returns the delay of its refusal: zero while the network is within the
    /// limit, at most two seconds.
    pub fn count(&self, from: IpAddr, now: Instant) -> Duration {
        let delay = self.wait(from, now).unwrap_or_default().min(EACH);
        let mut forgiven = self.forgiven();
        if forgiven.len() >= NETWORKS {
            forgiven.retain(|_, time| *time > now);
        }
        if forgiven.len() >= NETWORKS {
            let first = forgiven.iter().min_by_key(|(_, time)| **time).map(|(network, _)| *network);
            first.and_then(|first| forgiven.remove(&first));
        }
        let time = forgiven.entry(network(from)).or_insert(now);
        // Bounded, so that many wrong tokens block a network no longer than a few do.
        *time = ((*time).max(now) + EACH).min(now + (BURST + 1) * EACH);
        if delay.is_zero() && *time == now + BURST * EACH {
            tracing::warn!(address = %from, "many wrong tokens come from here");
        }
        delay
    }
}

/// The network of an address: an IPv4 address itself, or the upper 64 bits of an IPv6 address,
/// because one host can have all addresses of such a network.
fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => {
            let [a, b, c, d, ..] = address.segments();
            IpAddr::V6(Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0))
        }
        address @ IpAddr::V4(_) => address,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrong_tokens_are_limited_by_network() {
        let throttle = Throttle::default();
        let (one, other) = (IpAddr::from([10, 0, 0, 1]), IpAddr::from([10, 0, 0, 2]));
        let now = Instant::now();
        for _ in 0..BURST {
            assert_eq!(throttle.wait(one, now), None);
            assert_eq!(throttle.count(one, now), Duration::ZERO);
        }
        assert_eq!(throttle.wait(one, now), Some(EACH));
        assert_eq!(throttle.wait(other, now), None);
        let later = now + EACH;
        assert_eq!(throttle.wait(one, later), None);
        assert_eq!(throttle.count(one, later), Duration::ZERO);
        assert_eq!(throttle.wait(one, later), Some(EACH));
        for _ in 0..1000 {
            assert_eq!(throttle.count(one, later), EACH);
        }
        assert_eq!(throttle.wait(one, later + 2 * EACH), None);
        assert_eq!(throttle.wait(one, now + Duration::from_secs(60)), None);
        assert_eq!(throttle.count(other, now), Duration::ZERO);
    }

    #[test]
    fn the_table_is_bounded_and_ipv6_hosts_cannot_change_their_address() {
        let throttle = Throttle::default();
        let now = Instant::now();
        for number in 0..2 * NETWORKS as u32 {
            let _ = throttle.count(IpAddr::from(number.to_be_bytes()), now);
        }
        assert_eq!(throttle.forgiven().len(), NETWORKS);
        let host = |last| IpAddr::V6(Ipv6Addr::new(0x2001, 0xdb8, 1, 2, 3, 4, 5, last));
        assert_eq!(network(host(1)), network(host(2)));
        assert_eq!(network("::ffff:10.0.0.1".parse().unwrap()), IpAddr::from([10, 0, 0, 1]));
    }
}
