// Files dropped outside of a drop zone: the browser would open them and leave the page.
import { toast } from "../parts/toast.js";
import { t } from "../common/words.js";

const hasFiles = (event) => [...(event.dataTransfer?.types ?? [])].includes("Files");

export function keepDropsOnPage() {
  addEventListener("dragover", (event) => hasFiles(event) && event.preventDefault());
  addEventListener("drop", (event) => {
    if (!hasFiles(event) || event.defaultPrevented) return;
    event.preventDefault();
    toast(t("shell.drop"));
  });
}
