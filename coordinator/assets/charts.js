// Charts: images that the server draws. A new version is loaded first and then shown, so nothing jumps.

import { el, setText } from "./dom.js";
import { onTheme, theme } from "./theme.js";

const WIDTHS = [360, 640, 960];

/** A chart of a job. `scales` adds a switch between a linear and a logarithmic axis. */
export function chart(job, kind, title, scales) {
  const image = el("img", { alt: title, width: "640", height: "320" });
  const empty = el("p", { class: "muted" }, "No layers yet.");
  const download = el("a", { class: "download", download: `${job}-${kind}.svg` }, "SVG");
  let scale = "linear";
  let version = null;
  let shown = "";

  const path = () => {
    const room = image.parentElement?.clientWidth || 640;
    const width = WIDTHS.find((one) => one >= room) ?? WIDTHS.at(-1);
    return `/api/jobs/${encodeURIComponent(job)}/chart/${kind}/${scale}/${theme()}/${width}`;
  };
  const load = () => {
    if (version === null) return;
    const source = `${path()}?version=${version}`;
    if (source === shown) return;
    shown = source;
    download.href = path();
    const next = new Image();
    next.addEventListener("load", () => {
      if (shown !== source) return;
      image.src = source;
      image.width = next.naturalWidth;
      image.height = next.naturalHeight;
      empty.hidden = true;
    });
    // A chart that failed is tried again with the next version.
    next.addEventListener("error", () => setText(empty, "The chart cannot be loaded."));
    next.src = source;
  };
  const toggle = scales && el("button", {
    type: "button",
    class: "quiet",
    "aria-pressed": "false",
    on: {
      click: () => {
        scale = scale === "linear" ? "log" : "linear";
        toggle.setAttribute("aria-pressed", String(scale === "log"));
        load();
      },
    },
  }, "Logarithmic");
  const node = el("figure", { class: "chart" },
    el("figcaption", {}, el("span", {}, title), el("span", { class: "grow" }), toggle || null, download),
    el("div", { class: "frame" }, image, empty));
  const ends = [onTheme(load)];
  const observer = new ResizeObserver(load);
  observer.observe(node);
  ends.push(() => observer.disconnect());
  return {
    node,
    /** Shows a version; null for a job that has too many layers for charts. */
    update(next, depth) {
      if (next === null) {
        setText(empty, `This job has too many layers for charts here: strata plot ${job} draws them.`);
        return;
      }
      if (depth == null) return;
      version = next;
      load();
    },
    end: () => ends.forEach((end) => end()),
  };
}
