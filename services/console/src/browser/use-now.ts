import { useEffect, useState } from "react";

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
