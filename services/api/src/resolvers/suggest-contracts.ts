import { setTimeout as delay } from "node:timers/promises";
import {
  type ContractProposal,
  canonicalDigest,
  countText,
  parseExactJson,
  type SuggestedContract,
  suggestForServer,
  type ToolDescriptor,
} from "@planwright/plan";
import type { ContractAnswer, Fleet } from "@planwright/store";
import { ToolServerNotFoundError } from "../errors/api-error.ts";
import type { GraphqlContext } from "../operation/context.ts";
import { readToolCalls, toToolView } from "../operation/tool-view.ts";
import { parseWait, type WaitInput } from "../plans/create-plan.ts";

/** Arguments of the mutation suggestContracts. */
export interface SuggestInput extends WaitInput {
  server: string;
}

/** What came of asking a model, and its proposals. */
interface Asked {
  state: "NONE" | "PENDING" | "ANSWERED" | "FAILED";
  note: string;
  proposals: readonly ContractProposal[];
}

const READ_EVERY_MS = 200;
/** The workers are read once a second: a planner that started just now may be missing. */
const NOT_YET_SEEN_MS = 2_000;

/**
 * Suggests contracts by the rules, and asks a planner with a model, if one lives, for its proposals. Whatever the
 * model does, there is an answer: without its proposals it is that of the rules.
 * @throws {BadInputError | ToolServerNotFoundError}
 */
export async function suggestContracts(
  context: GraphqlContext,
  { server, ...input }: SuggestInput,
): Promise<Omit<Asked, "proposals"> & { server: string; tools: SuggestedContract[] }> {
  const waitMs = parseWait(input);
  const tools = (await context.store.toolCatalogue()).filter((tool) => tool.server === server);
  if (tools.length === 0) throw new ToolServerNotFoundError(server);
  const { proposals, ...said } = await askModel(context, { server, tools, waitMs });
  const listed = await Promise.all(
    tools.map(async (tool) => {
      const view = toToolView(tool);
      return { ...view, contractReport: view.contractReport(), calls: await readToolCalls(view, context) };
    }),
  );
  return { server, ...said, tools: suggestForServer(listed, server, proposals) };
}

const without = (state: Asked["state"], note: string): Asked => ({ state, note, proposals: [] });

/** Asks a planner, and waits for the answer. */
async function askModel(
  context: GraphqlContext,
  { server, tools, waitMs }: { server: string; tools: readonly ToolDescriptor[]; waitMs: number },
): Promise<Asked> {
  const { store, signal, tenant, modelLimits } = context;
  const planners = plannersOf(await context.readFleet());
  if (!planners.some(({ takesWork, hasModel }) => takesWork && hasModel === true)) {
    return without(
      "NONE",
      "No model was asked: no planner with a model lives. A planner has one by its setting MODEL.",
    );
  }
  const digest = canonicalDigest(tools.map((tool) => ({ ...tool })));
  const limits = modelLimits ? { modelLimits } : {};
  const names = planners.map(({ name }) => name);
  const asked = await store.askContracts(server, { tenant, digest, planners: names, ...limits });
  if (!asked) throw new ToolServerNotFoundError(server);
  context.releaseSlot?.();
  const startedAt = performance.now();
  let aliveAt = startedAt;
  for (;;) {
    // The workers first: a planner that stops stores its answer before it is gone.
    const live = plannersOf(await context.readFleet());
    const { answer, takenBy } = (await store.readContractAsk(server)) ?? asked;
    if (answer) return readAnswer(answer, tools.length);
    const now = performance.now();
    if (takenBy === null || live.some(({ name }) => name === takenBy)) aliveAt = now;
    else if (now - aliveAt > NOT_YET_SEEN_MS)
      return without("FAILED", "The planner that asked the model has died; ask again.");
    if (signal?.aborted || now - startedAt >= waitMs)
      return without("PENDING", "The model has not answered yet; ask again to wait for the same answer.");
    await delay(READ_EVERY_MS);
  }
}

const plannersOf = ({ workers }: Fleet) => workers.filter(({ kind }) => kind === "planner");

function readAnswer({ model, asked, unusable, error, proposals }: ContractAnswer, of: number): Asked {
  const about =
    asked === 0
      ? `${model} was not asked about any of ${countText(of, "tool")}`
      : `${model} was asked about ${asked} of ${countText(of, "tool")}`;
  const dropped =
    unusable === 0
      ? ""
      : ` ${countText(unusable, "proposal")} of it could not be used and ${unusable === 1 ? "was" : "were"} left out.`;
  // Written by a planner, which has checked each of them.
  const read = parseExactJson(proposals) as unknown as ContractProposal[];
  return error
    ? { state: "FAILED", note: `${about}: ${error.message} (${error.code}).${dropped}`, proposals: read }
    : {
        state: "ANSWERED",
        note: `${about} and proposed ${countText(read.length, "field")}.${dropped}`,
        proposals: read,
      };
}
