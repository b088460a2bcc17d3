// Names of users by id.
import { get } from "../common/api.js";
import { useLoad } from "../common/load.js";

/** Return a function from user id to name; an unknown id is returned unchanged. */
export function useNames() {
  const { value } = useLoad(() => get("/users"));
  const known = new Map((value?.items ?? []).map((person) => [person.id, person.name]));
  return (id) => known.get(id) ?? id ?? "–";
}
