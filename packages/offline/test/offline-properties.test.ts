import { fc, test } from "@fast-check/vitest";
import { DraftError } from "@planwright/models";
import { parsePlan, type ToolDescriptor } from "@planwright/plan";
import { describe, expect } from "vitest";
import { planByRules } from "../src/index.ts";
import { CATALOGUES, SENTENCES } from "./sentences.ts";

const WORDS =
  `create add write list get delete update send author authors blog comment issue file event email order product weather then and , ; .
   search book post deploy transfer user users project deal flight account service results first second one its same her him both all every
   under over at tomorrow 10:30 9am UTC may 2027 because saying about through a.txt *.md WEB-5 #ops 250 $3.50 usd monthly production on off me
   with by about on to for in titled named saying that the it them a two name title content id Alice Bob "Great post" 'x y' a@b.test 12 3.5
   https://x.test/p <<createAuthor._id>> {{a.b}} $ref:a.b 2026-12-01 high open ( ) : = constructor __proto__ toString if not every`.split(
    /\s+/,
  );
const sentence = fc
  .array(fc.constantFrom(...WORDS), { minLength: 1, maxLength: 25 })
  .map((words) => words.join(" "));
const catalogue = fc.constantFrom(...Object.values(CATALOGUES));

/** The plan, or null when the sentence was refused with a DraftError. */
function planOrRefusal(query: string, tools: ToolDescriptor[]) {
  try {
    return planByRules(query, tools);
  } catch (error) {
    expect(error).toBeInstanceOf(DraftError);
    return null;
  }
}

const joined = fc
  .tuple(fc.constantFrom(...SENTENCES), fc.nat(), fc.constantFrom(", ", " and ", ", then ", ". ", "\n"))
  .map(([{ catalogue: name, query }, second, joint]) => {
    const others = SENTENCES.filter(({ catalogue: other }) => other === name);
    const other = others[second % others.length]?.query ?? "";
    return { tools: CATALOGUES[name] ?? [], words: `${query}${joint}${other}`.split(" ") };
  });

/** `npm test` draws a tenth, `npm run proof` others. */
for (const { numRuns, options } of [
  { numRuns: 10, options: {} },
  { numRuns: 90, options: { tags: ["proof"] } },
])
  describe(`drawn ${numRuns} times and more`, options, () => {
    test.prop([sentence, catalogue], { numRuns: 20 * numRuns })(
      "random words give a valid plan or a refusal",
      (query, tools) => {
        const plan = planOrRefusal(query, tools);
        if (!plan) return;
        // The planner passes the request too: a text of the request, such as "$3.50", is no reference to the
        // third step.
        const read = parsePlan(plan, { tools, request: query });
        expect(read.diagnostics.filter(({ severity }) => severity === "error")).toEqual([]);
      },
    );

    test.prop([fc.string({ unit: "grapheme", maxLength: 200 }), catalogue], { numRuns: 5 * numRuns })(
      "any text is planned or refused",
      (query, tools) => {
        planOrRefusal(query, tools);
      },
    );

    test.prop([sentence, catalogue], { numRuns: 2 * numRuns })(
      "the same sentence gives the same plan",
      (query, tools) => {
        expect(planOrRefusal(query, tools)).toEqual(planOrRefusal(query, tools));
      },
    );

    test.prop([joined, fc.nat({ max: 40 }), fc.constantFrom(...WORDS)], { numRuns: 10 * numRuns })(
      "two joined requests with one more word give a valid plan or a refusal",
      ({ tools, words }, place, word) => {
        const query = words.toSpliced(place % words.length, 0, word).join(" ");
        const plan = planOrRefusal(query, tools);
        if (!plan) return;
        const read = parsePlan(plan, { tools, request: query });
        expect(read.diagnostics.filter(({ severity }) => severity === "error")).toEqual([]);
      },
    );
  });
