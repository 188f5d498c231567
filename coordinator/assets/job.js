// A job: progress, figures, charts, log, result, and changes.

import { change, needsToken } from "./api.js";
import { chart } from "./charts.js";
import { outcome } from "./cluster.js";
import { bar, button, el, facts, keyed, setAttribute, setBar, setText, show } from "./dom.js";
import * as format from "./format.js";
import { solutionPanel } from "./solution.js";

/** The page of a job. `update` takes a job with the version of its charts, `log` the end of its log. */
export function jobPage(id) {
  const title = el("h1", {}, id);
  const badge = el("span", { class: "badge", role: "status" });
  const subtitle = el("p", { class: "muted" });
  const note = el("p", { class: "note", hidden: true });
  const actions = actionRow(id);
  const progress = progressCard();
  const figures = figureCard();
  const main = chart(id, "positions", "Positions by depth", true);
  const others = [
    chart(id, "rate", "Throughput over time"),
    chart(id, "bytes-per-state", "Bytes a state by depth", true),
    chart(id, "time", "Time of each layer", true),
    chart(id, "bytes", "Bytes of each layer", true),
    chart(id, "traffic", "Bytes read and written", true),
  ];
  const ofFiles = [others[1], others[3], others[4]];
  const result = resultCard(id);
  const search = searchCard(id);
  const log = logCard();
  const node = el("div", { class: "page" },
    el("p", { class: "back" }, el("a", { href: "#/" }, "← Overview")),
    el("div", { class: "heading" }, title, badge, el("span", { class: "grow" }), actions.node),
    subtitle, note, actions.message, progress.node, result.node, figures.node,
    el("section", { class: "card", "aria-label": "Main chart" }, main.node),
    el("section", { class: "charts", "aria-label": "More charts" }, ...others.map((one) => one.node)),
    search.node, log.node);
  return {
    node,
    title: id,
    update({ job, charts }) {
      setText(title, job.name || job.id);
      setAttribute(badge, "class", `badge large ${job.state}`);
      setText(badge, format.STATES[job.state]);
      const params = Object.entries(job.params).map(([name, value]) => `${name} ${value}`);
      setText(subtitle, [job.name ? job.id : null, [job.space, ...params].join(", "), `${job.engine} engine${job.engine_reason ? ` (${job.engine_reason})` : ""}`].filter(Boolean).join(" · "));
      const line = outcome(job);
      const isNoted = !job.result && line !== "–";
      show(note, isNoted);
      setText(note, isNoted ? line : "");
      setAttribute(note, "class", `note ${job.state}`);
      actions.update(job);
      progress.update(job);
      figures.update(job);
      result.update(job);
      search.update(job);
      // The symbolic engine writes no layer files.
      for (const one of ofFiles) show(one.node, job.engine !== "symbolic");
      for (const one of [main, ...others]) one.update(charts, job.depth);
    },
    log: log.update,
    gone() {
      setText(badge, "removed");
      setAttribute(badge, "class", "badge large cancelled");
      show(note, true);
      setText(note, "This job has been removed, or there is none of this id.");
      actions.update(null);
    },
    end: () => [main, ...others, result].forEach((one) => one.end()),
  };
}

/** Progress of the work and of the depth, apart: layers differ in width. */
function progressCard() {
  const rows = {};
  const node = el("section", { class: "card progress", "aria-label": "Progress" });
  for (const [key, name] of [["work", "Work"], ["depth", "Depth"]]) {
    rows[key] = { bar: bar(name), text: el("span", { class: "after" }) };
    node.append(el("div", { class: "measure" }, el("span", { class: "name" }, name), rows[key].bar, rows[key].text));
  }
  const left = el("p", { class: "left" });
  node.append(left);
  return {
    node,
    update(job) {
      const isDone = job.state === "done";
      const share = isDone ? 1 : job.share;
      const isRunning = job.state === "running";
      setBar(rows.work.bar, share ?? (isRunning ? null : 0));
      setText(rows.work.text, share == null ? "the whole is not known" : format.percent(share));
      const deepest = isDone ? job.depth : job.expected_depth;
      setBar(rows.depth.bar, deepest && job.depth != null ? job.depth / deepest : (isRunning ? null : 0));
      const upTo = deepest && !isDone ? ` of at most ${format.count(deepest)}` : "";
      setText(rows.depth.text, job.depth == null ? "no layer yet" : `${format.count(job.depth)}${upTo}`);
      setText(left, isRunning ? `Time left: ${format.range(job.eta_seconds)}` : "");
      show(left, isRunning);
    },
  };
}

function figureCard() {
  const { list, values } = facts([
    ["states", "States"], ["positions", "Positions"], ["orbits", "Orbits"],
    ["layer", "Last layer"],
    ["rate", "Rate now"], ["mean", "Mean rate"], ["time", "Search time"],
    ["checkpoint", "Last checkpoint"], ["cost", "Its cost"], ["workers", "Workers"],
    ["created", "Submitted"], ["ended", "Ended"],
  ]);
  return {
    node: el("section", { class: "card", "aria-label": "Figures" }, list),
    update(job) {
      const expected = job.state === "running" && job.expected_states;
      setText(values.states, format.count(job.states) + (expected ? ` of about ${format.short(expected)}` : ""));
      setText(values.positions, job.positions ? format.count(job.positions) : "–");
      setText(values.orbits, job.orbits ? format.count(job.orbits) : "–");
      setText(values.layer, job.depth == null ? "–" : `${format.count(job.layer_states)} states`);
      setText(values.rate, job.state === "running" ? format.rate(job.rate) : "–");
      setText(values.mean, format.rate(job.mean_rate));
      setText(values.time, format.duration(job.seconds));
      const last = job.checkpoint;
      const age = last?.age_seconds == null ? "" : `, ${format.duration(Math.round(last.age_seconds))} ago`;
      setText(values.checkpoint, last ? `depth ${format.count(last.depth)}${age}` : "none yet");
      const cost = last && [last.cost_seconds != null ? format.duration(last.cost_seconds) : null,
        last.bytes ? format.bytes(last.bytes) : null].filter(Boolean).join(", ");
      setText(values.cost, cost || "–");
      setText(values.workers, String(job.workers));
      setText(values.created, format.time(job.created_ms));
      setText(values.ended, format.time(job.ended_ms));
    },
  };
}

function logCard() {
  const list = el("ol", { class: "log", "aria-label": "Events, newest first", tabindex: "0" });
  return {
    node: el("section", { class: "card" }, el("h2", {}, "Events"), list),
    update(entries) {
      const seen = new Map();
      const items = entries.map((entry) => {
        const same = `${entry.time_ms} ${entry.text}`;
        seen.set(same, (seen.get(same) ?? 0) + 1);
        return { ...entry, key: `${same} ${seen.get(same)}` };
      });
      keyed(list, items.reverse(), (entry) => entry.key, (entry) => el("li", { class: entry.level.toLowerCase() },
        el("time", { datetime: new Date(entry.time_ms).toISOString() }, format.time(entry.time_ms)),
        el("span", { class: "level" }, entry.level), el("span", { class: "text" }, entry.text)), () => {});
    },
  };
}

function resultCard(id) {
  const title = el("h2", {});
  const { list, values } = facts([
    ["moves", "Fewest moves"], ["depth", "Greatest depth"], ["states", "States"],
    ["widest", "Widest layer"], ["disk", "Most disk"], ["memory", "Most memory of a worker"],
  ]);
  const digest = copied("Digest");
  const solution = solutionPanel(id);
  const node = el("section", { class: "card result", "aria-label": "Result", hidden: true },
    title, list, digest.node, solution.node);
  return {
    node,
    end: solution.end,
    update(job) {
      const result = job.result;
      show(node, Boolean(result));
      solution.update(job);
      if (!result) return;
      setText(title, result.title);
      setText(values.moves, result.moves == null ? "–" : format.count(result.moves));
      setText(values.depth, format.count(result.depth));
      setText(values.states, format.count(result.states));
      setText(values.widest, `${format.count(result.widest)} states at depth ${format.count(result.widest_depth)}`);
      setText(values.disk, format.bytes(result.disk_peak_bytes));
      setText(values.memory, format.bytes(result.peak_rss_bytes));
      digest.update(result.digest);
    },
  };
}

/** The command that repeats the search, and downloads. */
function searchCard(id) {
  const command = copied("Search it again with");
  const path = `/api/jobs/${encodeURIComponent(id)}/layers`;
  const downloads = el("p", {}, "Layers: ", el("a", { href: `${path}/csv`, download: true }, "CSV"), " ",
    el("a", { href: `${path}/json`, download: true }, "JSON lines"));
  const node = el("section", { class: "card search", "aria-label": "Command and downloads", hidden: true },
    command.node, downloads);
  return {
    node,
    update(job) {
      show(node, Boolean(job.command || job.depth != null));
      command.update(job.command);
      show(downloads, job.depth != null);
    },
  };
}

/** A text with a button that copies it. */
function copied(title) {
  const text = el("code", {});
  const press = button("Copy", async () => {
    try {
      await navigator.clipboard.writeText(text.textContent);
      setText(press, "Copied");
    } catch {
      getSelection().selectAllChildren(text);
      setText(press, "Selected");
    }
    setTimeout(() => setText(press, "Copy"), 2000);
  }, "quiet");
  press.setAttribute("aria-label", `Copy: ${title}`);
  const node = el("div", { class: "copied" }, el("span", { class: "name" }, title), text, press);
  return {
    node,
    update(value) {
      show(node, Boolean(value));
      setText(text, value || "");
    },
  };
}

const QUESTIONS = {
  cancel: ["Cancel this job?", "It ends at the next layer with a checkpoint, and can be resumed.", "Cancel job", "Keep running"],
  resume: ["Resume this job?", "It is queued again and goes on from its last checkpoint.", "Resume job", "Not now"],
  remove: ["Delete this job?", "Its record, its layers and its files on all workers are removed. This cannot be undone.", "Delete job", "Keep it"],
};

/** The buttons that change a job. */
function actionRow(id) {
  const message = el("p", { class: "error", role: "alert" });
  const act = (action) => async () => {
    setText(message, "");
    try {
      const answer = await ask(action, await needsToken());
      if (!answer) return;
      await change(id, action, answer.token);
      if (action === "remove") location.hash = "#/";
    } catch (error) {
      setText(message, error.message);
    }
  };
  const buttons = {
    cancel: button("Cancel", act("cancel")),
    resume: button("Resume", act("resume"), "primary"),
    remove: button("Delete", act("remove"), "danger"),
  };
  const node = el("div", { class: "actions" }, ...Object.values(buttons));
  return {
    node,
    message,
    update(job) {
      const may = (...states) => Boolean(job?.may_change && states.includes(job.state));
      show(buttons.cancel, may("queued", "waiting", "running"));
      show(buttons.resume, may("stopped", "cancelled", "failed"));
      show(buttons.remove, may("stopped", "cancelled", "failed", "done"));
    },
  };
}

/** Asks whether to make a change, and for the token if it is needed. Null if the answer is no. */
function ask(action, needsSecret) {
  const [question, effect, yes, no] = QUESTIONS[action];
  const input = el("input", {
    id: "confirm-token", type: "password", autocomplete: "off", required: needsSecret, spellcheck: "false",
  });
  const form = el("form", { method: "dialog" },
    el("h2", { id: "question" }, question), el("p", {}, effect),
    needsSecret ? el("div", {}, el("label", { for: "confirm-token" }, "Token of the cluster, for a change"), input) : null,
    el("div", { class: "actions" },
      el("button", { type: "submit", value: "yes", class: action === "remove" ? "danger" : "primary" }, yes),
      button(no, () => dialog.close("no"))));
  const dialog = el("dialog", { "aria-labelledby": "question" }, form);
  document.body.append(dialog);
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(dialog.returnValue === "yes" ? { token: needsSecret ? input.value : undefined } : null);
    });
  });
}
