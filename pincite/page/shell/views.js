// The views of the page: name, required role and script. The first one is the default.
//
// The default export of a view is a component; it gets `rest` (the rest of the path) and `query`.
// `menu` adds it to the side bar; `open` needs no login; `plain` draws it without the frame.
export const VIEWS = [
  { name: "ask", icon: "ask", menu: true, role: "reader", key: "a", load: () => import("../ask/room.js") },
  { name: "documents", icon: "documents", menu: true, role: "reader", key: "d", load: () => import("../documents/room.js") },
  { name: "entities", icon: "entities", menu: true, role: "reader", key: "n", load: () => import("../entities/room.js") },
  { name: "share", role: "reader", load: () => import("../share/room.js") },
  { name: "traces", icon: "traces", menu: true, role: "reader", key: "t", load: () => import("../traces/room.js") },
  { name: "flows", icon: "flows", menu: true, role: "reader", key: "f", load: () => import("../flows/room.js") },
  { name: "sources", icon: "sources", menu: true, role: "administrator", key: "o", load: () => import("../sources/room.js") },
  { name: "bench", icon: "bench", menu: true, role: "reader", key: "b", load: () => import("../bench/room.js") },
  { name: "evaluation", icon: "evaluation", menu: true, role: "editor", key: "e", load: () => import("../evaluation/room.js") },
  { name: "settings", icon: "settings", menu: true, role: "administrator", key: "s", load: () => import("../settings/room.js") },
  { name: "account", role: "reader", load: () => import("../account/room.js") },
  { name: "setup", open: true, plain: true, load: () => import("../setup/room.js") },
  { name: "login", open: true, plain: true, load: () => import("../login/room.js") },
];
