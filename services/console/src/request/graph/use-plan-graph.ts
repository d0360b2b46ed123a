import { useEffect, useState } from "react";
import type { PlanGraph } from "./plan-graph.tsx";

/** The view, once its code was read: pages of later requests have it at once. */
let known: typeof PlanGraph | null = null;

/**
 * The graph of a plan, whose code is read apart from the first view; null until it is there. Not `lazy`:
 * React keeps the fallback of a view that suspends for at least 300 ms, also when its code was read
 * meanwhile.
 */
export function usePlanGraph(): typeof PlanGraph | null {
  const [view, setView] = useState(() => known);
  useEffect(() => {
    void import("./plan-graph.tsx").then((read) => {
      known = read.PlanGraph;
      setView(() => read.PlanGraph);
    });
  }, []);
  return view;
}
