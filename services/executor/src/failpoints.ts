import { type FailpointNames, heartbeatFailpoints, leaseFailpoints } from "@planwright/runtime";
import type { Store } from "@planwright/store";
import type { ToolClients } from "@planwright/tools";

/** Where reads and writes of the store and their acknowledgements begin and end. */
export const STORE_FAILPOINTS = {
  claimPlan: "executor.claim",
  ...heartbeatFailpoints("executor"),
  applyControls: "executor.controls",
  writeIntents: "executor.intent",
  noteIntents: "executor.note",
  noteRecords: "executor.note-result",
  writeNoted: "executor.noted",
  writeRecords: "executor.result",
  releasePlan: "executor.release",
  finishPlan: "executor.finish",
} as const satisfies FailpointNames<Store>;

/** Where reads and writes of the leases of plans begin and end. */
export const LEASE_FAILPOINTS = leaseFailpoints("executor");

/** Where a tool call begins and ends. */
export const TOOL_FAILPOINTS = { callTool: "executor.call" } as const satisfies FailpointNames<ToolClients>;

/** Where a job of the queue begins and ends. */
export const JOB_FAILPOINTS = { handle: "executor.job" } as const;
