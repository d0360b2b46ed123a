import {
  ApiRefusedError,
  BUNDLE_FORMAT,
  type Client,
  type DebugBundle,
  type Operation,
} from "@planwright/client";
import {
  depthOf,
  isJsonObject,
  type JsonValue,
  numberText,
  PlanIdSchema,
  parseExactJson,
  RequestIdSchema,
  StepIdSchema,
} from "@planwright/plan";
import { z } from "zod";
import {
  FOLLOW_REQUEST,
  READ_DOCUMENT,
  READ_DRAFTS,
  READ_JOURNAL,
  READ_MODEL_CALLS,
  READ_PLAN,
  READ_PLANNING_CALLS,
  READ_REQUEST,
  READ_RESULTS,
  READ_STEP,
  READ_VERSIONS,
  type RequestPage,
} from "../data/request-operations.ts";

/** The content of a `debugBundle` file: the answers of the API about one request. */
export type BundledRequest = Omit<DebugBundle, "request"> & { request: RequestPage };

/** Largest file that is read, in MiB. A bundle has at most 7 MiB; its file is indented. */
const MAX_MIB = 32;
const MIB = 1_024 * 1_024;
/** Deepest nesting of a bundle: the service keeps at most 200 levels of a value. */
const MAX_DEPTH = 250;
const REMEDY = "Make one with: planwright debug REQUEST --bundle";

/** Why a file of this size cannot be a bundle; undefined when it can be. */
export function refusalOf({ name, size }: Pick<File, "name" | "size">): string | undefined {
  if (size <= MAX_MIB * MIB) return undefined;
  const sizeMib = numberText(Math.ceil(size / MIB));
  return `${name} has ${sizeMib} MiB; a bundle has at most ${MAX_MIB}, so it was not read. ${REMEDY}`;
}

/**
 * Reads the text of a file. Its ids become links and commands to copy, so each of them must be an id.
 * @returns why it cannot be shown: for a text that is not a bundle, also when it is nested deeper than a bundle can
 * be, and for a bundle of another format
 */
export function readBundle(name: string, text: string): BundledRequest | string {
  const found = parsed(text);
  const format = isJsonObject(found) ? found["formatVersion"] : undefined;
  if (typeof format === "number" && format !== BUNDLE_FORMAT)
    return `${name} is a bundle of format ${format}, and this page shows format ${BUNDLE_FORMAT}: it was made by ${
      format < BUNDLE_FORMAT ? "an older" : "a newer"
    } version of Planwright. ${REMEDY}`;
  if (typeof format !== "number" || !BundleSchema.safeParse(found).success)
    return `${name} is not a bundle. ${REMEDY}`;
  // The service writes its own answers; of a file that differs from them the ids are checked, and its page may fail.
  const bundle = found as unknown as BundledRequest;
  const { request, plans } = bundle;
  return {
    ...bundle,
    request: {
      ...request,
      plan: plans[0] ?? null,
      // A file has no journal to read moments from, and is not trusted with links and commands.
      seq: 0,
      traceUrl: null,
      diagnosis: { ...request.diagnosis, next: [] },
    },
  };
}

function parsed(text: string): JsonValue {
  try {
    const value = parseExactJson(text);
    if (!isJsonObject(value) || depthOf(value, MAX_DEPTH) > MAX_DEPTH) return null;
    // A file may also have the complete answer of the API.
    const { data } = value;
    return (isJsonObject(data) ? data["debugBundle"] : undefined) ?? value;
  } catch {
    return null;
  }
}

/** The key of an item is the id of its step with a position. */
const stepKey = z.string().refine((key) => StepIdSchema.safeParse(key.replace(/\[\d{1,8}\]$/, "")).success);

const BundleSchema = z.looseObject({
  formatVersion: z.literal(BUNDLE_FORMAT),
  generatedAt: z.string(),
  request: z.looseObject({
    requestId: RequestIdSchema,
    diagnosis: z.looseObject({ stepKeys: z.array(stepKey) }),
  }),
  plans: z.array(
    z.looseObject({
      planId: PlanIdSchema,
      steps: z.array(z.looseObject({ id: StepIdSchema, key: stepKey })),
    }),
  ),
  modelCalls: z.array(z.looseObject({})),
  events: z.array(z.looseObject({ stepId: StepIdSchema.nullable(), key: stepKey.nullable() })),
});

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
    submit: () => Promise.reject(refused("READ_ONLY", "This is a file")),
    run: () => Promise.reject(refused("READ_ONLY", "This is a file")),
    request: () => Promise.reject(refused("READ_ONLY", "This is a file")),
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
    [
      READ_RESULTS,
      (variables) => {
        const plan = planOf(variables);
        return { plan: plan && { outputs: plan.outputs ?? outputsOf(plan.steps), outputReferences: [] } };
      },
    ],
    [READ_DOCUMENT, (variables) => ({ plan: planOf(variables) })],
    [
      READ_STEP,
      (variables) => {
        const filter = isJsonObject(variables["filter"]) ? variables["filter"] : {};
        const isWanted = ({ id, key }: { id: string; key: string }) =>
          key === filter["key"] || id === filter["stepId"];
        return { plan: { stepsConnection: { nodes: planOf(variables)?.steps.filter(isWanted) ?? [] } } };
      },
    ],
    [READ_JOURNAL, () => ({ events: { nodes: events, pageInfo: { hasNextPage: false, endCursor: null } } })],
    [READ_MODEL_CALLS, callsOfRequest],
    [READ_PLANNING_CALLS, callsOfRequest],
  ]);
}

/** The outputs by step, for a plan whose outputs are not stored with it. */
function outputsOf(steps: BundledRequest["plans"][number]["steps"]): Record<string, unknown> {
  const done = steps.filter(({ item, status }) => item === null && status === "COMPLETED");
  return Object.fromEntries(done.map(({ id, output }) => [id, output]));
}

function refused(code: string, message: string): ApiRefusedError {
  const remedy = "Close the file, and look at the request on its service.";
  return new ApiRefusedError(message, { code, retryable: false, remedy, path: [], facts: {} });
}
