// Lists every operation of the OpenAPI description, with its parameters, bodies and responses, and tries them.

const METHODS = ["get", "post", "put", "patch", "delete"];
const MAX_DEPTH = 4;

function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

/** An example of a schema: its fields with their types. */
function example(schema, all, depth = 0) {
  if (!schema) return null;
  if (schema.$ref) {
    const name = schema.$ref.split("/").pop();
    return depth >= MAX_DEPTH ? `(${name})` : example(all[name], all, depth + 1);
  }
  const choices = schema.anyOf || schema.oneOf;
  if (choices) return example(choices.find((one) => one.type !== "null") || choices[0], all, depth);
  if (schema.enum) return schema.enum.join(" | ");
  if (schema.type === "array") return [example(schema.items, all, depth)];
  if (schema.properties) {
    return Object.fromEntries(Object.entries(schema.properties).map(([key, one]) => [key, example(one, all, depth)]));
  }
  if (schema.type === "object") return {};
  return schema.const ?? schema.format ?? schema.type ?? "any";
}

function shown(schema, all) {
  return element("pre", { tabindex: "0" }, JSON.stringify(example(schema, all), null, 2));
}

function parameters(operation) {
  const rows = (operation.parameters || []).map((one) =>
    element("tr", {}, element("td", { class: "path" }, one.name + (one.required ? " *" : "")),
      element("td", {}, one.in), element("td", {}, one.schema?.type || ""), element("td", {}, one.description || "")));
  return rows.length ? [element("h4", {}, "Parameters"), element("table", {}, ...rows)] : [];
}

function body(operation, all) {
  const content = operation.requestBody?.content || {};
  return Object.entries(content).flatMap(([kind, one]) => [element("h4", {}, `Body (${kind})`), shown(one.schema, all)]);
}

function responses(operation, all) {
  return Object.entries(operation.responses).filter(([status]) => status !== "default").flatMap(([status, one]) => {
    const kinds = Object.entries(one.content || {});
    const head = element("h4", {}, `Response ${status}${kinds.length ? "" : " without content"}`);
    return [head, ...kinds.flatMap(([kind, found]) => [element("p", {}, kind), ...(found.schema?.type === "string" ? [] : [shown(found.schema, all)])])];
  });
}

/** A form that sends the operation to this server with the key from the top of the page. */
function attempt(method, path) {
  const address = element("input", { value: path, size: "60", "aria-label": "Address" });
  const text = element("textarea", { rows: "4", "aria-label": "Body as JSON", placeholder: "Body as JSON" });
  const send = element("button", { type: "button" }, "Send");
  const told = element("pre", { hidden: "", tabindex: "0" });
  send.addEventListener("click", async () => {
    told.hidden = false;
    told.textContent = "…";
    const key = document.getElementById("key").value.trim();
    const headers = { ...(key ? { Authorization: `Bearer ${key}` } : {}), ...(text.value.trim() ? { "Content-Type": "application/json" } : {}) };
    try {
      const response = await fetch(address.value, { method: method.toUpperCase(), headers, body: text.value.trim() || undefined });
      told.textContent = `${response.status}\n${await response.text()}`;
    } catch (error) {
      told.textContent = `The request failed: ${error.message}`;
    }
  });
  return [element("h4", {}, "Try it"), address, " ", send, ...(method === "get" ? [] : [text]), told];
}

function operation(method, path, found, all) {
  const summary = element("summary", {}, element("span", { class: "method" }, method.toUpperCase()),
    element("span", { class: "path" }, path), ` — ${found.summary || ""}`);
  const details = element("details", { "data-words": `${method} ${path} ${found.summary} ${found.description}`.toLowerCase() }, summary);
  details.addEventListener("toggle", () => {
    if (details.children.length === 1) {
      details.append(element("p", {}, found.description || ""), ...parameters(found), ...body(found, all), ...responses(found, all), ...attempt(method, path));
    }
  });
  return details;
}

function show(described) {
  const all = described.components.schemas, groups = new Map();
  for (const [path, methods] of Object.entries(described.paths)) {
    for (const method of METHODS.filter((one) => methods[one])) {
      const tag = methods[method].tags?.[0] || "other";
      if (!groups.has(tag)) groups.set(tag, element("section", {}, element("h2", {}, tag)));
      groups.get(tag).append(operation(method, path, methods[method], all));
    }
  }
  document.getElementById("operations").replaceChildren(...groups.values());
}

function filter(words) {
  for (const one of document.querySelectorAll("details")) {
    one.hidden = !words.every((word) => one.dataset.words.includes(word));
  }
  for (const one of document.querySelectorAll("section")) one.hidden = !one.querySelector("details:not([hidden])");
}

document.getElementById("find").addEventListener("input", (event) => filter(event.target.value.toLowerCase().split(/\s+/)));
const response = await fetch("/api/v1/openapi.json");
if (response.ok) show(await response.json());
else document.getElementById("operations").textContent = `The description cannot be loaded (${response.status}).`;
