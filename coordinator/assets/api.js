// Requests: the session, live updates, and changes, which present the token each time.

// The token is kept here, in memory: a reload forgets it.
let token = null;

/** An answer other than success. */
export class ApiError extends Error {
  constructor(status, text) {
    super(text || `the server answered ${status}`);
    this.status = status;
  }
}

async function request(path, options = {}) {
  let response;
  try {
    response = await fetch(path, { credentials: "same-origin", cache: "no-store", ...options });
  } catch {
    throw new ApiError(0, "The server cannot be reached.");
  }
  if (!response.ok) throw new ApiError(response.status, (await response.text()).trim());
  return response;
}

/** Whether a token is needed, and whether this browser has a session. */
export async function session() {
  return (await request("/api/session")).json();
}

/** Begins a session. */
export async function signIn(secret) {
  await request("/api/session", { method: "POST", headers: bearer(secret) });
  token = secret;
}

/** Ends the session. */
export async function signOut() {
  token = null;
  await request("/api/session", { method: "DELETE" });
}

function bearer(secret) {
  // Other characters are in no token, and cannot be in a header.
  const clean = secret.replace(/[^\x21-\x7e]/g, "");
  return { Authorization: `Bearer ${clean}` };
}

/** Whether a change needs the token to be typed again. */
export async function needsToken() {
  return token === null && (await session()).needs_token;
}

/** Cancels, resumes or removes a job. `secret` is a token just typed. */
export async function change(job, action, secret) {
  const presented = secret ?? token;
  const headers = { "X-Strata-Request": "1", ...(presented === null ? {} : bearer(presented)) };
  const path = `/api/jobs/${encodeURIComponent(job)}/${action}`;
  await request(path, { method: "POST", headers });
  if (secret != null) token = secret;
}

/** The moves of a job's solution. */
export async function solution(job) {
  return (await request(`/api/jobs/${encodeURIComponent(job)}/solution`)).json();
}

/** The position after some moves, as text. */
export async function position(job, step) {
  return (await request(`/api/jobs/${encodeURIComponent(job)}/solution/${step}`)).text();
}

/**
 * Receives live updates. `handlers` has a function for each event; `state` is told `live`,
 * `reconnecting` or `signed out`. Returns what ends it.
 */
export function follow(job, handlers, state) {
  const path = job === null ? "/api/live" : `/api/live/${encodeURIComponent(job)}`;
  let source = null;
  let timer = null;
  let ended = false;
  const open = () => {
    source = new EventSource(path);
    source.addEventListener("open", () => state("live"));
    source.addEventListener("error", lost);
    for (const [event, handler] of Object.entries(handlers)) {
      source.addEventListener(event, (message) => handler(JSON.parse(message.data)));
    }
  };
  // The browser connects again by itself after a loss, but not after a refusal.
  const lost = async () => {
    if (ended) return;
    state("reconnecting");
    if (source.readyState !== EventSource.CLOSED) return;
    try {
      if (!(await session()).is_signed_in) {
        if (!ended) state("signed out");
        return;
      }
    } catch {
      // It is tried again.
    }
    if (!ended) timer = setTimeout(open, 3000);
  };
  open();
  return () => {
    ended = true;
    clearTimeout(timer);
    source.close();
  };
}
