/**
 * `npm run bench -- plan`: how long plans of 1,000, 10,000 and 100,000 steps take to parse, validate and run
 * with no-op tools.
 */

import { createEngineState, decide, type EngineEvent, runPlan } from "@planwright/engine";
import { parsePlan, resolveReferences, type ToolDescriptor, validatePlan } from "@planwright/plan";
import { developerCommand, print, printJson } from "../command/developer-command.ts";

developerCommand("bench -- plan", "Measures how long large plans take to parse, validate and run.")
  .option("--json", "has no effect: the figures are always printed as JSON, last")
  .parse();

const SIZES = [1_000, 10_000, 100_000];
const LIMITS = { maxSteps: 1_000_000, maxBytes: 1_073_741_824 };
const TOOLS: ToolDescriptor[] = [
  {
    name: "noop",
    trusted: true,
    annotations: { readOnlyHint: true },
    inputSchema: { type: "object", properties: { a: {}, b: {} }, additionalProperties: false },
  },
];

/**
 * Each step reads the outputs of two earlier steps, so that edges grow with steps and many steps can run at
 * once.
 */
function createPlan(size: number) {
  const steps = Array.from({ length: size }, (_, index) => ({
    id: `s${index}`,
    tool: "noop",
    arguments: index < 16 ? {} : { a: `<<s${index - 16}.value>>`, b: `n = <<s${index - 11}.value>>` },
  }));
  return { steps, outputs: [`s${size - 1}`] };
}

function timed<T>(work: () => T): [ms: number, result: T] {
  const from = performance.now();
  const result = work();
  return [performance.now() - from, result];
}

/** Runs a plan with `decide` only: every call ends and every record is durable at once. */
function driveAlone(plan: Parameters<typeof createEngineState>[0]["plan"]): string {
  const state = createEngineState({ plan, tools: TOOLS });
  let inbox: EngineEvent[] = [{ type: "started", at: 0 }];
  while (inbox.length > 0) {
    const next: EngineEvent[] = [];
    for (const command of decide(state, inbox)) {
      if (command.type === "record")
        next.push({ type: "recorded", keys: command.records.map(({ key }) => key), at: 0 });
      if (command.type === "finish") return command.status;
      if (command.type !== "call") continue;
      const { key, attempt } = command.call;
      const outcome = { type: "completed", output: { value: 1 } } as const;
      next.push({ type: "attempt.ended", key, attempt, outcome, at: 0, random: 0 });
    }
    inbox = next;
  }
  return "STUCK";
}

async function measure(size: number) {
  const input = createPlan(size);
  const [parseMs, parsed] = timed(() => parsePlan(input, { limits: LIMITS }));
  if (!parsed.ok) throw new TypeError(JSON.stringify(parsed.diagnostics.slice(0, 3)));
  const [validateMs, diagnostics] = timed(() => validatePlan(parsed.plan, TOOLS));
  const [decideMs, status] = timed(() => driveAlone(parsed.plan));
  const from = performance.now();
  const result = await runPlan(input, { tools: TOOLS, limits: LIMITS, callTool: () => ({ value: 1 }) });
  const runMs = performance.now() - from;
  return {
    steps: size,
    parseMs,
    validateMs,
    diagnostics: diagnostics.length,
    decideMs,
    decideStatus: status,
    /** Parse, validate and run, as a caller of `runPlan` sees it. */
    runPlanMs: runMs,
    status: result.status,
    overheadPerStepUs: (runMs * 1_000) / size,
  };
}

function measureReferences(count: number) {
  const outputs = new Map([["s", { value: "x", list: [{ id: 1 }] }]]);
  const whole = Array.from({ length: count }, (_, index) => (index % 2 ? "<<s.value>>" : "<<s.list[0].id>>"));
  const [wholeMs] = timed(() => resolveReferences(whole, { outputs }));
  const text = whole.join(" and ");
  const [textMs] = timed(() => resolveReferences(text, { outputs }));
  return {
    references: count,
    wholeMs,
    wholePerSecond: Math.round((count / wholeMs) * 1_000),
    textMs,
    inTextPerSecond: Math.round((count / textMs) * 1_000),
  };
}

await measure(1_000); // warm up
const plans = [];
for (const size of SIZES) plans.push(await measure(size));
measureReferences(10_000);
const references = measureReferences(100_000);

print("steps     parse ms   validate ms   decide ms   runPlan ms   us per step");
for (const plan of plans) {
  const columns = [plan.parseMs, plan.validateMs, plan.decideMs, plan.runPlanMs, plan.overheadPerStepUs];
  const cells = columns.map((value, index) => value.toFixed(1).padStart([10, 13, 11, 12, 13][index] ?? 10));
  print(String(plan.steps).padEnd(8) + cells.join(" "));
}
print(
  `references resolved per second: ${references.wholePerSecond} whole values, ${references.inTextPerSecond} inside one text`,
);
printJson({ bench: "plan", node: process.version, plans, references });
