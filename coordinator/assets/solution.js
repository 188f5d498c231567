// A solution, step by step.

import { position, solution } from "./api.js";
import { button, el, setAttribute, setText, show } from "./dom.js";
import { count } from "./format.js";
import { onTheme, theme } from "./theme.js";

/** Time of one move, in milliseconds. */
const PACE = 600;

/** The panel of a job's solution. */
export function solutionPanel(id) {
  const open = button("Show the solution", load);
  const message = el("p", { class: "muted", role: "status" });
  const place = el("div", {});
  const row = el("div", {}, open);
  const node = el("div", { class: "solution", hidden: true }, row, message, place);
  let end = () => {};

  async function load() {
    open.disabled = true;
    setText(message, "The moves are being traced…");
    try {
      const found = await solution(id);
      const player = playerOf(id, found);
      end = player.end;
      place.replaceChildren(player.node);
      setText(message, "");
      show(row, false);
    } catch (error) {
      setText(message, error.message);
    }
    open.disabled = false;
  }
  return {
    node,
    update(job) {
      show(node, Boolean(job.result && job.result.moves != null));
    },
    end: () => end(),
  };
}

function playerOf(id, { moves, has_positions: hasPositions, has_drawings: hasDrawings }) {
  let step = 0;
  let timer = null;
  const image = el("img", { class: "drawing", alt: "" });
  const text = el("pre", { class: "position" });
  const slider = el("input", {
    type: "range", min: "0", max: String(moves.length), value: "0", "aria-label": "Move",
    on: { input: () => go(Number(slider.value)) },
  });
  const shown = el("p", { class: "move", "aria-live": "polite" });
  const play = button("Play", () => (timer === null ? start() : stop()), "primary");
  const controls = el("div", { class: "controls" },
    labelled("«", "First position", () => go(0)), labelled("‹", "One move back", () => go(step - 1)), play,
    labelled("›", "One move on", () => go(step + 1)), labelled("»", "Last position", () => go(moves.length)));
  const list = el("details", {}, el("summary", {}, `All ${count(moves.length)} moves`),
    el("pre", { class: "moves", tabindex: "0" }, moves.join("\n")));
  const node = el("div", { class: "player" }, hasDrawings ? image : null, hasPositions ? text : null,
    shown, slider, controls, list);

  const base = `/api/jobs/${encodeURIComponent(id)}/solution`;
  const drawing = (at) => `${base}/${at}/${theme()}`;
  async function go(to) {
    step = Math.min(moves.length, Math.max(0, to));
    slider.value = String(step);
    const move = step === 0 ? "Start" : `Move ${count(step)} of ${count(moves.length)}: ${moves[step - 1]}`;
    setText(shown, move);
    setAttribute(slider, "aria-valuetext", move);
    if (hasDrawings) {
      image.src = drawing(step);
      if (step < moves.length) new Image().src = drawing(step + 1);
    }
    if (hasPositions) {
      const at = step;
      try {
        const form = await position(id, at);
        if (at === step) {
          setText(text, form);
          setAttribute(image, "alt", form);
        }
      } catch {
        setText(text, "");
      }
    }
  }
  function start() {
    if (step === moves.length) go(0);
    setText(play, "Pause");
    timer = setInterval(() => {
      go(step + 1);
      if (step === moves.length) stop();
    }, PACE);
  }
  function stop() {
    clearInterval(timer);
    timer = null;
    setText(play, "Play");
  }
  const endTheme = onTheme(() => go(step));
  go(0);
  return {
    node,
    end() {
      stop();
      endTheme();
    },
  };
}

function labelled(symbol, name, listener) {
  const press = button(symbol, listener);
  press.setAttribute("aria-label", name);
  press.title = name;
  return press;
}
