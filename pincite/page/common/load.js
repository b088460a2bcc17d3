// Load the data of a view: when it is shown, when a dependency changes, and on reload.
import { useEffect, useRef, useState } from "preact/hooks";

/** `{value, problem, busy, reload, set}`; an outdated response is ignored. */
export function useLoad(ask, hangsOn = []) {
  const [held, setHeld] = useState({ value: null, problem: null, busy: true });
  const turn = useRef(0);
  const reload = async () => {
    const mine = (turn.current += 1);
    setHeld((before) => ({ ...before, busy: true }));
    try {
      const value = await ask();
      if (mine === turn.current) setHeld({ value, problem: null, busy: false });
    } catch (problem) {
      if (mine === turn.current) setHeld((before) => ({ ...before, problem, busy: false }));
    }
  };
  useEffect(() => {
    reload();
    return () => (turn.current += 1);
  }, hangsOn);
  return { ...held, reload, set: (value) => setHeld((before) => ({ ...before, value })) };
}
