//! Buffered standard output that tolerates a closed pipe (`strata … --json | head`).

use std::io::{self, BufWriter, ErrorKind, Stdout, Write};

use crate::output::exit::{ExitCode, Failure};

/// A buffered output that discards everything after the first error.
///
/// A closed pipe is not a failure: a search continues, and the exit code is unaffected. Any other
/// error is returned by [`Output::finish`], so that a truncated result is never mistaken for a
/// complete one.
pub(crate) struct Output<W: Write = Stdout> {
    out: Option<BufWriter<W>>,
    error: Option<io::Error>,
}

impl Output {
    /// The standard output of this process.
    pub(crate) fn stdout() -> Self {
        Output::new(io::stdout())
    }
}

impl<W: Write> Output<W> {
    /// Wraps any writer.
    pub(crate) fn new(out: W) -> Self {
        Output { out: Some(BufWriter::with_capacity(64 * 1024, out)), error: None }
    }

    /// Calls `write` with the buffer, unless an error has occurred.
    pub(crate) fn write_with(&mut self, write: impl FnOnce(&mut BufWriter<W>) -> io::Result<()>) {
        if let Some(out) = &mut self.out
            && let Err(error) = write(out)
        {
            self.close(error);
        }
    }

    /// Flushes the buffer.
    pub(crate) fn flush(&mut self) {
        self.write_with(BufWriter::flush);
    }

    /// Whether an error has occurred: nothing is written any more.
    pub(crate) fn is_closed(&self) -> bool {
        self.out.is_none()
    }

    /// Flushes the buffer.
    ///
    /// # Errors
    /// The first error, unless it was a closed pipe.
    pub(crate) fn finish(&mut self) -> io::Result<()> {
        self.flush();
        self.error.take().map_or(Ok(()), Err)
    }

    fn close(&mut self, error: io::Error) {
        if let Some(out) = self.out.take() {
            // Dropping the buffer would try to write it again.
            let _ = out.into_parts();
        }
        if error.kind() != ErrorKind::BrokenPipe {
            self.error = Some(error);
        }
    }
}

/// Writes the result of a command to standard output.
///
/// # Errors
/// Those of standard output, a closed pipe excepted.
pub fn print(write: impl FnOnce(&mut BufWriter<Stdout>) -> io::Result<()>) -> Result<(), Failure> {
    let mut output = Output::stdout();
    output.write_with(write);
    output.finish().map_err(failure)
}

/// The failure for an error of standard output.
pub(crate) fn failure(error: io::Error) -> Failure {
    let message = format!("cannot write to standard output: {error}");
    Failure::new(ExitCode::Unexpected, message)
}

#[cfg(test)]
pub(crate) mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;

    /// A writer whose content a test can read while it is in use.
    #[derive(Clone, Default)]
    pub(crate) struct Shared(Arc<Mutex<Vec<u8>>>);

    impl Shared {
        pub(crate) fn text(&self) -> String {
            String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
        }
    }

    impl Write for Shared {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// A writer that fails, and counts the attempts.
    pub(crate) struct Broken(pub(crate) ErrorKind, pub(crate) Arc<Mutex<u32>>);

    impl Write for Broken {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            *self.1.lock().unwrap() += 1;
            Err(self.0.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn output_is_buffered_until_the_flush() {
        let shared = Shared::default();
        let mut output = Output::new(shared.clone());
        output.write_with(|out| writeln!(out, "one"));
        assert_eq!(shared.text(), "");
        output.flush();
        assert_eq!(shared.text(), "one\n");
        output.write_with(|out| writeln!(out, "two"));
        output.finish().unwrap();
        assert_eq!(shared.text(), "one\ntwo\n");
    }

    #[test]
    fn a_closed_pipe_is_not_an_error() {
        let calls = Arc::default();
        let mut output = Output::new(Broken(ErrorKind::BrokenPipe, Arc::clone(&calls)));
        for _ in 0..3 {
            output.write_with(|out| writeln!(out, "line"));
            output.flush();
        }
        output.finish().unwrap();
        drop(output);
        assert_eq!(*calls.lock().unwrap(), 1);
    }

    #[test]
    fn a_full_disk_is_an_error() {
        let mut output = Output::new(Broken(ErrorKind::StorageFull, Arc::default()));
        output.write_with(|out| writeln!(out, "line"));
        let error = output.finish().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::StorageFull);
        assert_eq!(failure(error).code, ExitCode::Unexpected);
    }
}
