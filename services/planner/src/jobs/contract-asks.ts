import type { Drafter, PriceList, ProposedContracts } from "@planwright/models";
import { contractReport, stringifyExactJson, type ToolDescriptor } from "@planwright/plan";
import { type Logger, redactText } from "@planwright/runtime";
import {
  type ContractAsk,
  type ContractAskStore,
  exceededLimit,
  type ModelSpending,
  modelUseOf,
  NO_SPENDING,
  type PlanningStore,
} from "@planwright/store";
import { createCallMeter, redactedError } from "../calls/call-meter.ts";
import type { ModelMetrics } from "../calls/model-metrics.ts";
import type { ModelQuota } from "./model-quota.ts";

/** Dependencies of {@link createContractAsks}. */
interface ContractAsksParts {
  store: ContractAskStore & Pick<PlanningStore, "toolCatalogue">;
  drafter: Drafter;
  prices: PriceList;
  metrics?: ModelMetrics | undefined;
  quota: Pick<ModelQuota, "allows">;
  /** The name of this process among the live workers. */
  planner: () => string;
  logger: Pick<Logger, "info" | "warn">;
}

/** Answers the questions of operators about the contracts of tools. */
interface ContractAsks {
  /** Answers one open question, if there is one; does nothing while another one is being answered. */
  check(): Promise<void>;
  /** Ends the question that is being answered: its answer says that this planner stopped. */
  stop(): Promise<void>;
}

/** Longest time for all calls of one question, in milliseconds. */
const ASK_MS = 180_000;

/**
 * Without a model no question is taken. A question is at most four calls of a model and changes nothing, so it needs
 * no lease: when this process dies, the next call of an operator asks another planner.
 */
export function createContractAsks(parts: ContractAsksParts): ContractAsks {
  const { store, drafter, planner, logger } = parts;
  const stopping = new AbortController();
  let current: Promise<void> | undefined;

  async function answerOne(): Promise<void> {
    const taken = await store.takeContractAsk(planner());
    if (!taken) return;
    const { server } = taken;
    const signal = AbortSignal.any([stopping.signal, AbortSignal.timeout(ASK_MS)]);
    const proposed = await propose(parts, taken, signal).catch((error: unknown) => {
      logger.warn({ err: error, server }, "contracts not proposed");
      return failed(BROKEN);
    });
    const { proposals, asked, unusable } = proposed;
    const why = stopping.signal.aborted ? STOPPED : signal.aborted ? TIMED_OUT : proposed.error;
    const error = proposed.error && why;
    logger.info({ server, asked, proposals: proposals.length, code: error?.code }, "contracts proposed");
    const kept = proposals.map(({ reason, ...one }) => ({ ...one, reason: redactText(reason) }));
    await store.answerContracts(taken, {
      model: drafter.name,
      proposals: stringifyExactJson(kept),
      asked,
      unusable,
      error: error && redactedError(error),
    });
  }

  return {
    async check() {
      if (current || stopping.signal.aborted || !drafter.proposeContracts) return;
      current = answerOne();
      await current.finally(() => {
        current = undefined;
      });
    },
    async stop() {
      stopping.abort();
      await current?.catch(() => undefined);
    },
  };
}

async function propose(
  { store, drafter, prices, metrics, quota }: ContractAsksParts,
  { server, ask }: { server: string; ask: ContractAsk },
  signal: AbortSignal,
): Promise<ProposedContracts> {
  if (!(await quota.allows(ask.tenant))) return failed(QUOTA_USED);
  const tools = (await store.toolCatalogue()).filter((tool) => tool.server === server);
  const meter = createCallMeter(
    { store: limitedCalls(store, ask), prices, metrics },
    workOf(ask),
    "contracts",
  );
  const asked = drafter.proposeContracts?.({ tools: toAsk(tools), meter, signal });
  return (await asked) ?? failed(BROKEN);
}

const workOf = ({ tenant, modelLimits }: ContractAsk) => ({
  request: { tenant, ...(modelLimits ? { modelLimits } : {}), planning: { wait: null } },
  earlierCalls: [],
});

/** The calls of one question: recorded, and none that might exceed its limits. */
function limitedCalls(
  store: ContractAskStore,
  ask: ContractAsk,
): Parameters<typeof createCallMeter<ReturnType<typeof workOf>, "contracts">>[0]["store"] {
  const counted = new Map<string, ModelSpending>();
  return {
    async beginModelCall(_work, call) {
      const use = modelUseOf({ spent: NO_SPENDING, calls: counted });
      const exceeded = exceededLimit(ask.modelLimits, use, call.reserved);
      if (exceeded) return { type: "exceeded", ...exceeded };
      const begun = await store.beginContractCall(ask, call);
      counted.set(begun.callId, call.reserved);
      return begun;
    },
    endModelCall(callId, end) {
      counted.set(callId, end.spent);
      return store.endContractCall(callId, end);
    },
  };
}

/**
 * The tools of which the operator has not decided whether they act. Those that no hint calls a read come first: only
 * their failures become doubts.
 */
function toAsk(tools: readonly ToolDescriptor[]): ToolDescriptor[] {
  const open = tools.filter(
    (tool) =>
      !contractReport(tool).fields.some(
        ({ name, source }) => name === "sideEffects" && source === "override",
      ),
  );
  const isHinted = (tool: ToolDescriptor) => tool.annotations?.["readOnlyHint"] === true;
  return [...open.filter((tool) => !isHinted(tool)), ...open.filter(isHinted)];
}

const failed = (error: NonNullable<ProposedContracts["error"]>): ProposedContracts => ({
  proposals: [],
  asked: 0,
  unusable: 0,
  error,
});

const QUOTA_USED = {
  code: "RATE_LIMITED",
  message: "Your tenant has made its model calls of an hour (maxModelCallsPerHour); ask again later",
};
const STOPPED = {
  code: "MODEL_UNREACHABLE",
  message: "The planner that asked the model was stopped; ask again",
};
const TIMED_OUT = {
  code: "MODEL_TIMEOUT",
  message: `The model did not answer all questions within ${ASK_MS / 1_000} s; ask again`,
};
const BROKEN = { code: "INTERNAL", message: "The planner failed to ask the model; its log says why" };
