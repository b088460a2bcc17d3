// The ways to show a file, by its type; the first is the usual one.
import { CellsView } from "./cells.js";
import { LinesView } from "./lines.js";
import { PageView } from "./page.js";
import { PictureView } from "./picture.js";
import { TextView } from "./text.js";

export const SOURCE_VIEWS = { page: PageView, picture: PictureView, cells: CellsView, text: TextView, lines: LinesView };

const SHEETS = ["text/csv", "text/tab-separated-values", "application/vnd.openxmlformats-officedocument.spreadsheetml"];

export function waysOf(mime) {
  if (mime === "application/pdf") return ["page", "text"];
  if (mime === "image/tiff") return ["text"]; // browsers do not show it
  if (mime.startsWith("image/")) return ["picture", "text"];
  if (SHEETS.some((one) => mime.startsWith(one))) return ["cells", "text"];
  return mime === "text/plain" ? ["lines"] : ["text", "lines"];
}
