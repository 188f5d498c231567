// The overview: alerts, workers, jobs.

import { bar, el, keyed, setAttribute, setBar, setText, show, table } from "./dom.js";
import * as format from "./format.js";

/** The page. `update` takes an overview. */
export function clusterPage() {
  const alerts = el("ul", { class: "alerts" });
  const alertArea = el("section", { "aria-label": "Alerts", role: "status" }, alerts);
  const tiles = tileRow();
  const workers = workerTable();
  const jobs = jobTable();
  const workerArea = el("section", { class: "card" }, workers.whole);
  const title = el("h1", {}, "Cluster");
  const node = el("div", { class: "page" }, title, alertArea, tiles.node,
    el("section", { class: "card" }, jobs.whole, ...jobs.notes), workerArea);
  return {
    node,
    title: "Overview",
    update(overview) {
      setText(title, overview.scope === "search" ? "Search" : "Cluster");
      show(alerts, overview.alerts.length > 0);
      keyed(alerts, overview.alerts, (alert) => alert.key,
        () => el("li", {}), (item, alert) => {
          setAttribute(item, "class", alert.severity);
          setText(item, alert.text);
        });
      tiles.update(overview);
      show(workerArea, overview.scope === "cluster");
      workers.update(overview.workers);
      jobs.update(overview);
    },
    end() {},
  };
}

function tileRow() {
  const names = [["workers", "Workers connected"], ["running", "Jobs running"],
    ["queued", "Jobs waiting"], ["rate", "States a second"]];
  const values = {};
  const node = el("dl", { class: "tiles" });
  for (const [key, title] of names) {
    values[key] = el("dd", {}, "–");
    node.append(el("div", {}, el("dt", {}, title), values[key]));
  }
  const number = (jobs, ...states) => jobs.filter((job) => states.includes(job.state)).length;
  return {
    node,
    update({ scope, workers, jobs }) {
      show(values.workers.parentElement, scope === "cluster");
      const alive = workers.filter((worker) => worker.alive).length;
      setText(values.workers, `${alive} of ${workers.length}`);
      setText(values.running, String(number(jobs, "running")));
      setText(values.queued, String(number(jobs, "queued", "waiting")));
      const rates = jobs.filter((job) => job.state === "running" && job.rate != null);
      setText(values.rate, rates.length ? format.short(Math.round(rates.reduce((sum, job) => sum + job.rate, 0))) : "–");
    },
  };
}

function workerTable() {
  const { whole, body, row } = table("Workers", [
    { title: "Worker" }, { title: "State" }, { title: "Threads", number: true },
    { title: "Memory", number: true }, { title: "Disk free", number: true },
    { title: "States a second", number: true }, { title: "Straggler share", number: true },
  ]);
  const create = () => {
    const line = row();
    const [, state, , memory] = line.children;
    state.append(el("span", { class: "badge" }));
    memory.append(el("span", {}), el("meter", { min: "0", max: "1", high: "0.95", "aria-label": "Memory of the budget" }));
    return line;
  };
  const update = (line, worker) => {
    const [name, state, threads, memory, disk, rate, share] = line.children;
    setAttribute(line, "class", worker.alive ? null : "silent");
    setText(name, worker.name);
    setAttribute(name, "title", worker.address);
    const [kind, text] = workerState(worker);
    setAttribute(state.firstChild, "class", `badge ${kind}`);
    setText(state.firstChild, text);
    setText(threads, worker.threads ? String(worker.threads) : "–");
    const [shown, meter] = memory.children;
    setText(shown, `${format.bytes(worker.rss_bytes)} of ${format.bytes(worker.memory_bytes)}`);
    const used = worker.memory_bytes ? worker.rss_bytes / worker.memory_bytes : 0;
    setAttribute(meter, "value", Math.min(1, used).toFixed(3));
    setText(disk, format.bytes(worker.disk_free_bytes));
    setText(rate, format.rate(worker.rate));
    setText(share, format.percent(worker.straggler_share));
  };
  return {
    whole,
    update(workers) {
      keyed(body, workers, (worker) => worker.number, create, update);
    },
  };
}

function workerState(worker) {
  if (worker.alive) return worker.leaving ? ["waiting", "leaving"] : ["running", "connected"];
  if (worker.silent_seconds == null) return ["failed", "not connected"];
  return ["failed", `silent for ${format.duration(Math.round(worker.silent_seconds))}`];
}

function jobTable() {
  const { whole, body, row } = table("Jobs", [
    { title: "Job" }, { title: "State" }, { title: "Engine" }, { title: "Progress" },
    { title: "Depth", number: true }, { title: "States a second", number: true },
    { title: "Time left", number: true }, { title: "Result", wide: true },
  ]);
  const empty = el("p", { class: "muted" }, "No jobs yet. ", el("code", {}, "strata submit panex 7"), " submits one.");
  const early = el("p", { class: "muted", hidden: true }, "The search has not begun yet.");
  const more = el("p", { class: "muted", hidden: true }, "Older jobs are not listed here: strata list shows all.");
  const create = (job) => {
    const line = row();
    const [name, state, , progress] = line.children;
    name.append(el("a", { href: `#/job/${encodeURIComponent(job.id)}` }));
    state.append(el("span", { class: "badge" }));
    progress.append(bar(`Work of ${job.id}`), el("span", { class: "after" }));
    return line;
  };
  const update = (line, job) => {
    const [name, state, engine, progress, depth, rate, left, result] = line.children;
    setText(name.firstChild, job.name || job.id);
    setAttribute(name.firstChild, "title", job.id);
    setAttribute(state.firstChild, "class", `badge ${job.state}`);
    setText(state.firstChild, format.STATES[job.state]);
    setText(engine, job.engine);
    const isOver = job.state === "done";
    const share = isOver ? 1 : job.share;
    show(progress.firstChild, job.state === "running" || share != null);
    setBar(progress.firstChild, share);
    setText(progress.lastChild, share == null ? "" : format.percent(share));
    setText(depth, format.count(job.depth));
    setText(rate, job.state === "running" ? format.rate(job.rate) : format.rate(job.mean_rate));
    setText(left, job.state === "running" && job.eta_seconds ? format.range(job.eta_seconds) : "–");
    setText(result, outcome(job));
  };
  return {
    whole,
    notes: [empty, early, more],
    update({ scope, jobs, has_more_jobs: hasMore }) {
      show(empty, jobs.length === 0 && scope === "cluster");
      show(early, jobs.length === 0 && scope === "search");
      show(more, hasMore);
      keyed(body, jobs, (job) => job.id, create, update);
    },
  };
}

/** The result of a job, or what it waits for, in one line. */
export function outcome(job) {
  if (job.result) return job.result.title;
  if (job.error) return job.error;
  if (job.waiting_for.length) return `waits for ${job.waiting_for.join(", ")}`;
  if (job.state === "waiting") return "waits for a worker";
  if (job.state === "queued") return job.queue_position ? `${job.queue_position} before it` : "next";
  return "–";
}
