// Who an id belongs to: users by their names, for lists that others wrote.
import { get } from "../common/api.js";
import { useLoad } from "../common/load.js";

/** A function from a user's id to their name; an id nobody has any more is shown as it is. */
export function useNames() {
  const { value } = useLoad(() => get("/users"));
  const known = new Map((value?.items ?? []).map((person) => [person.id, person.name]));
  return (id) => known.get(id) ?? id ?? "–";
}
