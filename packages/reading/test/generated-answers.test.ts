import { type JsonObject } from "@planwright/plan";
import { readModelAnswer } from "@planwright/reading";
import { describe, expect, test } from "vitest";
import {
  AROUND_DEFECTS,
  END_DEFECTS,
  FINISH_DEFECTS,
  FORM_DEFECTS,
  STYLE_DEFECTS,
  TEXT_DEFECTS,
  WRAPPER_DEFECTS,
} from "./answers/answer-defects.ts";
import { BASE_PLANS, type BasePlan, TOOLS } from "./answers/base-plans.ts";
import { printJson } from "./answers/json-style.ts";
import { type Defect, type Draft, STEP_DEFECTS } from "./answers/plan-defects.ts";

/** The stages in order; an error of a later stage hides those of earlier stages. */
const STAGES = ["steps", "form", "wrapper", "style", "text", "end", "around", "finish"] as const;
const DEFECTS: readonly Defect[] = [
  ...STEP_DEFECTS,
  ...FORM_DEFECTS,
  ...WRAPPER_DEFECTS,
  ...STYLE_DEFECTS,
  ...TEXT_DEFECTS,
  ...END_DEFECTS,
  ...AROUND_DEFECTS,
  ...FINISH_DEFECTS,
];

/** The answer for a plan with these defects; undefined when a defect does not apply to it. */
function makeAnswer(base: BasePlan, defects: readonly Defect[]): Draft | undefined {
  const steps: JsonObject[] = structuredClone([...base.written]);
  const draft: Draft = { base, steps, document: null, style: {}, json: "", before: "", after: "" };
  for (const stage of STAGES) {
    if (stage === "form") draft.document = { steps: draft.steps };
    if (stage === "text") {
      draft.json = printJson(draft.document, draft.style);
      if (!isJson(draft.json)) draft.isRepaired = true;
    }
    for (const defect of defects)
      if (defect.stage === stage && defect.apply(draft) === false) return undefined;
  }
  draft.text ??= draft.before + draft.json + draft.after;
  return draft;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

const rank = ({ stage, code }: Defect) =>
  code === "ANSWER_AMBIGUOUS" ? STAGES.indexOf("text") : STAGES.indexOf(stage);

/** The codes that must be reported: those of the latest stage with an error. */
function expectedCodes(defects: readonly Defect[]): string[] {
  const refusing = defects.filter(({ code }) => code !== undefined);
  const last = Math.max(...refusing.map(rank));
  return refusing.filter((defect) => rank(defect) === last).map(({ code }) => code ?? "");
}

function check(
  base: BasePlan,
  defects: readonly Defect[],
  { text = "", finishReason, isRepaired = false }: Draft,
): void {
  const read = readModelAnswer(text, { tools: TOOLS, query: base.query, finishReason });
  const about = `${base.name}: ${defects.map(({ name }) => name).join(" and ")}\n${text}`;
  const codesOf = (wanted: string) =>
    read.diagnostics.filter(({ severity }) => severity === wanted).map(({ code }) => code);
  const codes = expectedCodes(defects);
  if (codes.length > 0) {
    const errors: unknown = expect.arrayContaining(codes);
    expect({ about, ok: read.ok, errors: codesOf("error") }).toEqual({ about, ok: false, errors });
    return;
  }
  const isReordered = defects.some(({ reorders }) => reorders);
  const inOrder = <Item extends { id: string }>(steps: readonly Item[]) =>
    isReordered ? steps.toSorted((one, other) => (one.id < other.id ? -1 : 1)) : steps;
  expect({
    about,
    errors: codesOf("error"),
    steps: read.ok && inOrder(read.plan.steps),
    repaired: read.ok && read.repaired,
    warnings: [...new Set(codesOf("warning"))].toSorted(),
  }).toEqual({
    about,
    errors: [],
    steps: inOrder(base.steps),
    repaired: isRepaired,
    warnings: [...new Set(defects.flatMap(({ warning }) => warning ?? []))].toSorted(),
  });
}

/** True for pairs of defects that can be combined. */
function canCombine(one: Defect, other: Defect): boolean {
  if (one.kind === other.kind) return false;
  const isNoPlan = (defect: Defect) => defect.stage === "form" && defect.code !== undefined;
  return !((one.needsPlan && isNoPlan(other)) || (other.needsPlan && isNoPlan(one)));
}

function run(defects: readonly Defect[]): number {
  let count = 0;
  for (const base of BASE_PLANS) {
    const draft = makeAnswer(base, defects);
    if (!draft) continue;
    count++;
    check(base, defects, draft);
  }
  return count;
}

const PROOF = { tags: ["proof"] };
let total = 0;

test("a correctly written plan is read unchanged", () => {
  total += run([]);
});

describe.each(DEFECTS)("$name", (defect) => {
  test(`alone ${defect.code ? "is refused" : "becomes the plan"}`, () => {
    const count = run([defect]);
    expect(count).toBeGreaterThan(0);
    total += count;
  });

  // Each defect is alone in `npm test`; the pairs are in the proof.
  const others = DEFECTS.slice(DEFECTS.indexOf(defect) + 1).filter((other) => canCombine(defect, other));
  test.for(others)("with $name, the plan or a refusal for the right reason", PROOF, (other) => {
    total += run([defect, other]);
  });
});

test("at least 500 answers were tested", PROOF, () => {
  expect(total).toBeGreaterThanOrEqual(500);
});
