//! `--ui` of `solve` and `resume`: the web page of a search in this process.

use std::net::SocketAddr;
use std::sync::Arc;

use strata_coordinator::dashboard::Dashboard;
use strata_proto::net::{NetError, Security, TlsFiles, Token};
use strata_proto::platform::{Platform, System};
use strata_run::{CancelToken, Request};
use tokio::runtime::{Builder, Runtime};

use super::page::{PageSink, SearchPage};
use crate::output::console::Console;
use crate::output::exit::{ExitCode, Failure};
use crate::output::progress::Progress;
use crate::spaces::repeat;

/// The page of a search, served until it is dropped.
pub(super) struct Ui {
    /// Its address with the token.
    link: String,
    _runtime: Runtime,
}

impl Ui {
    /// Starts the page of a search at an address, and adds it to the displays; none without an
    /// address. Prints the page's address.
    ///
    /// # Errors
    /// If the address is beyond this machine, or taken.
    pub(super) fn start(
        addr: Option<SocketAddr>,
        request: &Request,
        progress: &Progress,
        console: &Console,
    ) -> Result<Option<Ui>, Failure> {
        let Some(addr) = addr else { return Ok(None) };
        if !addr.ip().to_canonical().is_loopback() {
            let message = format!(
                "--ui={addr} is beyond this machine, where the page and its token would be sent \
                 unencrypted: use a loopback address and, from elsewhere, an SSH tunnel"
            );
            return Err(Failure::usage(message));
        }
        let spec = request.spec();
        let command = repeat::command(&spec.space, &spec.params, spec.engine.name());
        let page = SearchPage::new(request, command);
        let (token, secret) = Token::random().map_err(Failure::usage)?;
        let security = Security::open(Some(token), &TlsFiles::default()).map_err(Failure::usage)?;
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build();
        let runtime = runtime.map_err(|error| {
            Failure::new(ExitCode::Unexpected, format!("cannot start the page: {error}"))
        })?;
        let serving = serve(&runtime, addr, security, page.clone());
        let bound = runtime.block_on(serving).map_err(Failure::usage)?;
        let link = format!("http://{bound}/#token={secret}");
        console.notice(&format!("page: {link}"));
        progress.add(Box::new(PageSink(page)));
        Ok(Some(Ui { link, _runtime: runtime }))
    }

    /// Keeps the page after a search with a result, which ended with this code, until the search's
    /// token is cancelled, which Ctrl-C does. After an early end it returns at once.
    pub(super) fn keep_after(&self, code: ExitCode, console: &Console, cancel: &CancelToken) {
        if !matches!(code, ExitCode::Done | ExitCode::NoGoal) {
            return;
        }
        console.notice(&format!("the page stays until Ctrl-C: {}", self.link));
        while !cancel.is_cancelled() {
            std::thread::sleep(std::time::Duration::from_millis(100));
        }
    }
}

/// Serves a page on the threads of a runtime. Returns the bound address.
async fn serve(
    runtime: &Runtime,
    addr: SocketAddr,
    security: Security,
    page: SearchPage,
) -> Result<SocketAddr, NetError> {
    let platform: Arc<dyn Platform> = System::new(runtime.handle());
    let (listener, bound) = strata_proto::net::listen(&*platform, addr).await?;
    let dashboard =
        Dashboard { source: Arc::new(page), platform, security, host_names: Vec::new() };
    let router = dashboard.router()?;
    runtime.spawn(strata_coordinator::dashboard::serve(listener, router, None));
    Ok(bound)
}
