import type { StepRun } from "@planwright/engine";
import type {
  JsonValue,
  LeftOutTool,
  PlanId,
  RequestId,
  RequestStatus,
  ToolDescriptor,
} from "@planwright/plan";
import type { HeadReads, StateReads } from "../records/document-heads.ts";
import type { ModelCallDocument } from "../records/model-call-document.ts";
import type { OutputRef } from "../records/output-document.ts";
import type { PlanDocument } from "../records/plan-document.ts";
import type { RequestDocument } from "../records/request-document.ts";
import type { ToolDocument, ToolServerDocument } from "../records/tool-documents.ts";
import type { ToolCallStats } from "../tools/tool-call-stats.ts";
import type { ToolListing } from "../tools/tool-listings.ts";
import type { ModelCosts } from "./model-costs.ts";
import type { Page, PagedReads } from "./paged-reads.ts";
import type { Workload } from "./workload.ts";

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
export interface ReadStore extends PagedReads, HeadReads, StateReads {
  /**
   * Number of plans and requests in planning that have not ended, at most `limit`. Plans that never started
   * or are paused without a deadline do not count.
   * @param tenant - only those of this tenant, without plans that wait for a person. Default: of all tenants
   */
  countUnfinished(limit: number, tenant?: string): Promise<number>;
  /**
   * Running, waiting and recently ended work of a tenant. Every count is bounded, and reads only an index.
   */
  readWorkload(tenant: string): Promise<Workload>;
  /** What the tenant's model calls cost that were sent from a time on and before another. */
  modelCosts(tenant: string, time: { from: Date; before: Date }): Promise<ModelCosts>;
  /** As with `getPlan` and `listSteps`, calls of the same turn share one read. */
  getRequest(tenant: string, requestId: RequestId): Promise<RequestDocument | null>;
  /** Many requests in one read, in the order of the ids; null for unknown ones. */
  getRequests(tenant: string, requestIds: readonly RequestId[]): Promise<(RequestDocument | null)[]>;
  getPlan(tenant: string, planId: PlanId): Promise<PlanDocument | null>;
  /** All versions of a request's plan, newest first. */
  listPlans(tenant: string, requestId: RequestId): Promise<PlanDocument[]>;
  /** Many plans at once, in the order of the ids; null for unknown ones. */
  getPlans(tenant: string, planIds: readonly PlanId[]): Promise<(PlanDocument | null)[]>;
  /** Steps and items in plan order, the steps of several plans in one read. */
  listSteps(tenant: string, planIds: readonly PlanId[]): Promise<StepRun[]>;
  /**
   * Outputs that are stored separately (`outputRef`), by id of the reference.
   * @throws {OutputMissingError}
   */
  readOutputs(tenant: string, refs: readonly OutputRef[]): Promise<Map<string, JsonValue>>;
  /** Sizes of the documents of such an output, in bytes of UTF-8. @throws {OutputMissingError} */
  measureOutputParts(tenant: string, ref: OutputRef): Promise<number[]>;
  /**
   * The text of one of these documents in UTF-8, from 0: together they are the JSON text of the output.
   * @throws {OutputMissingError}
   */
  readOutputPart(tenant: string, ref: OutputRef, part: number): Promise<Uint8Array>;
  /**
   * A page may have fewer items than `first` although more follow: `cursor` is null only at the end.
   * @throws {CursorInvalidError}
   */
  listRequests(tenant: string, page: RequestPage): Promise<Page<RequestDocument>>;
  /** Calls of chat models for one request, oldest first. */
  listModelCalls(tenant: string, requestId: RequestId): Promise<ModelCallDocument[]>;
  /** The catalogue, as executors last published it, by server and name. */
  listTools(): Promise<ToolDocument[]>;
  /**
   * The catalogue as descriptors whose `name` is unique: `server/tool` where two servers offer the same one.
   * With a tenant: with the shapes of outputs that its runs have shown (`observedOutput`).
   */
  toolCatalogue(tenant?: string): Promise<ToolDescriptor[]>;
  /** When each tool of the catalogue was seen. */
  listToolListings(): Promise<ToolListing[]>;
  /**
   * Results of a tenant's calls, by tool, counted by all executors since the beginning of an hour. Tools
   * without a call are left out. Calls of the last seconds may be missing: an executor adds what it counted
   * every few seconds. Hours before yesterday's are removed.
   */
  toolCallStats(tenant: string, since: Date): Promise<ToolCallStats[]>;
  /** The tool servers of the executors, by name, with the states of their connections. */
  toolServers(): Promise<ToolServerDocument[]>;
  /** The tools that servers list and that no plan can use, by server; of each server the first 100. */
  leftOutTools(): Promise<LeftOutTool[]>;
}
