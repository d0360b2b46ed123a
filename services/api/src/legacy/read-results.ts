import type { PlanId } from "@planwright/plan";
import type { GraphqlContext } from "../operation/context.ts";
import { toJson } from "../operation/output-reference.ts";
import { type ExecutionResults, executionResults } from "./execution-results.ts";

/** Each output occurs in two texts: results and outputs. */
const COPIES = 2;

/**
 * The results of a plan's steps for older clients; outputs that are too large are replaced by references.
 * @throws {AnswerTooLargeError | OverloadedError}
 */
export function readResults(planId: PlanId, context: ResultReads): Promise<ExecutionResults> {
  return context.reads.once(`results ${planId}`, () => makeResults(planId, context));
}

type ResultReads = Pick<GraphqlContext, "reads" | "bytes">;

async function makeResults(planId: PlanId, { reads, bytes }: ResultReads): Promise<ExecutionResults> {
  const [head, graph, all] = await Promise.all([
    reads.plan(planId),
    reads.graph(planId),
    reads.steps(planId),
  ]);
  const steps = all.filter(({ item }) => item === null);
  const executed = await Promise.all(
    steps.map(async (step) => {
      const [body, output] = await Promise.all([reads.withBody(step), reads.output(step, "results", COPIES)]);
      return { ...step, arguments: body.arguments?.value ?? null, output: toJson(output) };
    }),
  );
  const plan = {
    status: head?.status ?? "INVALID",
    error: head?.error ?? null,
    plan: graph?.plan ?? null,
  } as const;
  const make = () => executionResults(plan, executed);
  const results = bytes.isHeavy() ? await bytes.limits.pace(make) : make();
  await bytes.making(results.results.length + results.outputs.length);
  return results;
}
