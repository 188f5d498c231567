//! Files of the page, included at compile time.

use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};

/// Path, content type and content of each file.
const FILES: [(&str, &str, &[u8]); 12] = [
    ("/", HTML, include_bytes!("../../assets/index.html")),
    ("/assets/style.css", CSS, include_bytes!("../../assets/style.css")),
    ("/assets/icon.svg", SVG, include_bytes!("../../assets/icon.svg")),
    ("/assets/app.js", JS, include_bytes!("../../assets/app.js")),
    ("/assets/api.js", JS, include_bytes!("../../assets/api.js")),
    ("/assets/charts.js", JS, include_bytes!("../../assets/charts.js")),
    ("/assets/cluster.js", JS, include_bytes!("../../assets/cluster.js")),
    ("/assets/dom.js", JS, include_bytes!("../../assets/dom.js")),
    ("/assets/format.js", JS, include_bytes!("../../assets/format.js")),
    ("/assets/job.js", JS, include_bytes!("../../assets/job.js")),
    ("/assets/solution.js", JS, include_bytes!("../../assets/solution.js")),
    ("/assets/theme.js", JS, include_bytes!("../../assets/theme.js")),
];

const HTML: &str = "text/html; charset=utf-8";
const CSS: &str = "text/css; charset=utf-8";
const JS: &str = "text/javascript; charset=utf-8";
const SVG: &str = "image/svg+xml";

/// Paths of the files.
pub(crate) fn paths() -> impl Iterator<Item = &'static str> {
    FILES.iter().map(|(path, ..)| *path)
}

/// The response with the file at a path; `404` for other paths.
pub(crate) fn file(path: &str) -> Response {
    let Some((_, kind, content)) = FILES.iter().find(|(known, ..)| *known == path) else {
        return axum::http::StatusCode::NOT_FOUND.into_response();
    };
    let kind = HeaderValue::from_static(kind);
    // Browsers must ask each time: after an update of the program all files change together.
    let cache = HeaderValue::from_static("no-cache");
    ([(header::CONTENT_TYPE, kind), (header::CACHE_CONTROL, cache)], *content).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_load_nothing_from_elsewhere() {
        for (path, kind, content) in FILES {
            let text = std::str::from_utf8(content).unwrap();
            let text = text.replace("http://www.w3.org/2000/svg", "");
            assert!(!text.contains("://") && !text.contains("=\"//"), "{path}");
            assert!(kind != HTML || !(text.contains(" style=") || text.contains(" onclick=")));
        }
    }

    #[test]
    fn modules_import_only_existing_files() {
        for (path, kind, content) in FILES {
            let text = std::str::from_utf8(content).unwrap();
            let imports = text.split("from \"./").skip(1).filter_map(|rest| rest.split('"').next());
            for import in imports.filter(|_| kind == JS) {
                let wanted = format!("/assets/{import}");
                assert!(paths().any(|known| known == wanted), "{path}: {import}");
            }
        }
    }
}
