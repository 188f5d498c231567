//! Routes of the page: requests and their responses.

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::{Extension, Path, Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{any, get, post};
use serde::Serialize;
use strata_proto::net::Security;
use strata_proto::platform::{Instant, Platform};

use crate::dashboard::access::{self, HostNames};
use crate::dashboard::charts::ChartRequest;
use crate::dashboard::downloads;
use crate::dashboard::model::{Action, Solution};
use crate::dashboard::server::Peer;
use crate::dashboard::source::{Source, SourceError};
use crate::dashboard::state::{Shared, json};
use crate::dashboard::{assets, session};

/// Header that a page's own requests have. A page of another site cannot send it.
const OWN_REQUEST: &str = "x-strata-request";

/// Settings of a dashboard.
pub struct Dashboard {
    /// The data that it shows.
    pub source: Arc<dyn Source>,
    /// The platform it runs on.
    pub platform: Arc<dyn Platform>,
    /// The token and the certificate. With a certificate the page is served over TLS only.
    pub security: Security,
    /// Host names by which browsers may call the server, besides IP addresses, `localhost` and the
    /// names in the certificate.
    pub host_names: Vec<String>,
}

impl Dashboard {
    /// The routes of the page, which is at `/`, and of all that it loads.
    ///
    /// # Errors
    /// Those of [`Security::web`].
    pub fn router(self) -> Result<Router, strata_proto::net::NetError> {
        let Dashboard { source, platform, security, host_names } = self;
        let hosts = HostNames { names: host_names, tls: security.web()? };
        let shared = Arc::new(Shared::new(source, platform, security, hosts));
        let readers = Router::new()
            .route("/api/live", get(live_overview))
            .route("/api/live/{job}", get(live_job))
            .route("/api/jobs/{job}/chart/{kind}/{scale}/{theme}/{width}", get(chart))
            .route("/api/jobs/{job}/layers/{format}", get(layers))
            .route("/api/jobs/{job}/solution", get(solution))
            .route("/api/jobs/{job}/solution/{step}", get(position))
            .route("/api/jobs/{job}/solution/{step}/{theme}", get(drawing))
            .route_layer(from_fn_with_state(Arc::clone(&shared), check_reader));
        let writers = Router::new()
            .route("/api/jobs/{job}/{action}", post(change))
            .route_layer(from_fn_with_state(Arc::clone(&shared), check_writer));
        let login = Router::new()
            .route("/api/session", get(show_session).post(sign_in).delete(sign_out))
            .route("/api/{*rest}", any(|| async { StatusCode::NOT_FOUND }));
        let page = assets::paths().fold(Router::new(), |page, path| {
            page.route(path, get(move || async move { assets::file(path) }))
        });
        Ok(readers
            .merge(writers)
            .merge(login)
            .merge(page)
            .layer(from_fn_with_state(Arc::clone(&shared), check_request))
            .with_state(shared))
    }
}

/// An error as a response: a line of text.
fn refused(status: StatusCode, text: &str) -> Response {
    (status, format!("{text}\n")).into_response()
}

impl IntoResponse for SourceError {
    fn into_response(self) -> Response {
        let status = match &self {
            SourceError::NoSuchJob(_) => StatusCode::NOT_FOUND,
            SourceError::Refused(_) => StatusCode::CONFLICT,
            SourceError::Unavailable(_) => StatusCode::SERVICE_UNAVAILABLE,
        };
        refused(status, &self.to_string())
    }
}

/// Checks that a request is meant for this server and comes from its own page; adds the headers of all
/// responses.
async fn check_request(
    State(shared): State<Arc<Shared>>,
    request: Request,
    next: Next,
) -> Response {
    let mut response = match refusal(&shared, &request) {
        Some(response) => response,
        None => next.run(request).await,
    };
    access::protect(response.headers_mut());
    response
}

/// The response that refuses a request; `None` if the request is allowed.
fn refusal(shared: &Shared, request: &Request) -> Option<Response> {
    let Some(peer) = request.extensions().get::<Peer>() else {
        return Some(refused(StatusCode::INTERNAL_SERVER_ERROR, "the sender is not known"));
    };
    let Some(host) = access::host(request.headers()) else {
        return Some(refused(StatusCode::BAD_REQUEST, "the request names no host"));
    };
    if !shared.hosts.allow(host) {
        let text = "this name is not one of the server's HTTP names";
        return Some(refused(StatusCode::MISDIRECTED_REQUEST, text));
    }
    let is_call = request.uri().path().starts_with("/api/");
    if shared.hosts.tls.is_some() && !peer.is_encrypted {
        let path = request.uri().path();
        let target = HeaderValue::try_from(format!("https://{host}{path}"));
        return Some(match target {
            Ok(target) if !is_call => {
                (StatusCode::PERMANENT_REDIRECT, [(header::LOCATION, target)]).into_response()
            }
            _ => refused(StatusCode::FORBIDDEN, "this needs https"),
        });
    }
    let is_own = access::is_own(request.headers(), host, peer.is_encrypted);
    (is_call && !is_own).then(|| refused(StatusCode::FORBIDDEN, "this is of another site"))
}

/// The response that refuses a request for its token; `None` if the token is right, or the cluster
/// has none. A wrong token counts against the network of `peer`.
fn token_refusal(shared: &Shared, headers: &HeaderMap, peer: &Peer) -> Option<Response> {
    if !shared.security.has_token() {
        return None;
    }
    let now = Instant::now();
    if let Some(wait) = shared.security.throttle().wait(peer.ip(), now) {
        let seconds = HeaderValue::from(wait.as_secs() + 1);
        let mut response = refused(StatusCode::TOO_MANY_REQUESTS, "too many wrong tokens");
        response.headers_mut().insert(header::RETRY_AFTER, seconds);
        return Some(response);
    }
    if shared.security.authorized(headers) {
        return None;
    }
    if headers.contains_key(header::AUTHORIZATION) {
        // The delay is not used: further tokens are refused while the network is over the limit.
        let _ = shared.security.throttle().count(peer.ip(), now);
        tracing::warn!(address = %peer.address, "a wrong token was presented to the dashboard");
        return Some(refused(StatusCode::UNAUTHORIZED, "the token is wrong"));
    }
    Some(refused(StatusCode::UNAUTHORIZED, "a token is needed"))
}

/// The id of a request's session, if the session is valid.
fn session_of(shared: &Shared, headers: &HeaderMap, peer: &Peer) -> Option<String> {
    let host = access::host(headers)?;
    let id = session::presented(headers, host, peer.is_encrypted)?;
    shared.sessions.use_now(&id, Instant::now()).then_some(id)
}

/// Checks that a request may read: it has a session or the token.
async fn check_reader(
    State(shared): State<Arc<Shared>>,
    Extension(peer): Extension<Peer>,
    request: Request,
    next: Next,
) -> Response {
    if session_of(&shared, request.headers(), &peer).is_none()
        && let Some(response) = token_refusal(&shared, request.headers(), &peer)
    {
        return response;
    }
    peer.admit();
    next.run(request).await
}

/// Checks that a request may change jobs: it must present the token; a session is not enough.
async fn check_writer(
    State(shared): State<Arc<Shared>>,
    Extension(peer): Extension<Peer>,
    request: Request,
    next: Next,
) -> Response {
    if !request.headers().contains_key(OWN_REQUEST) {
        return refused(StatusCode::FORBIDDEN, "the header x-strata-request is missing");
    }
    if let Some(response) = token_refusal(&shared, request.headers(), &peer) {
        return response;
    }
    peer.admit();
    next.run(request).await
}

/// Sign-in state of a browser, as it is sent.
#[derive(Serialize)]
struct SessionState {
    is_signed_in: bool,
    /// Whether the cluster has a token.
    needs_token: bool,
}

async fn show_session(
    State(shared): State<Arc<Shared>>,
    Extension(peer): Extension<Peer>,
    headers: HeaderMap,
) -> Response {
    let needs_token = shared.security.has_token();
    let is_signed_in = !needs_token || session_of(&shared, &headers, &peer).is_some();
    as_json(&SessionState { is_signed_in, needs_token })
}

async fn sign_in(
    State(shared): State<Arc<Shared>>,
    Extension(peer): Extension<Peer>,
    headers: HeaderMap,
) -> Response {
    if let Some(response) = token_refusal(&shared, &headers, &peer) {
        return response;
    }
    let host = access::host(&headers).unwrap_or_default();
    let begun = shared.sessions.begin(&*shared.platform, Instant::now());
    let cookie =
        begun.map(|id| HeaderValue::try_from(session::cookie(&id, host, peer.is_encrypted)));
    match cookie {
        Ok(Ok(cookie)) => {
            tracing::info!(address = %peer.address, "signed in to the dashboard");
            (StatusCode::NO_CONTENT, [(header::SET_COOKIE, cookie)]).into_response()
        }
        Ok(Err(_)) => StatusCode::BAD_REQUEST.into_response(),
        Err(error) => refused(StatusCode::SERVICE_UNAVAILABLE, &error.to_string()),
    }
}

/// Ends the request's own session. This needs no token.
async fn sign_out(
    State(shared): State<Arc<Shared>>,
    Extension(peer): Extension<Peer>,
    headers: HeaderMap,
) -> Response {
    if let Some(id) = session_of(&shared, &headers, &peer) {
        shared.sessions.end(&id);
    }
    let host = access::host(&headers).unwrap_or_default();
    match HeaderValue::try_from(session::no_cookie(host, peer.is_encrypted)) {
        Ok(cookie) => (StatusCode::NO_CONTENT, [(header::SET_COOKIE, cookie)]).into_response(),
        Err(_) => StatusCode::BAD_REQUEST.into_response(),
    }
}

async fn live_overview(
    State(shared): State<Arc<Shared>>,
    Extension(peer): Extension<Peer>,
    headers: HeaderMap,
) -> Response {
    live(&shared, &peer, &headers, None)
}

async fn live_job(
    State(shared): State<Arc<Shared>>,
    Extension(peer): Extension<Peer>,
    Path(job): Path<String>,
    headers: HeaderMap,
) -> Response {
    live(&shared, &peer, &headers, Some(job))
}

/// A stream of server-sent events, which ends with the session.
fn live(shared: &Arc<Shared>, peer: &Peer, headers: &HeaderMap, topic: Option<String>) -> Response {
    let Some(viewer) = shared.live.view(topic.clone(), || shared.compute(topic)) else {
        return refused(StatusCode::SERVICE_UNAVAILABLE, "too many pages are open");
    };
    let session = session_of(shared, headers, peer);
    let sessions = Arc::clone(shared);
    let may_go_on = move || match &session {
        Some(id) => sessions.sessions.use_now(id, Instant::now()),
        None => true,
    };
    let kind = HeaderValue::from_static("text/event-stream");
    let body = Body::from_stream(viewer.events(may_go_on));
    ([(header::CONTENT_TYPE, kind)], body).into_response()
}

async fn chart(
    State(shared): State<Arc<Shared>>,
    Path((job, kind, scale, theme, width)): Path<(String, String, String, String, String)>,
) -> Response {
    let Some(request) = ChartRequest::parse(&kind, &scale, &theme, &width) else {
        return StatusCode::NOT_FOUND.into_response();
    };
    match shared.chart(job, request).await {
        Ok(chart) => svg(chart.to_string()),
        Err(error) => error.into_response(),
    }
}

async fn layers(
    State(shared): State<Arc<Shared>>,
    Path((job, format)): Path<(String, String)>,
) -> Response {
    let Some(format) = downloads::Format::parse(&format) else {
        return StatusCode::NOT_FOUND.into_response();
    };
    match downloads::layers(&shared, job, format).await {
        Ok((name, stream)) => {
            let kind = HeaderValue::from_static(format.content_type());
            let disposition = HeaderValue::try_from(format!("attachment; filename=\"{name}\""))
                .unwrap_or(HeaderValue::from_static("attachment"));
            let headers =
                [(header::CONTENT_TYPE, kind), (header::CONTENT_DISPOSITION, disposition)];
            (headers, Body::from_stream(stream)).into_response()
        }
        Err(error) => error.into_response(),
    }
}

async fn solution(State(shared): State<Arc<Shared>>, Path(job): Path<String>) -> Response {
    match shared.solution(&job).await {
        Ok(solution) => as_json(&ShownSolution {
            has_positions: !solution.positions.is_empty(),
            solution: &solution,
        }),
        Err(error) => error.into_response(),
    }
}

/// A solution as it is sent, without positions.
#[derive(Serialize)]
struct ShownSolution<'a> {
    #[serde(flatten)]
    solution: &'a Solution,
    has_positions: bool,
}

/// The position after some moves of a solution.
async fn position_text(shared: &Shared, job: &str, step: &str) -> Result<String, Response> {
    let solution = shared.solution(job).await.map_err(IntoResponse::into_response)?;
    let position = step.parse().ok().and_then(|step: usize| solution.positions.get(step));
    position.cloned().ok_or_else(|| StatusCode::NOT_FOUND.into_response())
}

async fn position(
    State(shared): State<Arc<Shared>>,
    Path((job, step)): Path<(String, String)>,
) -> Response {
    match position_text(&shared, &job, &step).await {
        Ok(text) => text.into_response(),
        Err(response) => response,
    }
}

async fn drawing(
    State(shared): State<Arc<Shared>>,
    Path((job, step, theme)): Path<(String, String, String)>,
) -> Response {
    let text = match position_text(&shared, &job, &step).await {
        Ok(text) => text,
        Err(response) => return response,
    };
    let dark = theme == "dark";
    match shared.blocking(move |source| source.drawing(&job, &text, dark)).await {
        Ok(Some(drawing)) => svg(drawing),
        Ok(None) => StatusCode::NOT_FOUND.into_response(),
        Err(error) => error.into_response(),
    }
}

async fn change(
    State(shared): State<Arc<Shared>>,
    method: Method,
    Path((job, action)): Path<(String, String)>,
) -> Response {
    let action = match (method, action.as_str()) {
        (Method::POST, "cancel") => Action::Cancel,
        (Method::POST, "resume") => Action::Resume,
        (Method::POST, "remove") => Action::Remove,
        _ => return StatusCode::NOT_FOUND.into_response(),
    };
    match shared.blocking(move |source| source.change(&job, action)).await {
        Ok(()) => StatusCode::NO_CONTENT.into_response(),
        Err(error) => error.into_response(),
    }
}

fn svg(text: String) -> Response {
    let kind = HeaderValue::from_static("image/svg+xml");
    ([(header::CONTENT_TYPE, kind)], text).into_response()
}

fn as_json(value: &impl Serialize) -> Response {
    let kind = HeaderValue::from_static("application/json");
    ([(header::CONTENT_TYPE, kind)], json(value)).into_response()
}

#[cfg(test)]
mod tests;
