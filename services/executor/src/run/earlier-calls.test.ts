/**
 * Random histories of versions, over the real store and real runs. The tools' ledger is the judge: no effect
 * happens more often than it was accepted, no step is completed whose effect never happened, and no operator is
 * asked about a call that is done.
 */

import type { Outcome } from "@planwright/engine";
import {
  type Diagnostic,
  isTerminalPlanStatus,
  type JsonValue,
  type Plan,
  parsePlan,
  type RequestId,
  type ToolDescriptor,
} from "@planwright/plan";
import { createLogger } from "@planwright/runtime";
import type { PlanDocument } from "@planwright/store";
import { createMemoryDatabase, createMemoryStore } from "@planwright/store/memory";
import { listSteps } from "@planwright/testing";
import { expect, test } from "vitest";
import { createPlanTools } from "./plan-tools.ts";
import { startPlanRun } from "./start-plan-run.ts";

const TENANT = "t1";
const ALIVE = {
  owner: () => "executor",
  validUntil: () => Number.POSITIVE_INFINITY,
  nextAnswer: async () => undefined,
};

function tool(name: string, contract: object): ToolDescriptor {
  const declared = { mode: "parallel-safe", backoff: { max_attempts: 1 }, ...contract };
  return { name, server: "test", trusted: true, _meta: { "x-orchestration": declared } };
}
const TOOLS = [
  tool("read", { side_effects: false }),
  tool("keyed", { side_effects: true, idempotency: "key" }),
  tool("plain", { side_effects: true, idempotency: "none" }),
];

/** Uniform in [0, 1). */
type Random = () => number;

function createRandom(seed: number): Random {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** What a step calls; the written form and the id may differ from version to version. */
interface DrawnStep {
  id: string;
  tool: "keyed" | "plain";
  values: readonly number[];
  form: "plain" | "read" | "list";
  more: object;
  /** Beginning of the id of the step that it reads, the time limit of that step, and whether it comes later. */
  read: { id: "r" | "q"; more: object; isLater: boolean };
}

/** Steps of which no two make the same call. */
function drawSteps(random: Random, before: readonly DrawnStep[]): DrawnStep[] {
  const pick = <T>(of: readonly T[]): T => of[Math.floor(random() * of.length)] as T;
  const taken = new Set<string>();
  const ids = new Set<string>();
  const kept = before.filter(() => random() < 0.7);
  const count = 1 + Math.floor(random() * 3);
  const fresh = Array.from({ length: count }, () => undefined);
  return [...kept, ...fresh].flatMap((old): DrawnStep[] => {
    const form = random() < 0.6 && old ? old.form : pick(["plain", "read", "list"] as const);
    const isList = form === "list";
    const drawn = () => Math.floor(random() * 5);
    const values = isList ? [...new Set([drawn(), drawn(), drawn()])] : [drawn()];
    const isSame = old !== undefined && random() < 0.8 && (isList || old.values.length === 1);
    const step: DrawnStep = {
      id: old && random() < 0.6 ? old.id : pick(["a", "b", "c", "d", "e", "f"]),
      tool: old && random() < 0.9 ? old.tool : pick(["keyed", "plain"] as const),
      values: isSame ? old.values : values,
      form,
      more: { ...drawMore(random), ...(random() < 0.15 && { approval: true }) },
      read:
        old && random() < 0.5
          ? { ...old.read, more: drawMore(random) }
          : { id: pick(["r", "q"] as const), more: drawMore(random), isLater: random() < 0.3 },
    };
    const calls = step.values.map((value) => `${step.tool} ${value}`);
    if (ids.has(step.id) || calls.some((call) => taken.has(call))) return [];
    ids.add(step.id);
    for (const call of calls) taken.add(call);
    return [step];
  });
}

function drawMore(random: Random): object {
  return random() < 0.3 ? { timeoutMs: 1_000 + Math.floor(random() * 3) } : {};
}

function toPlan(steps: readonly DrawnStep[]): Plan {
  const written = steps.flatMap(({ id, tool: name, values, form, more, read }, index): object[] => {
    const onError = { onError: "fail-forward" };
    const value = values[0] ?? 0;
    const later = index > 0 ? { dependsOn: [steps[index - 1]?.id] } : {};
    const isAfter = value % 2 === 0 ? later : {};
    if (form === "list") {
      const call = { tool: name, arguments: { value: "<<item>>" } };
      return [{ id, ...more, ...onError, forEach: { items: values, errors: "collect", do: call } }];
    }
    if (form === "plain") return [{ id, tool: name, arguments: { value }, ...isAfter, ...more, ...onError }];
    return [
      {
        id: `${read.id}_${id}`,
        tool: "read",
        arguments: { value },
        ...read.more,
        ...(read.isLater && later),
      },
      { id, tool: name, arguments: { value: `<<${read.id}_${id}.value>>` }, ...more, ...onError },
    ];
  });
  const parsed = parsePlan(written, { tools: TOOLS });
  if (!parsed.ok) throw new TypeError(JSON.stringify(parsed.diagnostics));
  return parsed.plan;
}

/** A request with its tools. */
function createWorld(random: Random) {
  const database = createMemoryDatabase(() => Date.now());
  const memory = createMemoryStore({ database, owner: "executor", monotonic: () => performance.now() });
  const nothing = async () => undefined;
  const store = {
    ...memory,
    publishTools: nothing,
    keepOnlyServers: nothing,
    learnOutputs: nothing,
    addToolCalls: nothing,
    publishServer: nothing,
  };
  const ledger = new Map<string, number>();
  const allowed = new Map<string, number>();
  const byKey = new Set<string>();
  const add = (to: Map<string, number>, call: string) => to.set(call, (to.get(call) ?? 0) + 1);

  function answer(name: string, value: JsonValue, key: string | undefined): Outcome {
    const failed = (effect: "none" | "reported"): Outcome => ({
      type: "failed",
      effect,
      error: { code: "TOOL_FAILED", message: "no", retryable: false },
    });
    const fate = name === "read" ? 1 : random();
    if (fate < 0.15) return failed("none");
    const isKnown = name === "keyed" && byKey.has(`${key}`);
    if (name !== "read" && !isKnown) add(ledger, `${name} ${String(value)}`);
    byKey.add(`${key}`);
    return fate < 0.35 ? failed("reported") : { type: "completed", output: { value } };
  }

  async function run({ _id, plan }: PlanDocument): Promise<void> {
    for (;;) {
      const claim = await store.claimPlan(_id, "executor");
      if (!claim) throw new TypeError(`${_id} cannot be claimed`);
      await startPlanRun({
        claim,
        planTools: createPlanTools(claim, TOOLS),
        readCatalogueNow: async () => TOOLS,
        store,
        tools: {
          async callTool({ tool: name, arguments: args, idempotencyKey, beforeSend }) {
            const offered = TOOLS.find((one) => one.name === name);
            const clearance = offered && (await beforeSend?.(offered));
            if (clearance && clearance.type !== "send") return clearance;
            const { value = null } = args instanceof Uint8Array ? {} : args;
            return answer(name, value, idempotencyKey);
          },
        },
        liveness: ALIVE,
        logger: createLogger({ service: "test", level: "silent" }),
      }).done;
      const now = await store.getPlan(TENANT, _id);
      if (now && isTerminalPlanStatus(now.status)) return;
      for (const step of await listSteps(store, TENANT, [_id])) {
        if (step.status !== "WAITING_APPROVAL") continue;
        const { stepId, approvalHash } = step;
        asked.push({ stepId, plan });
        accept([stepId], plan);
        const decision = { stepId, approvalHash: approvalHash ?? "", approved: true, reason: null, by: "o" };
        await store.approveStep(TENANT, _id, decision);
      }
    }
  }

  /** The calls of these steps may happen once more. */
  function accept(ids: readonly string[], plan: Plan | null): void {
    const drawn = versions.find(({ document }) => document === plan)?.steps ?? [];
    for (const { id, tool: name, values } of drawn)
      if (ids.includes(id)) for (const value of values) add(allowed, `${name} ${value}`);
  }
  const versions: { steps: readonly DrawnStep[]; document: Plan | null }[] = [];
  /** Approvals that were asked for. */
  const asked: { stepId: string; plan: Plan | null }[] = [];

  return { store, ledger, allowed, versions, asked, run, accept };
}

test.each(Array.from({ length: 30 }, (_, index) => index + 36))(
  "history %i repeats no effect that was not accepted, completes no step whose effect never happened, and asks about no call that is done",
  async (seed) => {
    const random = createRandom(seed);
    const { store, ledger, allowed, versions, asked, run, accept } = createWorld(random);
    const log: string[] = [];
    /** Calls that are done, each with the key of its unit. */
    const done = new Set<string>();
    let repeated: readonly string[] = [];
    let steps = drawSteps(random, []);
    while (steps.length === 0) steps = drawSteps(random, []);
    const submitted = { tenant: TENANT, query: null, plan: toPlan(steps), raw: "", diagnostics: [] };
    const { plan: first } = await store.submitPlan({ ...submitted, autoExecute: true });
    const drawn = [steps];
    let now = first;

    async function check(): Promise<void> {
      versions.push({ steps, document: now.plan });
      await run(now);
      for (const { stepId } of asked.splice(0)) {
        const one = steps.find(({ id }) => id === stepId);
        if (!one) continue; // a read, which this store does not know as such
        const keyOf = (index: number) => (one.form === "list" ? `${stepId}[${index}]` : stepId);
        const isOpen = one.values.some((value, index) => !done.has(`${keyOf(index)} ${one.tool} ${value}`));
        const isNeeded = isOpen || repeated.includes(stepId);
        expect({ seed, stepId, isNeeded, log }).toEqual({ seed, stepId, isNeeded: true, log });
      }
      for (const [call, count] of ledger)
        expect({ seed, call, count, log }).toEqual({
          seed,
          call,
          count: Math.min(count, 1 + (allowed.get(call) ?? 0)),
          log,
        });
      for (const unit of await listSteps(store, TENANT, [now._id])) {
        const one = steps.find(({ id }) => id === unit.stepId);
        if (!one || unit.status !== "COMPLETED" || (one.form === "list" && unit.item === null)) continue;
        const call = `${one.tool} ${one.values[unit.item ?? 0]}`;
        expect({ seed, call, happened: ledger.has(call), log }).toEqual({ seed, call, happened: true, log });
        done.add(`${unit.key} ${call}`);
        expect(unit.output).toEqual({ value: one.values[unit.item ?? 0] });
      }
    }

    /** A planner writes the next version: no caller can accept a repeat, so an operator is asked before the call. */
    async function replan(
      requestId: RequestId,
      version: { plan: Plan; raw: string; diagnostics: Diagnostic[] },
    ) {
      const asked = await store.requestReplan(TENANT, requestId, { note: null, execute: true });
      if (asked.type !== "replanning") return asked;
      const claim = await store.claimRequest(requestId, "planner");
      if (!claim) throw new TypeError(`${requestId} cannot be claimed`);
      const origin = { kind: "model", model: "scripted" } as const;
      return { type: "replanned", plan: await store.completeReplan(claim, { ...version, origin }) } as const;
    }

    async function change(): Promise<void> {
      const kind = random();
      const { requestId } = first;
      let acceptRepeat: string[] = [];
      const from = random() < 0.4 ? (steps[Math.floor(random() * steps.length)]?.id ?? null) : null;
      const isRestored = random() < 0.3;
      const next = isRestored ? drawn[Math.floor(random() * drawn.length)] : drawSteps(random, steps);
      if (!next || next.length === 0) return;
      for (let tries = 0; tries < 4; tries++) {
        const options = { autoExecute: true, acceptRepeat };
        const amended = { ...options, plan: toPlan(next), raw: "", diagnostics: [] };
        const answer =
          kind < 0.35
            ? await store.rerunPlan(TENANT, requestId, { ...options, from })
            : kind < 0.7
              ? await store.amendPlan(TENANT, requestId, amended)
              : await replan(requestId, amended);
        const asked =
          kind < 0.35 ? `rerun ${from}` : `${kind < 0.7 ? "amend" : "replan"} ${JSON.stringify(next)}`;
        log.push(`${asked} ${acceptRepeat.join()}: ${answer.type}`);
        if (answer.type === "rerun" || answer.type === "amended" || answer.type === "replanned") {
          if (answer.type !== "rerun") steps = next;
          drawn.push(steps);
          now = answer.plan;
          versions.push({ steps, document: now.plan });
          accept(acceptRepeat, now.plan);
          repeated = acceptRepeat;
          return check();
        }
        if (answer.type !== "repeat not accepted" && answer.type !== "may have acted") return;
        if (random() < 0.4) return;
        acceptRepeat = [...acceptRepeat, ...answer.keys.map((key) => key.replace(/\[.*/, ""))];
      }
    }

    await check();
    for (let count = 0; count < 8; count++) await change();
  },
);
