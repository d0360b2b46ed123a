import type {
  JsonValue,
  PlanId,
  PlanStatus,
  RequestId,
  RequestStatus,
  ToolDescriptor,
} from "@planwright/plan";
import type { HeadReads, StateReads } from "../records/document-heads.ts";
import type { ModelCallDocument } from "../records/model-call-document.ts";
import type { OutputRef } from "../records/output-document.ts";
import type { PlanDocument } from "../records/plan-document.ts";
import type { RequestDocument } from "../records/request-document.ts";
import type { StepDocument } from "../records/step-document.ts";
import type { ToolDocument, ToolServerDocument } from "../records/tool-documents.ts";
import type { ToolCallStats } from "../tools/tool-call-stats.ts";
import type { ToolListing } from "../tools/tool-listings.ts";
import type { Page, PagedReads } from "./paged-reads.ts";
import type { Workload } from "./workload.ts";

/** Which requests are wanted: those that fit everything that is given. */
export interface RequestFilter {
  status?: readonly RequestStatus[] | undefined;
  /** Name of a tool that a version of the plan uses. */
  tool?: string | undefined;
  /**
   * Code with which planning, the last replan, or a version of the plan failed; with `tool`, a version that
   * uses it.
   */
  errorCode?: string | undefined;
  /** A tag that the request was given. */
  tag?: string | undefined;
  /** What the query contains, whatever the case of its letters. */
  text?: string | undefined;
  createdFrom?: Date | undefined;
  createdBefore?: Date | undefined;
  /** What it needs of a person: approve or settle a step of one of its plans, or answer the planner. */
  needs?: RequestNeed | undefined;
}

/** What a request needs of a person: see {@link RequestFilter}. */
export type RequestNeed = "approval" | "doubt" | "answer";

/** A part of the list of requests. */
export interface RequestPage {
  /** 1 to 100. */
  first: number;
  after?: string | undefined;
  filter?: RequestFilter | undefined;
  /** By time of creation; to the second with a filter by tool or error code. Default "newest", first. */
  order?: "newest" | "oldest" | undefined;
}

/** Reads requests with everything that is recorded under them. */
export interface ReadStore extends PagedReads, HeadReads, StateReads {
  /**
   * Plans and requests in planning that have not ended, of all tenants, or `limit` when there are more. Plans
   * that never started and were paused do not count.
   */
  countUnfinished(limit: number): Promise<number>;
  /**
   * How many plans of all tenants are in each state that is not terminal, `limit` of a state at most. Every
   * such state is named.
   */
  countPlansByStatus(limit: number): Promise<ReadonlyMap<PlanStatus, number>>;
  /**
   * What a tenant has running and waiting, and what of it ended within the last hour. Every count is bounded,
   * and read from an index alone.
   */
  readWorkload(tenant: string): Promise<Workload>;
  /** Like `getPlan` and `listSteps`: asked by many in one turn, it is one read. */
  getRequest(tenant: string, requestId: RequestId): Promise<RequestDocument | null>;
  /** Many requests in one read, in the order of the ids; null for unknown ones. */
  getRequests(tenant: string, requestIds: readonly RequestId[]): Promise<(RequestDocument | null)[]>;
  getPlan(tenant: string, planId: PlanId): Promise<PlanDocument | null>;
  /** All versions of a request's plan, newest first. */
  listPlans(tenant: string, requestId: RequestId): Promise<PlanDocument[]>;
  /** Many plans at once, in the order of the ids; null for unknown ones. */
  getPlans(tenant: string, planIds: readonly PlanId[]): Promise<(PlanDocument | null)[]>;
  /** Steps and items in plan order, the steps of several plans in one read. */
  listSteps(tenant: string, planIds: readonly PlanId[]): Promise<StepDocument[]>;
  /**
   * Outputs that are stored separately (`outputRef`), by id of the reference.
   * @throws {OutputMissingError}
   */
  readOutputs(tenant: string, refs: readonly OutputRef[]): Promise<Map<string, JsonValue>>;
  /** Sizes of the documents that such an output takes, in UTF-8, in bytes. @throws {OutputMissingError} */
  measureOutputParts(tenant: string, ref: OutputRef): Promise<number[]>;
  /** The text of one of them, from 0: together they are its JSON text. @throws {OutputMissingError} */
  readOutputPart(tenant: string, ref: OutputRef, part: number): Promise<string>;
  /**
   * A page may hold fewer than `first` although more follow: the cursor tells, null at the end.
   * @throws {CursorInvalidError}
   */
  listRequests(tenant: string, page: RequestPage): Promise<Page<RequestDocument>>;
  /** Calls of chat models for one request, oldest first. */
  listModelCalls(tenant: string, requestId: RequestId): Promise<ModelCallDocument[]>;
  /** The catalogue, as executors last published it, by server and name. */
  listTools(): Promise<ToolDocument[]>;
  /**
   * The catalogue as descriptors whose `name` is unique: `server/tool` where two servers offer the same one.
   * For a tenant with what its runs have shown of outputs (`observedOutput`).
   */
  toolCatalogue(tenant?: string): Promise<ToolDescriptor[]>;
  /** When each tool of the catalogue was seen. */
  listToolListings(): Promise<ToolListing[]>;
  /**
   * How a tenant's own calls ended, by tool, counted by all executors since the beginning of an hour; tools
   * without a call are left out. Calls of the last seconds may be missing: an executor adds what it counted
   * every few seconds. Hours before yesterday's are removed.
   */
  toolCallStats(tenant: string, since: Date): Promise<ToolCallStats[]>;
  /** The tool servers of the executors, by name, and where the connections to them stand. */
  toolServers(): Promise<ToolServerDocument[]>;
}
