import { isUnreachable } from "@planwright/engine";
import { type Step, toolOfStep, valueOfHeld } from "@planwright/plan";
import {
  acceptEarly,
  acceptPlanFirst,
  barriersLast,
  countedAsSuccess,
  forget,
  hasBatchOfOne,
  type Mutant,
  removeUnclaimed,
  removeUnended,
  stepsOf,
  withClaims,
  withLeases,
  withLists,
  withOutcomes,
  without,
  withoutEvents,
  withoutFence,
  withoutKeys,
  withRecords,
  withRepeats,
} from "./mutant.ts";
import { failed } from "./system/tools.ts";
import { LOOKUP_TOOL } from "./world/catalogue.ts";

/** All planted faults. */
export const MUTANTS: readonly Mutant[] = [
  {
    name: "no-epoch-in-the-filter",
    violates: ["one-writer"],
    firstSeed: 1000,
    rewrite: (write) => ({ ...write, condition: without(write.condition, ["lease.epoch"]) }),
  },
  {
    name: "another-key-for-each-attempt",
    violates: ["same-key"],
    tools: (tools, id) => ({
      callTool: (call) => tools.callTool({ ...call, idempotencyKey: `${call.idempotencyKey}/${id()}` }),
    }),
  },
  {
    name: "a-sign-in-wakes-no-plan",
    violates: ["ends-in-time"],
    store: (store) => ({ ...store, wakeSignIns: async () => 0 }),
  },
  { name: "no-sweeper", violates: ["ends-in-time", "taken-over"], hasNoSweeper: true },
  {
    name: "intent-not-awaited",
    violates: ["intent-first"],
    store: (store) => ({ ...store, writeIntents: async (...write) => forget(store.writeIntents(...write)) }),
  },
  {
    name: "result-acknowledged-before-it-is-durable",
    violates: ["dependency-first", "ends-complete", "journal-folds", "no-surprise"],
    store: (store) => ({
      ...store,
      async writeRecords(...write) {
        forget(store.writeRecords(...write));
        return new Map();
      },
    }),
  },
  {
    name: "results-announced-early-are-never-written",
    violates: ["ends-complete", "dependency-first", "journal-folds", "no-surprise"],
    store: (store) => ({
      ...store,
      noteRecords: (_, records) => new Map(records.map(({ key }) => [key, 1])),
    }),
  },
  {
    name: "end-before-the-last-results",
    violates: ["ends-complete"],
    store: (store) => ({
      ...store,
      async finishPlan(claim, finish, last) {
        const ended = await store.finishPlan(claim, finish);
        if (last) forget(store.writeRecords(claim, last.records, last.ends));
        return ended;
      },
    }),
  },
  {
    name: "waiting-for-people-counts",
    violates: ["only-own-time-counts"],
    store: (store) =>
      withClaims(store, ({ plan }) => {
        const { startedAt, timeoutMs } = plan;
        if (startedAt && timeoutMs !== undefined) plan.deadlineAt = new Date(startedAt.getTime() + timeoutMs);
      }),
  },
  {
    name: "a-doubt-or-a-pause-expires",
    violates: ["only-own-time-counts"],
    store: (store) =>
      withClaims(store, ({ plan, journal }) => {
        const waits = journal.plan()?.waits ?? [];
        const isTooLong = waits.some(
          ({ reason, from, until }) =>
            (reason === "in doubt" || reason === "paused") &&
            (until?.getTime() ?? 0) - from.getTime() > plan.plan.policy.approvalTimeoutMs,
        );
        if (isTooLong) plan.deadlineAt = plan.startedAt;
      }),
  },
  {
    name: "progress-not-seen",
    violates: ["progress-is-no-poison"],
    store: (store) =>
      withClaims(store, ({ plan }) => {
        plan.claims = plan.epoch;
      }),
  },
  {
    name: "poison-not-counted",
    violates: ["poison-ends"],
    store: (store) =>
      withClaims(store, ({ plan }) => {
        plan.claims = 1;
      }),
  },
  {
    name: "survived-counted-twice",
    violates: ["survived-once"],
    rewrite: (write) => ({ ...write, condition: without(write.condition, ["$and"]) }),
    store: (store) =>
      withLeases(store, {
        async recordSurvived(claims) {
          await store.planLeases.recordSurvived(claims);
          await store.planLeases.recordSurvived(claims);
        },
      }),
  },
  {
    name: "times-by-the-local-clock",
    violates: ["call-within-lease", "taken-over", "ends-in-time", "only-own-time-counts"],
    hasLocalTime: true,
  },
  {
    name: "silence-ignored",
    violates: ["call-within-lease"],
    liveness: (liveness) => ({ ...liveness, validUntil: () => Number.POSITIVE_INFINITY }),
  },
  {
    name: "declared-dead-continues",
    violates: ["call-within-lease", "one-writer"],
    firstSeed: 40,
    workers: (workers) => ({
      ...workers,
      async beat(...beat) {
        await workers.beat(...beat);
        return true;
      },
    }),
  },
  {
    name: "dead-not-searched-for",
    violates: ["ends-in-time", "taken-over"],
    workers: (workers) => ({
      ...workers,
      takeFromDead: async () => ({ owners: [], plans: 0, requests: 0 }),
    }),
  },
  {
    name: "held-plans-not-searched-for",
    violates: ["ends-in-time", "taken-over"],
    store: (store) => withLeases(store, { findHeld: async () => [] }),
  },
  {
    name: "answer-before-the-insert",
    violates: ["accepted-is-durable"],
    clientStore: (store, access) => ({ ...store, submitPlan: (input) => acceptEarly(input, access) }),
  },
  {
    name: "plan-stored-before-its-request",
    violates: ["request-before-plan"],
    clientStore: (store, access) => ({ ...store, submitPlan: (input) => acceptPlanFirst(input, access) }),
  },
  {
    name: "key-ignored",
    violates: ["key-makes-one"],
    clientStore: (store) => ({
      ...store,
      submitPlan: (input) => store.submitPlan({ ...input, idempotency: undefined }),
    }),
  },
  {
    name: "control-acknowledged-and-not-kept",
    violates: ["control-is-kept"],
    clientStore: (store, { database, reach }) => ({
      ...store,
      async requestCancel(tenant, planId) {
        const set = { cancelRequestedAt: new Date(database.now()), controlSeq: 1_000 };
        const filter = { _id: planId, finishedAt: null };
        await reach({
          name: "plans.updateOne",
          apply: () => database.update("plans", filter, { set, isPipeline: false }),
        });
        return store.getPlan(tenant, planId);
      },
    }),
  },
  {
    name: "control-lost-over-a-claim",
    violates: ["control-is-kept"],
    rewrite: (write) =>
      "expressions" in write && "epoch" in write.expressions
        ? { ...write, expressions: { ...write.expressions, controls: [] } }
        : write,
  },
  {
    name: "control-dropped-at-the-end",
    violates: ["control-is-kept"],
    store: (store) => ({
      ...store,
      finishPlan(claim, ...end) {
        claim.journal.settled = () => Number.MAX_SAFE_INTEGER;
        return store.finishPlan(claim, ...end);
      },
    }),
  },
  {
    name: "controls-seen-after-new-starts",
    violates: ["cancel-stops", "pause-stops", "control-is-kept"],
    store: (store) => {
      let reads = 0;
      return {
        ...store,
        applyControls: async (claims) => (++reads % 40 === 0 ? store.applyControls(claims) : undefined),
      };
    },
  },
  {
    name: "cancel-ignored",
    violates: ["cancel-stops"],
    store: (store) =>
      withClaims(store, ({ journal }) => {
        const before = { ...journal };
        journal.asked = () => before.asked().filter(({ type }) => type !== "cancel.asked");
        journal.plan = () => {
          const folded = before.plan();
          return folded && { ...folded, cancelAskedAt: null };
        };
      }),
  },
  {
    name: "barriers-ignored",
    violates: ["barrier-first"],
    store: (store) =>
      withClaims(store, ({ plan }) => {
        plan.plan = { ...plan.plan, steps: barriersLast(plan.plan.steps) };
      }),
  },
  {
    name: "failed-item-counted-as-success",
    violates: ["lists-agree"],
    store: (store) =>
      withRecords(store, (record) => ({ ...record, output: countedAsSuccess(record.output) })),
  },
  {
    name: "failed-items-missing-at-the-end",
    violates: ["lists-agree"],
    store: (store) => ({
      ...store,
      finishPlan: (claim, finish, last) => {
        const isShort = finish.status === "PARTIAL" && finish.error?.code === "ITEMS_FAILED";
        return store.finishPlan(claim, isShort ? { ...finish, status: "COMPLETED" } : finish, last);
      },
    }),
  },
  {
    name: "answer-to-one-item-kept-whole",
    violates: ["lists-agree"],
    settings: { plannedBatches: 1 },
    tools: (tools) => ({
      callTool: async (call) => {
        const outcome = await tools.callTool(call);
        const isWhole = outcome.type === "completed" && hasBatchOfOne(call);
        return isWhole ? { ...outcome, output: { answer: valueOfHeld(outcome.output) } } : outcome;
      },
    }),
  },
  {
    name: "list-continues-after-a-failure",
    violates: ["lists-agree", "lists-stop"],
    store: (store) => withLists(store, (forEach) => ({ ...forEach, errors: "collect" })),
  },
  {
    name: "no-success-needed",
    violates: ["lists-agree"],
    store: (store) => withLists(store, (forEach) => ({ ...forEach, minSuccess: 0 })),
  },
  {
    name: "unreachable-counts-as-an-attempt",
    violates: ["unreachable-is-waited-for"],
    tools: (tools) =>
      withOutcomes(tools, (outcome) =>
        isUnreachable(outcome) ? failed("TOOL_RATE_LIMITED", "none", true) : outcome,
      ),
  },
  {
    name: "lost-answer-treated-as-unreachable",
    violates: ["doubt-is-recorded", "plain-effect-once", "verified-effect-once"],
    tools: (tools) =>
      withOutcomes(tools, (outcome) =>
        outcome.type === "failed" && outcome.effect === "unknown"
          ? failed("TOOL_UNREACHABLE", "none", true)
          : outcome,
      ),
  },
  {
    name: "error-treated-as-refusal",
    violates: ["doubt-is-recorded"],
    tools: (tools) =>
      withOutcomes(tools, (outcome) =>
        outcome.type === "failed" && outcome.effect === "reported" ? { ...outcome, effect: "none" } : outcome,
      ),
  },
  {
    name: "error-treated-as-refusal-and-retried",
    violates: ["doubt-is-recorded", "plain-effect-once", "verified-effect-once"],
    tools: (tools) =>
      withOutcomes(tools, (outcome) =>
        outcome.type === "failed" && outcome.effect === "reported"
          ? failed("TOOL_RATE_LIMITED", "none", true)
          : outcome,
      ),
  },
  {
    name: "lookup-not-asked",
    violates: ["doubt-is-recorded", "verified-effect-once"],
    tools: (tools) => ({
      callTool: (call) =>
        call.tool === LOOKUP_TOOL
          ? Promise.resolve({ type: "completed", output: { found: false } })
          : tools.callTool(call),
    }),
  },
  { name: "append-without-a-fence", violates: ["journal-folds"], firstSeed: 100, log: withoutFence },
  {
    name: "entries-lost-after-their-acknowledgement",
    violates: ["end-follows-entry", "journal-folds", "intent-first", "ends-complete", "dependency-first"],
    log: (log) => ({
      ...log,
      insert: async (entries, following) =>
        log.insert(
          entries.filter(({ seq }) => seq !== 3),
          following,
        ),
    }),
  },
  {
    name: "intents-not-read",
    violates: ["plain-effect-once", "verified-effect-once", "no-surprise", "ends-in-time"],
    log: (log) => ({
      ...log,
      async *readTails(positions) {
        for await (const entry of log.readTails(positions)) yield withoutEvents(entry, "attempt.started");
      },
    }),
  },
  {
    name: "end-not-appended",
    violates: ["end-follows-entry"],
    log: (log) => ({
      ...log,
      insert: (entries, following) =>
        log.insert(
          entries.map((entry) => withoutEvents(entry, "plan.ended")),
          following,
        ),
    }),
  },
  {
    name: "end-not-read",
    violates: ["journal-folds", "one-writer", "completed-is-final", "no-surprise", "ends-in-time"],
    log: (log) => ({
      ...log,
      async *readTails(positions) {
        for await (const entry of log.readTails(positions)) yield withoutEvents(entry, "plan.ended");
      },
    }),
  },
  {
    name: "doubt-recorded-as-cancelled",
    violates: ["doubt-is-recorded", "looked-up-until-known", "status-arrows"],
    store: (store) =>
      withRecords(store, (record) =>
        record.status === "IN_DOUBT" ? { ...record, status: "CANCELLED" } : record,
      ),
  },
  {
    name: "doubt-recorded-as-the-latest-failure",
    violates: ["doubt-is-recorded", "unreachable-is-waited-for", "no-surprise"],
    store: (store) =>
      withRecords(store, (record) =>
        record.error?.code === "ANSWER_LOST" ? { ...record, status: "FAILED" } : record,
      ),
  },
  {
    name: "lost-answer-missing-after-a-crash",
    violates: ["doubt-is-recorded", "verified-effect-once"],
    store: (store) =>
      withClaims(store, ({ records }) => {
        for (const record of records) delete record.mayHaveActed;
      }),
  },
  {
    name: "earlier-versions-not-compared",
    violates: ["versions-once"],
    settings: { histories: 1 },
    store: (store) => ({ ...store, readRepeats: async () => undefined }),
  },
  {
    name: "every-repeat-accepted",
    violates: ["versions-once"],
    settings: { histories: 1 },
    clientStore: (store) => ({
      ...store,
      async rerunPlan(tenant, requestId, options) {
        const answer = await store.rerunPlan(tenant, requestId, options);
        if (answer.type !== "repeat not accepted") return answer;
        return store.rerunPlan(tenant, requestId, { ...options, acceptRepeat: stepsOf(answer.keys) });
      },
    }),
  },
  {
    name: "every-repeat-of-an-amendment-accepted",
    violates: ["versions-once"],
    settings: { histories: 1 },
    clientStore: (store) => ({
      ...store,
      async amendPlan(tenant, requestId, amended) {
        const answer = await store.amendPlan(tenant, requestId, amended);
        if (answer.type !== "repeat not accepted" && answer.type !== "may have acted") return answer;
        return store.amendPlan(tenant, requestId, { ...amended, acceptRepeat: stepsOf(answer.keys) });
      },
    }),
  },
  {
    name: "every-step-waits-for-an-approval",
    violates: ["no-needless-approval"],
    store: (store) =>
      withClaims(store, ({ plan }) => {
        const steps = plan.plan.steps.map((step) => ({ ...step, approval: true }));
        plan.plan = { ...plan.plan, steps };
      }),
  },
  {
    name: "accepted-repeat-waits-for-an-approval",
    violates: ["no-needless-approval"],
    settings: { histories: 1 },
    store: (store) =>
      withClaims(store, ({ plan, journal }) => {
        const accepted = new Set(journal.plan()?.accepted);
        const steps = plan.plan.steps.map((step) =>
          accepted.has(step.id) ? { ...step, approval: true } : step,
        );
        plan.plan = { ...plan.plan, steps };
      }),
  },
  {
    name: "every-step-counts-as-a-repeat",
    violates: ["no-needless-approval"],
    settings: { histories: 1 },
    clientStore: (store) => ({
      ...store,
      async rerunPlan(tenant, requestId, options) {
        const first = await store.rerunPlan(tenant, requestId, { ...options, dryRun: true });
        const isNamed = (options.acceptRepeat ?? []).length > 0;
        if (first.type !== "rerun" || isNamed) return store.rerunPlan(tenant, requestId, options);
        const keys = (first.plan.plan?.steps ?? []).map(({ id }) => id);
        return { type: "repeat not accepted", keys };
      },
    }),
  },
  {
    name: "repeated-read-waits-for-an-approval",
    violates: ["no-needless-approval"],
    settings: { histories: 1 },
    store: (store) =>
      withClaims(store, ({ plan, journal }) => {
        const versions = [...journal.request().plans.values()].filter(({ planId }) => planId !== plan._id);
        const isDone = ({ id }: Step): boolean =>
          versions.some(({ units }) => units.get(id)?.status === "COMPLETED");
        const steps = plan.plan.steps.map((step) =>
          toolOfStep(step) === "read" && isDone(step) ? { ...step, approval: true } : step,
        );
        plan.plan = { ...plan.plan, steps };
      }),
  },
  {
    name: "cold-write-without-its-entry",
    violates: ["version-follows-entry"],
    clientReach: (reach) => (operation) =>
      operation.name === "journal.insertOne"
        ? reach({ ...operation, apply: () => undefined as never })
        : reach(operation),
  },
  {
    name: "memory-not-waited-for",
    violates: ["memory-budget"],
    settings: { outputMemoryBytes: 120, executors: 1, plans: 4 },
    outputMemory: (memory) => ({
      ...memory,
      join: (holder) => ({
        ...memory.join(holder),
        load: async (_, read, take) => take(await read()),
      }),
    }),
  },
  {
    name: "key-of-an-earlier-version-forgotten",
    violates: ["versions-once", "keyed-effect-once"],
    firstSeed: 275,
    settings: { histories: 1 },
    store: (store) => withRepeats(store, (repeat) => (repeat.type === "same key" ? { type: "new" } : repeat)),
    log: (log) => ({
      ...log,
      async *readTails(positions) {
        for await (const entry of log.readTails(positions)) yield withoutKeys(entry);
      },
    }),
  },
  {
    name: "repeat-not-accepted",
    violates: ["versions-once", "plain-effect-once", "verified-effect-once"],
    settings: { histories: 1 },
    store: (store) =>
      withRepeats(store, (repeat) => (repeat.type === "not accepted" ? { type: "new" } : repeat)),
  },
  {
    name: "stored-as-claimed-and-never-begun",
    violates: ["ends-in-time", "taken-over"],
    settings: { composed: 4 },
    place: (place) => ({ ...place, begin: () => undefined }),
  },
  {
    name: "stored-as-claimed-under-the-same-epoch-as-the-next-claim",
    violates: ["one-writer", "journal-folds", "call-within-lease", "plain-effect-once"],
    settings: { composed: 4 },
    clientStore: (store, { database }) => ({
      ...store,
      async submitPlan(submission) {
        const accepted = await store.submitPlan(submission);
        const set = { epoch: 0, dueAt: new Date(database.now()) };
        const filter = { _id: accepted.plan._id, status: "RUNNING", epoch: 1 };
        database.update("plans", filter, { set, isPipeline: false });
        return accepted;
      },
    }),
  },
  {
    name: "end-told-before-it-is-durable",
    violates: ["told-is-durable"],
    settings: { composed: 4 },
    store: (store) => ({
      ...store,
      async finishPlan(...end) {
        forget(store.finishPlan(...end));
        return { isForPlanner: false };
      },
    }),
  },
  {
    name: "removal-without-a-claim",
    violates: ["acknowledged-is-kept"],
    firstSeed: 20,
    settings: { keptMs: 3_000 },
    retention: removeUnclaimed,
  },
  {
    name: "removal-before-the-end",
    violates: ["acknowledged-is-kept"],
    retention: removeUnended,
  },
  {
    name: "lookup-abandoned",
    violates: ["looked-up-until-known"],
    tools: (tools) => ({
      async callTool(call) {
        const outcome = await tools.callTool(call);
        const isSilent = call.tool === LOOKUP_TOOL && outcome.type === "failed";
        return isSilent ? failed("EXECUTOR_LOST", "reported", false) : outcome;
      },
    }),
  },
];
