// Shared state: components that use it are redrawn when it changes.
import { useEffect, useState } from "preact/hooks";

export function state(value) {
  const listeners = new Set();
  return {
    get value() {
      return value;
    },
    set(next) {
      const made = typeof next === "function" ? next(value) : next;
      if (made === value) return;
      value = made;
      for (const listener of [...listeners]) listener(value);
    },
    listen(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    use() {
      const [, draw] = useState(0);
      const drawn = value;
      useEffect(() => {
        const redraw = () => draw((n) => n + 1);
        if (value !== drawn) redraw(); // it changed between the first drawing and this effect
        return this.listen(redraw);
      }, []);
      return value;
    },
  };
}
