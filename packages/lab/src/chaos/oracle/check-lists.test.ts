import { describe, expect, test } from "vitest";
import type { Evidence, FinalStep, ViolationKind } from "../evidence.ts";
import { checkRun } from "./check-run.ts";
import { callOf, effectOf, type ListVersion, listEvidence, NEXT_ID, PLAN_ID } from "./evidence.fixture.ts";

const EACH = `${PLAN_ID}/each`;
const item = (index: number, planId = PLAN_ID): string => `${planId}/each[${index}]`;

/** The evidence with some units changed by `change`. */
function changed(
  run: Evidence,
  ids: readonly string[],
  change: (unit: FinalStep) => Partial<FinalStep>,
): Evidence {
  const steps = run.steps.map((unit) => (ids.includes(unit._id) ? { ...unit, ...change(unit) } : unit));
  return { ...run, steps };
}

/** The evidence with the envelope of another list. */
function withEnvelope(run: Evidence, version: ListVersion): Evidence {
  const { output } = listEvidence([version]).steps[0]!;
  return changed(run, [EACH], () => ({ output }));
}

const COLLECTED: ListVersion = { items: ["ok", "failed", "ok"], errors: "collect" };
const STOPPED: ListVersion = { items: ["ok", "failed", "skipped"], list: "FAILED", plan: "FAILED" };
const EXCLUDED: ListVersion = { items: ["excluded", "ok"] };
const RERUN: readonly ListVersion[] = [
  COLLECTED,
  { items: ["carried", "ok", "carried"], errors: "collect", planId: NEXT_ID },
];

describe("a correct list", () => {
  test.each<[string, readonly ListVersion[]]>([
    ["is COMPLETED", [{ items: ["ok", "ok"] }]],
    ["has failed items, and its plan is PARTIAL", [COLLECTED]],
    ["stopped at its first failed item", [STOPPED]],
    [
      "reads, and continues after a failure by its contract",
      [{ items: ["failed", "ok"], tool: "item_read" }],
    ],
    [
      "acts, and continues after a failure by its contract",
      [{ items: ["failed", "ok"], tool: "batch_keyed" }],
    ],
    ["failed for too few successes", [{ ...COLLECTED, minSuccess: 0.9, list: "FAILED", plan: "FAILED" }]],
    ["needs no success", [{ items: ["failed"], errors: "collect", minSuccess: 0 }]],
    ["was run again, without its completed items", RERUN],
    ["has items that its condition excludes", [{ items: ["excluded", "ok", "excluded"] }]],
    ["has only items that its condition excludes", [{ items: ["excluded"], minSuccess: 2 }]],
    [
      "needs a share of the items that its condition lets through",
      [{ items: ["ok", "excluded"], minSuccess: 0.9 }],
    ],
    [
      "was run again, without its excluded items",
      [
        { items: ["excluded", "failed"], errors: "collect", minSuccess: 0 },
        { items: ["excluded", "ok"], errors: "collect", minSuccess: 0, planId: NEXT_ID },
      ],
    ],
  ])("that %s passes", (_title, versions) => {
    expect(checkRun(listEvidence(versions)).violations).toEqual([]);
  });

  test("may have sent an item again under the key of an unanswered call", () => {
    const unanswered = callOf({ item: 1, answer: null });
    const again = callOf({ item: 1, at: 51_000 });
    const [, rerun] = RERUN;
    const run = listEvidence([{ ...COLLECTED, items: ["ok", "in doubt", "ok"] }, ...(rerun ? [rerun] : [])]);
    const found = {
      calls: [
        ...run.calls.filter(({ key }) => key !== unanswered.key && key !== item(1, NEXT_ID)),
        unanswered,
        again,
      ],
      ledger: [
        ...run.ledger.filter(({ key }) => key !== item(1, NEXT_ID)),
        { ...effectOf(PLAN_ID, 1), effect: 100 + 1 },
      ],
    };
    expect(checkRun({ ...run, ...found }).violations).toEqual([]);
  });
});

const partial = listEvidence([COLLECTED]);
const stopped = listEvidence([STOPPED]);
const again = listEvidence(RERUN);

const planted: [title: string, kind: ViolationKind, id: string, found: Evidence][] = [
  [
    "a failed item of a tool that acts counted as a success",
    "lists",
    item(1),
    listEvidence([{ items: ["ok", "ok", "ok"], errors: "collect" }], { calls: partial.calls }),
  ],
  [
    "a failed item of a tool that reads counted as a success",
    "lists",
    item(0),
    listEvidence([{ items: ["ok"], tool: "item_read" }], { calls: [callOf({ item: 0, answer: "error" })] }),
  ],
  [
    "a failed item of a batch counted as a success",
    "lists",
    item(1),
    listEvidence([{ items: ["ok", "ok"], tool: "batch_keyed" }], {
      calls: [
        callOf({
          item: 0,
          tool: "batch_keyed",
          key: `${PLAN_ID}/each[0..1]`,
          arguments: { items: [callOf({ item: 0 }).arguments, callOf({ item: 1 }).arguments] },
          output: { results: [{ status: "ok" }, { status: "error", error: { code: "REFUSED" } }] },
        }),
      ],
    }),
  ],
  [
    "a failed item that is a success in the envelope",
    "lists",
    EACH,
    withEnvelope(partial, { items: ["ok", "ok", "ok"] }),
  ],
  ["an item that the envelope leaves out", "lists", EACH, withEnvelope(partial, { items: ["ok", "failed"] })],
  [
    "an item without a record",
    "lists",
    EACH,
    { ...partial, steps: partial.steps.filter(({ _id }) => _id !== item(1)) },
  ],
  [
    "an item with another item's output",
    "lists",
    item(0),
    changed(partial, [item(0)], () => ({ output: partial.steps[3]?.output })),
  ],
  [
    "a list that completed with an item never called",
    "lists",
    EACH,
    listEvidence([{ items: ["ok", "skipped"], errors: "collect" }]),
  ],
  [
    "a list that completed with too few successes",
    "lists",
    EACH,
    listEvidence([{ ...COLLECTED, minSuccess: 3 }]),
  ],
  [
    "a list that completed without any success",
    "lists",
    EACH,
    listEvidence([{ items: ["failed"], errors: "collect" }]),
  ],
  [
    "a list that completed though it stops at failures",
    "lists",
    EACH,
    listEvidence([{ items: ["ok", "failed"] }]),
  ],
  [
    "a list that failed without a reason",
    "lists",
    EACH,
    listEvidence([{ ...COLLECTED, list: "FAILED", plan: "FAILED" }]),
  ],
  [
    "a call after an item of a list that stops has failed",
    "lists",
    item(2),
    changed(listEvidence([{ ...STOPPED, items: ["ok", "failed", "ok"] }]), [item(2)], () => ({
      attempts: [{ executor: "one", startedAt: new Date(3_001), endedAt: null, outcome: null }],
    })),
  ],
  [
    "a call of a skipped item",
    "lists",
    item(2),
    { ...stopped, calls: [...stopped.calls, callOf({ item: 2, answer: "error" })] },
  ],
  [
    "a call of an item that the condition excludes",
    "lists",
    item(0),
    listEvidence([EXCLUDED], { calls: [callOf({ item: 0 }), callOf({ item: 1 })] }),
  ],
  [
    "a success of an item that the condition excludes",
    "lists",
    item(0),
    changed(listEvidence([EXCLUDED]), [item(0)], () => ({ status: "COMPLETED" })),
  ],
  [
    "an item that the condition excludes among the results",
    "lists",
    EACH,
    withEnvelope(listEvidence([EXCLUDED]), { items: ["skipped", "ok"], errors: "collect" }),
  ],
  [
    "an item that the condition lets through and that was skipped",
    "lists",
    EACH,
    changed(listEvidence([EXCLUDED]), [item(1)], () => ({ status: "SKIPPED", attempts: [] })),
  ],
  [
    "a plan that is COMPLETED with failed items",
    "lists",
    PLAN_ID,
    listEvidence([{ ...COLLECTED, plan: "COMPLETED" }]),
  ],
  [
    "a plan that FAILED although only items failed",
    "lists",
    PLAN_ID,
    listEvidence([{ ...COLLECTED, plan: "FAILED" }]),
  ],
  [
    "a reader that received another number",
    "lists",
    `${PLAN_ID}/reader`,
    changed(partial, [`${PLAN_ID}/reader`], () => ({ output: { value: { of: "each", ok: 3 } } })),
  ],
  [
    "an item that acted twice",
    "duplicated",
    item(0),
    { ...partial, ledger: [...partial.ledger, { ...effectOf(PLAN_ID, 0), effect: 50 }] },
  ],
  ["a version that no client requested", "duplicated", NEXT_ID, { ...again, asked: [] }],
  [
    "a rerun that calls an item that had completed",
    "duplicated",
    item(0, NEXT_ID),
    { ...again, calls: [...again.calls, callOf({ planId: NEXT_ID, item: 0 })] },
  ],
  [
    "a rerun that loses the output of an item",
    "lost",
    item(0, NEXT_ID),
    changed(again, [item(0, NEXT_ID)], () => ({ output: { effect: 7, value: { label: "0/each[0]" } } })),
  ],
  [
    "a rerun that does not call an item that had failed",
    "lost",
    item(1, NEXT_ID),
    { ...again, calls: again.calls.filter(({ key }) => key !== item(1, NEXT_ID)) },
  ],
  [
    "a rerun that calls an item that may have acted under a new key",
    "duplicated",
    item(1, NEXT_ID),
    {
      ...again,
      ledger: [...again.ledger, { ...effectOf(PLAN_ID, 1), effect: 50 }],
      calls: again.calls.map((call) => (call.key === item(1) ? { ...call, answer: null } : call)),
    },
  ],
  [
    "a read of a rerun that waits for an approval",
    "unfinished",
    `${NEXT_ID}/reader`,
    { ...again, changes: [...again.changes, asksFor(`${NEXT_ID}/reader`)] },
  ],
  [
    "a list that waits for an approval although the client accepted its repeat",
    "unfinished",
    `${NEXT_ID}/each`,
    {
      ...again,
      changes: [...again.changes, asksFor(`${NEXT_ID}/each`)],
      asked: again.asked.map((asked) => ({ ...asked, acceptRepeat: ["each"] })),
    },
  ],
  [
    "an item of a rerun that is refused as a repeat of a call without an effect",
    "unfinished",
    item(1, NEXT_ID),
    changed(
      changed(again, [item(1)], () => ({ effect: "none" })),
      [item(1, NEXT_ID)],
      () => ({ status: "FAILED", error: { code: "REPEAT_NOT_ACCEPTED" } }),
    ),
  ],
];

function asksFor(id: string): Evidence["changes"][number] {
  return { at: 0, collection: "steps", id, type: "update", fields: [], status: "WAITING_APPROVAL" };
}

test("a list of a rerun waits for an approval after a call of an item that acted", () => {
  const asked = { ...again, changes: [...again.changes, asksFor(`${NEXT_ID}/each`)] };
  const found = checkRun(asked).violations.filter(({ found }) => found === "WAITING_APPROVAL");
  expect(found).toEqual([]);
});

test.each(planted)("%s is found", (_title, kind, id, found) => {
  const { violations, passed } = checkRun(found);
  expect(violations).toContainEqual(expect.objectContaining({ kind, id }));
  expect(passed).toBe(false);
});

test("an item of a rerun that a look-up found needs no call", () => {
  const calls = again.calls.filter(({ key }) => key !== item(1, NEXT_ID));
  const effect = effectOf(NEXT_ID, 1);
  const foundAs = { ...effect, arguments: { ...effect.arguments, reference: "0/each[1]" } };
  const lostItems = (ledger: typeof again.ledger) =>
    checkRun({ ...again, calls, ledger }).violations.filter(
      ({ kind, id }) => kind === "lost" && id === item(1, NEXT_ID),
    );
  expect(lostItems(again.ledger)).not.toEqual([]);
  expect(lostItems([...again.ledger, foundAs])).toEqual([]);
});

test.each([
  ["unknown", 0],
  [null, 0],
  ["completed", 1],
])(
  "an item of a rerun that is in doubt after an attempt with the outcome %s: %i violations",
  (outcome, expected) => {
    const inDoubt = listEvidence([
      { items: ["ok", "failed"] },
      { planId: NEXT_ID, items: ["carried", "in doubt"] },
    ]);
    const found = changed(inDoubt, [item(1, NEXT_ID)], ({ attempts }) => ({
      attempts: attempts.map((attempt) => ({ ...attempt, outcome })),
    }));
    const lostItems = checkRun(found).violations.filter(({ kind }) => kind === "lost");
    expect(lostItems.map(({ id }) => id)).toEqual(Array(expected).fill(item(1, NEXT_ID)));
  },
);
