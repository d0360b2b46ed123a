import { useEffect, useRef, useState, useSyncExternalStore } from "react";

const subscribe = (onChange: () => void) => {
  document.addEventListener("visibilitychange", onChange);
  return () => document.removeEventListener("visibilitychange", onChange);
};

/** False while the page is in a background tab: it then follows nothing and costs nothing. */
export function useIsVisible(): boolean {
  return useSyncExternalStore(subscribe, () => document.visibilityState === "visible");
}

/** Of a phone, in pixels, as in the style sheets. */
const PHONE_TO_WIDTH = 700;

/** True on a screen that is not wider than this, by default a phone. @param toWidth - in pixels; it never changes */
export function useIsNarrow(toWidth: number = PHONE_TO_WIDTH): boolean {
  const [query] = useState(() => matchMedia(`(max-width: ${toWidth}px)`));
  const [subscribeWidth] = useState(() => (onChange: () => void) => {
    query.addEventListener("change", onChange);
    return () => query.removeEventListener("change", onChange);
  });
  return useSyncExternalStore(subscribeWidth, () => query.matches);
}

/** True if the key is typed into a field, also one in a shadow tree. */
export function isInField(event: KeyboardEvent): boolean {
  const [target] = event.composedPath();
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || target.closest("input, textarea, select") !== null)
  );
}

/**
 * The time in milliseconds, updated every second while the page is visible.
 * @param isTicking - false: it is not updated
 */
export function useNow(isTicking = true): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    if (!isTicking) return;
    const timer = setInterval(() => {
      if (document.visibilityState === "visible") setNow(Date.now());
    }, 1_000);
    return () => clearInterval(timer);
  }, [isTicking]);
  return now;
}

/**
 * Names the tab of the browser, so that the pages of several tabs can be told apart: "Refund order 77 · Planwright".
 * @param name - what the page shows, the most telling word first; null: not known yet
 */
export function useTitle(name: string | null): void {
  useEffect(() => {
    document.title = name === null ? "Planwright" : `${name} · Planwright`;
  }, [name]);
}

/** The width of an element in pixels, 0 before it is drawn; `ref` must be set on the element. */
export function useWidth<T extends HTMLElement>(): { ref: React.RefObject<T | null>; width: number } {
  const ref = useRef<T>(null);
  const [width, setWidth] = useState(0);
  useEffect(() => {
    const element = ref.current;
    if (!element) return;
    const observer = new ResizeObserver(([entry]) => entry && setWidth(Math.floor(entry.contentRect.width)));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return { ref, width };
}
