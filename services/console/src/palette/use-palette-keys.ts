import { useEffect, useRef } from "react";
import { isInField } from "../browser/is-in-field.ts";

/** Opens the palette with Ctrl+K or Cmd+K, and the list of keys with `?`; a `?` in a field is text. */
export function usePaletteKeys(open: { palette: () => void; help: () => void }): void {
  const newest = useRef(open);
  newest.current = open;
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.defaultPrevented) return;
      if ((event.ctrlKey || event.metaKey) && !event.altKey && event.key.toLowerCase() === "k") {
        event.preventDefault();
        newest.current.palette();
      } else if (event.key === "?" && !isInField(event)) {
        event.preventDefault();
        newest.current.help();
      }
    };
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  }, []);
}
