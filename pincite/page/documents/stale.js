// A notice on documents with an outdated index, with a button to reindex them.
import { useEffect, useState } from "preact/hooks";
import { Icon } from "../parts/icon.js";
import { toast } from "../parts/toast.js";
import { get, post } from "../common/api.js";
import { html } from "../common/html.js";
import { t } from "../common/words.js";
import { may } from "../shell/session.js";

export function StaleNotice({ person, listing, chosen }) {
  const [some, setSome] = useState(false);
  const [busy, setBusy] = useState(false);
  useEffect(() => {
    get("/documents", { stale: true, limit: 1 }).then(({ items }) => setSome(items.length > 0), () => {});
  }, [listing.items]);
  if (!some) return null;
  const renew = async () => {
    setBusy(true);
    try {
      const { documents } = await post("/documents/reindex", { stale: true });
      toast(t("stale.begun", { count: documents }));
      listing.refresh();
    } catch (problem) {
      toast(problem);
    }
    setBusy(false);
  };
  return html`<p class="notice warn stale"><${Icon} name="refresh" />
    <span>${t("stale.some")} ${!chosen && html`<a href="/documents?status=stale">${t("stale.show")}</a>`}</span>
    ${may(person.role, "administrator") && html`<button class="button small" disabled=${busy} onClick=${renew}>${t("stale.renew")}</button>`}
  </p>`;
}
