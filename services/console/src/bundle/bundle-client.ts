import { ApiRefusedError, type Client, type Operation } from "@planwright/client";
import {
  FOLLOW_REQUEST,
  READ_DOCUMENT,
  READ_DRAFTS,
  READ_JOURNAL,
  READ_MODEL_CALLS,
  READ_PLAN,
  READ_PLANNING_CALLS,
  READ_REQUEST,
  READ_STEP,
  READ_VERSIONS,
} from "../data/request-operations.ts";
import type { BundledRequest } from "./bundle-request.ts";

/**
 * A client that answers the queries of a request's page from a file, without a service. Commands are refused:
 * a file cannot be changed.
 */
export function createBundleClient(bundle: BundledRequest): Client {
  const { requestId } = bundle.request;
  const answers = answersOf(bundle);

  async function execute<Result, Given>(operation: Operation<Result, Given>, variables: object) {
    const answer = answers.get(operation);
    if (!answer) throw refused("READ_ONLY", "This is a file: it shows one request, and cannot change it");
    // The map has the answer of each operation, so the type fits.
    return answer({ ...variables }) as Result;
  }
  return {
    url: "https://planwright.example/graphql",
    execute,
    async *subscribe<Result, Given>(
      operation: Operation<Result, Given>,
      variables: { requestId?: unknown },
      options?: { signal?: AbortSignal | undefined },
    ) {
      if (variables.requestId !== requestId) throw refused("NOT_FOUND", `The file has only ${requestId}`);
      yield await execute(operation, variables);
      // Nothing changes; the stream stays open, so that it is not opened again.
      await new Promise<void>((resolve) => options?.signal?.addEventListener("abort", () => resolve()));
    },
    readRequest: () => Promise.reject(refused("READ_ONLY", "This is a file")),
    follow() {
      throw refused("READ_ONLY", "This is a file");
    },
    download: () => Promise.reject(refused("READ_ONLY", "Large outputs are not in the file")),
  };
}

type Answer = (variables: Variables) => unknown;
type Variables = Readonly<Record<string, unknown>>;

function answersOf({ request, plans, modelCalls, events }: BundledRequest): Map<unknown, Answer> {
  const planOf = ({ planId }: Variables) => plans.find((plan) => plan.planId === planId) ?? null;
  const versions = () => ({ request: { plansConnection: { nodes: plans } } });
  const callsOfRequest = () => ({ request: { modelCallsConnection: { nodes: modelCalls } } });
  return new Map<unknown, Answer>([
    [FOLLOW_REQUEST, () => ({ requestUpdated: request })],
    [READ_REQUEST, () => ({ request })],
    [READ_VERSIONS, versions],
    [READ_DRAFTS, versions],
    [READ_PLAN, (variables) => ({ plan: planOf(variables) })],
    [READ_DOCUMENT, (variables) => ({ plan: planOf(variables) })],
    [
      READ_STEP,
      (variables) => {
        const nodes = planOf(variables)?.steps.filter(({ id }) => id === variables["stepId"]) ?? [];
        return { plan: { stepsConnection: { nodes } } };
      },
    ],
    [READ_JOURNAL, () => ({ events: { nodes: events, pageInfo: { hasNextPage: false, endCursor: null } } })],
    [READ_MODEL_CALLS, callsOfRequest],
    [READ_PLANNING_CALLS, callsOfRequest],
  ]);
}

function refused(code: string, message: string): ApiRefusedError {
  const remedy = "Close the file, and look at the request on its service.";
  return new ApiRefusedError(message, { code, retryable: false, remedy, path: [], facts: {} });
}
