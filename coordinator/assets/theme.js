// Light and dark: that of the system, or the one chosen here.

const KEY = "strata-theme";
const CHOICES = ["auto", "light", "dark"];
const system = matchMedia("(prefers-color-scheme: dark)");
const listeners = new Set();

function stored() {
  try {
    const choice = localStorage.getItem(KEY);
    return CHOICES.includes(choice) ? choice : "auto";
  } catch {
    return "auto";
  }
}

let choice = stored();

/** The theme that is shown: `light` or `dark`. */
export function theme() {
  return choice === "auto" ? (system.matches ? "dark" : "light") : choice;
}

/** Calls a function when the theme changes. Returns what ends that. */
export function onTheme(listener) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function apply(button) {
  document.documentElement.dataset.theme = theme();
  button.textContent = `Theme: ${choice}`;
  for (const listener of listeners) listener();
}

/** Connects the button that changes the theme. */
export function startTheme(button) {
  apply(button);
  system.addEventListener("change", () => apply(button));
  button.addEventListener("click", () => {
    choice = CHOICES[(CHOICES.indexOf(choice) + 1) % CHOICES.length];
    try {
      localStorage.setItem(KEY, choice);
    } catch {
      // Without storage the choice ends with the page.
    }
    apply(button);
  });
}
