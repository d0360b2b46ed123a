import { useEffect, useRef } from "react";

/** The actions of the keys on a request's page. */
export interface RequestKeys {
  /** `Escape`: leaves the inspector. */
  leave: () => void;
  /** `f`: the next step that failed or is in doubt. */
  nextFailure: () => void;
  /** `[` and `]`: the previous and the next entry of the journal. */
  move: (by: -1 | 1) => void;
  /** `l`: back to now. */
  live: () => void;
}

/** Keys in these elements are theirs. */
const OWN_KEYS = "input:not([type=range]), textarea, select, dialog";

/** Handles the keys of a request's page, except in a text field or a dialog. */
export function useRequestKeys(keys: RequestKeys): void {
  const newest = useRef(keys);
  newest.current = keys;
  useEffect(() => {
    const onKey = ({ key, target, ctrlKey, metaKey, altKey }: KeyboardEvent) => {
      if (ctrlKey || metaKey || altKey) return;
      if (target instanceof HTMLElement && target.closest(OWN_KEYS)) return;
      if (key === "Escape") newest.current.leave();
      if (key === "f") newest.current.nextFailure();
      if (key === "[") newest.current.move(-1);
      if (key === "]") newest.current.move(1);
      if (key === "l") newest.current.live();
    };
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  }, []);
}

/** The next step after the selected one that failed or is in doubt; after the last one, the first. */
export function nextFailure(
  steps: readonly { id: string; isBad: boolean }[],
  selected: string | null,
): string | undefined {
  const bad = [...new Set(steps.filter(({ isBad }) => isBad).map(({ id }) => id))];
  return bad[(bad.indexOf(selected ?? "") + 1) % Math.max(1, bad.length)];
}
