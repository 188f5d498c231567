// Elements: creation, and updates that leave alone what has not changed. A page that is replaced every
// second would lose the focus and the selection.

/** Creates an element. `on` has listeners; `hidden`, `disabled` and the like are set if they are true. */
export function el(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "on") {
      for (const [event, listener] of Object.entries(value)) node.addEventListener(event, listener);
    } else if (value === true) {
      node.setAttribute(name, "");
    } else if (value !== false && value != null) {
      node.setAttribute(name, value);
    }
  }
  node.append(...children.filter((child) => child != null));
  return node;
}

/** Sets the text of a node. */
export function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

/** Sets an attribute; removes it for null and false. */
export function setAttribute(node, name, value) {
  if (value == null || value === false) {
    if (node.hasAttribute(name)) node.removeAttribute(name);
  } else {
    const text = value === true ? "" : String(value);
    if (node.getAttribute(name) !== text) node.setAttribute(name, text);
  }
}

/** Shows or hides a node. */
export function show(node, isShown) {
  if (node.hidden === isShown) node.hidden = !isShown;
}

/**
 * Makes the children of a parent those of `items`, in order. `create` makes a child of an item,
 * `update` brings it up to date; a child stays as long as there is an item with its key.
 */
export function keyed(parent, items, key, create, update) {
  const before = [...parent.children];
  const old = new Map(before.map((child) => [child.dataset.key, child]));
  const placed = new Set();
  let place = parent.firstElementChild;
  for (const item of items) {
    const name = String(key(item));
    let child = old.get(name);
    old.delete(name);
    if (!child) {
      child = create(item);
      child.dataset.key = name;
    }
    update(child, item);
    placed.add(child);
    if (child === place) {
      place = place.nextElementSibling;
    } else {
      parent.insertBefore(child, place);
    }
  }
  for (const child of before) if (!placed.has(child)) child.remove();
}

/**
 * A table with a caption. `columns` have a title, `number` for right-aligned values, `wide` for long texts. On a narrow
 * screen rows become cards, for which cells know their titles; roles keep it a table for screen readers.
 */
export function table(caption, columns) {
  const heads = columns.map((column) =>
    el("th", { scope: "col", role: "columnheader", class: column.number && "number" }, column.title));
  const body = el("tbody", { role: "rowgroup" });
  const whole = el("table", { role: "table" },
    el("caption", {}, caption),
    el("thead", { role: "rowgroup" }, el("tr", { role: "row" }, ...heads)), body);
  const row = () => el("tr", { role: "row" }, ...columns.map((column, at) =>
    el(at === 0 ? "th" : "td", {
      scope: at === 0 && "row",
      role: at === 0 ? "rowheader" : "cell",
      class: column.number ? "number" : column.wide && "wide",
      "data-label": column.title,
    })));
  return { whole, body, row };
}

/** A bar from 0 to 1 with a name. Without a value it shows that something goes on. */
export function bar(name) {
  return el("progress", { "aria-label": name, max: "1" });
}

/** Sets a bar; null for no known value. */
export function setBar(node, value) {
  if (value == null) {
    node.removeAttribute("value");
  } else {
    setAttribute(node, "value", Math.min(1, Math.max(0, value)).toFixed(4));
  }
}

/** A button. */
export function button(text, listener, kind) {
  return el("button", { type: "button", class: kind, on: { click: listener } }, text);
}

/** A list of names and values: rows of `[key, title]`. Returns the list and its values by key. */
export function facts(rows) {
  const values = {};
  const list = el("dl", { class: "facts" });
  for (const [key, title] of rows) {
    values[key] = el("dd", {});
    list.append(el("div", {}, el("dt", {}, title), values[key]));
  }
  return { list, values };
}
