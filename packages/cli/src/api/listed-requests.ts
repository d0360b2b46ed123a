import { graphql, type ResultOf } from "@planwright/client";

const LISTED_NODE = graphql(`
  fragment ListedNode on Request {
    requestId status source query title createdAt error { code }
    plan {
      status error { code } finishedAt cancelRequestedAt pauseRequestedAt waitReason expiresAt mayHaveActed counts { inDoubt }
      stepsConnection(first: 1, filter: { status: [FAILED, IN_DOUBT, WAITING_APPROVAL] }) { nodes { tool status error { code } } }
    }
  }
`);
type ListedNode = ResultOf<typeof LISTED_NODE>;

/** A page of requests, newest first. A page of 50 reaches the API's cost limit for one document. */
export const LIST_REQUESTS = graphql(
  `query (
    $first: Int!, $after: String, $status: [RequestStatus!], $tag: String, $tool: String, $errorCode: String,
    $needs: RequestNeed, $createdFrom: DateTime, $createdBefore: DateTime, $calledTool: String,
    $calledFrom: DateTime, $calledBefore: DateTime
  ) {
    requests(
      first: $first, after: $after,
      filter: {
        status: $status, tag: $tag, tool: $tool, errorCode: $errorCode, needs: $needs, createdFrom: $createdFrom,
        createdBefore: $createdBefore, calledTool: $calledTool, calledFrom: $calledFrom, calledBefore: $calledBefore
      }
    ) { nodes { ...ListedNode } pageInfo { hasNextPage endCursor } }
  }`,
  [LISTED_NODE],
);

/** A request as `list` shows it. */
export type ListedRequest = ReturnType<typeof toListedRequest>;

/** The fields of a request that `list` shows. Pure. */
export function toListedRequest({ plan, error, ...request }: ListedNode) {
  const [step] = plan?.stepsConnection.nodes ?? [];
  const stepCode = step?.error?.code;
  const isStopped = stepCode === "CANCELLED";
  const asked = request.status === "NEEDS_INPUT" ? ("answer" as const) : null;
  const paused = plan?.status === "PAUSED" ? ("resume" as const) : null;
  return {
    ...request,
    /** The plan's status, and when a cancel or pause was requested. */
    plan: plan && {
      status: plan.status,
      finishedAt: plan.finishedAt,
      cancelRequestedAt: plan.cancelRequestedAt,
      pauseRequestedAt: plan.pauseRequestedAt,
    },
    /**
     * The error code of the failed or doubtful step, or else of the plan or the request; of a call that was
     * stopped, the code of what stopped it.
     */
    code: (isStopped ? null : stepCode) ?? plan?.error?.code ?? stepCode ?? error?.code ?? null,
    /** The tool of the first step that failed, is in doubt or waits for an approval. */
    tool: step?.tool ?? null,
    /** Number of steps and items that failed or were cancelled, and whose calls may have acted. */
    mayHaveActed: plan?.mayHaveActed ?? 0,
    /** The decision that it waits for. */
    needs: (plan && needOfPlan(plan)) ?? asked ?? paused,
    /** When that wait ends by itself; null: it waits for no person, or its wait has no end. */
    expiresAt: plan?.expiresAt ?? null,
  };
}

/** The decision that a plan waits for: a doubt comes before an approval. */
function needOfPlan(plan: NonNullable<ListedNode["plan"]>): "doubt" | "approval" | null {
  const { waitReason, counts, stepsConnection } = plan;
  const statuses = stepsConnection.nodes.map(({ status }) => status);
  if (counts.inDoubt > 0 || waitReason === "in doubt" || statuses.includes("IN_DOUBT")) return "doubt";
  return waitReason === "approval" || statuses.includes("WAITING_APPROVAL") ? "approval" : null;
}
