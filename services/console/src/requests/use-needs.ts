import type { ResultOf } from "@planwright/client";
import { READ_NEEDS } from "../data/needs-operations.ts";
import { useFedRead } from "./use-fed-read.ts";

/** The requests that wait for a person, by the kind of decision. */
export type Needs = ResultOf<typeof READ_NEEDS>;

/** The requests that wait for a person; null before the first answer. */
export function useNeeds(): Needs | null {
  return useFedRead(READ_NEEDS);
}
