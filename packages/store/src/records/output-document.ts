import type { PlanId } from "@planwright/plan";

/** Refers to an output that is stored separately. */
export interface OutputRef {
  /** Of its first document. */
  id: string;
  /** As JSON text in UTF-8, in bytes. */
  sizeBytes: number;
  /** Documents that it takes. */
  parts: number;
  /** The beginning of the text, at most 1 KiB. Absent: it was stored without. */
  preview?: string | undefined;
  /** The text is the tool's own, not ours. */
  isOwnText?: true | undefined;
}

/**
 * An output that is stored separately, or a part of one. `_id` is `{planId}/{key}@{epoch}`, for further parts
 * with `#1` and so on. Never changed once it is written.
 */
export interface OutputDocument {
  _id: string;
  tenant: string;
  planId: PlanId;
  /** Of the owner who wrote it. */
  epoch: number;
  /** JSON text. */
  text: string;
}
