// Finds elements without a name, text with too little contrast, repeated ids, and a page that is wider
// than the screen.

function isShown(element) {
  return element.checkVisibility({ checkOpacity: true, checkVisibilityCSS: true });
}

function nameOf(element) {
  const labels = element.labels ? [...element.labels].map((label) => label.innerText).join(" ") : "";
  const by = element.getAttribute("aria-labelledby");
  const named = by ? by.split(" ").map((id) => document.getElementById(id)?.innerText ?? "").join(" ") : "";
  return [element.getAttribute("aria-label"), named, labels, element.innerText, element.getAttribute("alt"),
    element.querySelector?.("img")?.alt].find((text) => text && text.trim()) ?? "";
}

function colour(text) {
  const [red, green, blue, alpha = 1] = text.match(/[\d.]+/g).map(Number);
  return { red, green, blue, alpha };
}

function over(front, back) {
  const mix = (part) => front[part] * front.alpha + back[part] * (1 - front.alpha);
  return { red: mix("red"), green: mix("green"), blue: mix("blue"), alpha: 1 };
}

function backgroundOf(element) {
  const layers = [];
  for (let one = element; one; one = one.parentElement) {
    layers.push(colour(getComputedStyle(one).backgroundColor));
  }
  return layers.reverse().reduce((back, front) => over(front, back), { red: 255, green: 255, blue: 255, alpha: 1 });
}

function luminance({ red, green, blue }) {
  const linear = (part) => {
    const share = part / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  };
  return 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue);
}

function contrast(one, other) {
  const [low, high] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
}

function findings() {
  const found = [];
  const say = (element, what) => found.push(`${element.tagName} ${(element.outerHTML ?? "").slice(0, 120)}: ${what}`);
  const named = "button, a[href], input, progress, meter, select, textarea, dialog, [role=img], table";
  for (const element of document.querySelectorAll(named)) {
    if (isShown(element) && !nameOf(element).trim()) say(element, "no name");
  }
  for (const image of document.querySelectorAll("img")) {
    if (!image.hasAttribute("alt")) say(image, "no alt");
  }
  const ids = [...document.querySelectorAll("[id]")].map((element) => element.id);
  const repeated = ids.filter((id, at) => ids.indexOf(id) !== at);
  if (repeated.length) found.push(`repeated ids: ${repeated}`);
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const element = node.parentElement;
    if (!node.textContent.trim() || !element || !isShown(element) || element.closest("noscript, .skip")) continue;
    if (element.closest(":disabled")) continue;
    const back = backgroundOf(element);
    const ratio = contrast(over(colour(getComputedStyle(element).color), back), back);
    if (ratio < 4.5) say(element, `contrast ${ratio.toFixed(2)}`);
  }
  if (document.querySelectorAll("h1").length === 0) found.push("no heading");
  if (document.documentElement.scrollWidth > innerWidth + 1) {
    found.push(`the page is ${document.documentElement.scrollWidth} pixels wide, the screen ${innerWidth}`);
  }
  return found;
}
