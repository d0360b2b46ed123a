import type { PlanId } from "@planwright/plan";

/** Refers to an output that is stored separately. */
export interface OutputRef {
  /** Id of the first document of the output. */
  id: string;
  /** Size as JSON text in UTF-8, in bytes. */
  sizeBytes: number;
  /** Number of documents of the output. */
  parts: number;
  /** The beginning of the text, at most 1 KiB. Absent: none was stored. */
  preview?: string | undefined;
  /** True when the tool wrote this text, false when we made it from the value. */
  isOwnText?: true | undefined;
}

/**
 * An output that is stored separately, or a part of one. `_id` is `{planId}/{key}@{epoch}`; further parts
 * have the suffixes `#1`, `#2` and so on. It is never changed.
 */
export interface OutputDocument {
  _id: string;
  tenant: string;
  planId: PlanId;
  /** Epoch of the owner that wrote it. */
  epoch: number;
  /** JSON text. */
  text: string;
}
