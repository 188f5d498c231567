// The program: session, pages by the part of the address after #, live updates.

import { follow, session, signIn, signOut } from "./api.js";
import { clusterPage } from "./cluster.js";
import { setAttribute, setText, show } from "./dom.js";
import { jobPage } from "./job.js";
import { startTheme } from "./theme.js";

const byId = (id) => document.getElementById(id);
const login = byId("login");
const view = byId("view");
const link = byId("link");
const leave = byId("sign-out");

let page = null;
let endUpdates = () => {};

const LINK = { live: "Live", reconnecting: "Connecting…", "signed out": "Signed out" };

function setLink(state) {
  setText(link, LINK[state]);
  setAttribute(link, "class", `link-state ${state.replace(" ", "-")}`);
  if (state === "signed out") showLogin();
}

function closePage() {
  endUpdates();
  endUpdates = () => {};
  page?.end();
  page = null;
  view.replaceChildren();
}

function showLogin() {
  closePage();
  setText(link, "");
  show(leave, false);
  show(login, true);
  document.title = "Sign in – Strata";
  byId("token").focus();
}

/** Opens the page of the address. */
function route() {
  closePage();
  show(login, false);
  const match = location.hash.match(/^#\/job\/(.+)$/);
  const job = match ? decodeURIComponent(match[1]) : null;
  page = job === null ? clusterPage() : jobPage(job);
  view.append(page.node);
  document.title = `${page.title} – Strata`;
  const own = page;
  const problem = (text) => setText(link, text);
  const handlers = job === null
    ? {
      overview: (overview) => {
        setText(byId("scope"), `${overview.scope === "search" ? "search" : "cluster"} · ${overview.version}`);
        own.update(overview);
      },
      problem,
    }
    : { job: own.update, log: own.log, gone: own.gone, problem };
  endUpdates = follow(job, handlers, setLink);
}

async function start() {
  startTheme(byId("theme"));
  const given = location.hash.match(/^#token=(.+)$/);
  try {
    if (given) {
      // The part after # is never sent; it leaves the address and the history, too.
      history.replaceState(null, "", location.pathname);
      await signIn(decodeURIComponent(given[1]));
    }
    const { is_signed_in: isSignedIn, needs_token: needsToken } = await session();
    if (!isSignedIn) return showLogin();
    show(leave, needsToken);
    route();
  } catch (error) {
    showLogin();
    setText(byId("login-error"), error.message);
  }
}

byId("login-form").addEventListener("submit", async (event) => {
  event.preventDefault();
  const input = byId("token");
  setText(byId("login-error"), "");
  try {
    await signIn(input.value.trim());
    input.value = "";
    show(leave, true);
    route();
    byId("main").focus();
  } catch (error) {
    setText(byId("login-error"), error.status === 401 ? "This is not the token." : error.message);
    input.select();
  }
});

leave.addEventListener("click", async () => {
  try {
    await signOut();
  } finally {
    showLogin();
  }
});

addEventListener("hashchange", () => {
  // Links inside a page, such as the one that skips the header, are no addresses of pages.
  if (login.hidden && /^#\//.test(location.hash)) {
    route();
    byId("main").focus();
    scrollTo(0, 0);
  }
});

start();
