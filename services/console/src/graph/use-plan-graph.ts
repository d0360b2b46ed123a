import { useEffect, useState } from "react";
import type { PlanGraph } from "./plan-graph.tsx";

/** The component after its code was loaded, so that pages of later requests have it immediately. */
let known: typeof PlanGraph | null = null;

/**
 * The component for the graph of a plan; null until its code, which is not part of the first view, is loaded.
 * Not `lazy`: React shows the fallback of a suspended view for at least 300 ms, even if the code arrives
 * earlier.
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
