import type { RequestStatus } from "@planwright/plan";
import type { createReads } from "./reads.ts";

/** A filter of requests. All given fields have to match. */
export interface RequestFilter {
  status?: readonly RequestStatus[] | undefined;
  /** Name of a tool that a version of the plan uses. */
  tool?: string | undefined;
  /**
   * Error code of planning, of the last replan, or of a version of the plan; with `tool`, only of a version
   * that uses the tool.
   */
  errorCode?: string | undefined;
  /** A tag of the request. */
  tag?: string | undefined;
  /** A text that the query contains, in any case. */
  text?: string | undefined;
  createdFrom?: Date | undefined;
  createdBefore?: Date | undefined;
  /** A tool that a plan of the request called, and when. Not for `fitOf`: it needs the journal. */
  called?: CalledTool | undefined;
  /**
   * What the request needs from a person: to approve or settle a step of one of its plans, or to answer the
   * planner.
   */
  needs?: RequestNeed | undefined;
}

/** A call of a tool that was sent, or is to be sent, at a time. */
export interface CalledTool {
  /** Its name as in the plan. */
  tool: string;
  /** Sent at this time or later. */
  from?: Date | undefined;
  /** Sent before this time. */
  before?: Date | undefined;
}

/** A need of a request: see {@link RequestFilter}. */
export type RequestNeed = "approval" | "doubt" | "answer";

/** A page of the list of requests. */
export interface RequestPage {
  /** 1 to 100. */
  first: number;
  after?: string | undefined;
  filter?: RequestFilter | undefined;
  /** By time of creation, then by id. Default "newest" first. */
  order?: "newest" | "oldest" | undefined;
}

/** Reads requests and all their records. */
export type ReadStore = ReturnType<typeof createReads>;
