//! The `Date` header of responses, from the platform's clock.

use std::sync::Arc;

use crate::platform::Platform;
use http::{HeaderValue, Response, header};
use tower::util::MapResponseLayer;

/// A layer that gives responses their date. Without it, the HTTP library takes the date from the
/// operating system, and compresses it to a length that depends on its digits.
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
