//! The `Date` header of responses, from the platform's clock.

use std::sync::Arc;

use crate::platform::Platform;
use http::{HeaderValue, Response, header};
use tower::util::MapResponseLayer;

/// A `tower` layer that sets the `Date` header of responses. Without it the HTTP library sets the
/// date of the operating system, and the compressed length of the header depends on its digits.
#[must_use]
pub fn dated<B>(
    platform: &Arc<dyn Platform>,
) -> MapResponseLayer<impl Fn(Response<B>) -> Response<B> + Clone + use<B>> {
    let platform = Arc::clone(platform);
    MapResponseLayer::new(move |mut response: Response<B>| {
        let date = httpdate::fmt_http_date(platform.wall_time());
        if let Ok(date) = HeaderValue::try_from(date) {
            response.headers_mut().insert(header::DATE, date);
        }
        response
    })
}
