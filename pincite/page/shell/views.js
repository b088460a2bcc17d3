// The rooms of the page: what each is called, who may enter, and where its script is. The first is where one begins.
//
// A room's default export is a component; it gets `rest` (the parts of the address after its name) and `query`.
// `menu` puts it into the side bar; `open` lets in whoever is not logged in; `plain` shows it without the frame.
export const VIEWS = [
  { name: "ask", icon: "ask", menu: true, role: "reader", key: "a", load: () => import("../ask/room.js") },
  { name: "share", role: "reader", load: () => import("../share/room.js") },
];
