import type { ResultOf } from "@planwright/client";
import { READ_NEEDS } from "../data/needs-operations.ts";
import { useFedRead } from "./use-fed-read.ts";

/** What waits for a person, by what it waits for. */
export type Needs = ResultOf<typeof READ_NEEDS>;

/** Requests that only a person can move on; null before the first answer. */
export function useNeeds(): Needs | null {
  return useFedRead(READ_NEEDS);
}
