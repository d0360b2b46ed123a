import {
  OwnToolNameSchema,
  parsePlan,
  planJsonSchema,
  printPlan,
  type ToolDescriptor,
  ToolNameSchema,
  toolOfStep,
} from "@planwright/plan";
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, test } from "vitest";

const text = { type: "object", properties: { text: {} } };
const NAMES = [
  "send mail",
  "größe.messen",
  "获取 天气",
  "$price (USD)",
  "a, b; c",
  '"quoted"',
  "{{x}}",
  "5",
  "📨 mail",
  "x".repeat(128),
];
const tools: ToolDescriptor[] = [...NAMES, "take"].map((name) => ({ name, inputSchema: text }));

/** How the last step's text is read after a step with the tool, and the diagnostics. */
function readAs(written: string, tool = "send mail", others: object[] = []) {
  const steps = [{ id: "s1", tool }, ...others, { id: "s9", tool: "take", arguments: { text: written } }];
  const read = parsePlan({ steps }, { tools });
  const last = read.ok ? read.plan.steps.at(-1) : undefined;
  return {
    value: last && "arguments" in last ? last.arguments["text"] : undefined,
    said: read.diagnostics.map(({ code, message }) => `${code} ${message}`),
  };
}

describe("names of tools", () => {
  test.each(NAMES)("%s is a valid name, also with a server, and in the published schema", (name) => {
    expect(OwnToolNameSchema.safeParse(name).success).toBe(true);
    expect(ToolNameSchema.safeParse(`server/${name}`).success).toBe(true);
    const validate = new Ajv2020({ strict: false }).compile(planJsonSchema());
    expect(validate({ steps: [{ id: "a", tool: name }] })).toBe(true);
  });

  test.each([
    ["", "nothing"],
    [" a", "a blank in front"],
    ["a ", "a blank at the end"],
    ["a\nb", "a line break"],
    ["a\tb", "a tabulator"],
    ["a\u2028b", "a separator of lines"],
    ["a\u0000b", "a control character"],
    ["a\u00a0b", "a blank of another kind"],
    ["a\u200bb", "a blank without width"],
    ["a\u202eb", "a change of direction"],
    ["a\u{e0041}b", "a hidden tag"],
    ["a\ud800b", "half a character"],
    ["x".repeat(129), "129 characters"],
    ["cre\u0430teFolder", "a Cyrillic letter among Latin ones"],
    ["send \u03bfrder", "a Greek letter among Latin ones"],
  ])("%j is not a valid name: it contains %s", (name) => {
    expect(ToolNameSchema.safeParse(name).success).toBe(false);
    const { diagnostics } = parsePlan([{ tool: name }]);
    expect(diagnostics.map(({ code }) => code)).toContain("TOOL_NAME_INVALID");
  });

  test.each(NAMES)(
    "a plan can call %s, wait for it, return its output, and does not change when it is printed",
    (name) => {
      const calls = [{ tool: name }, { tool: "take", dependsOn: name }];
      const read = parsePlan({ steps: calls, outputs: [name] }, { tools });
      expect(read.diagnostics).toEqual([]);
      if (!read.ok) throw new TypeError("It is refused");
      const [first, last] = read.plan.steps;
      expect(first && toolOfStep(first)).toBe(name);
      expect(last?.dependsOn).toEqual([first?.id]);
      expect(read.plan.outputs).toEqual([first?.id]);
      expect(parsePlan(printPlan(read.plan), { tools })).toMatchObject({ ok: true, plan: read.plan });
    },
  );
});

describe("references by the name of a tool", () => {
  test.each([
    ["<<send mail.id>>", "send mail", "<<s1.id>>"],
    ["<< send mail.id >>", "send mail", "<<s1.id>>"],
    ["{{send mail.id}}", "send mail", "<<s1.id>>"],
    ["It is <<send mail.list[0].id>>!", "send mail", "It is <<s1.list[0].id>>!"],
    ["<<größe.messen.id>>", "größe.messen", "<<s1.id>>"],
    ["$ref:größe.messen.id", "größe.messen", "<<s1.id>>"],
    ["<<获取 天气.城市>>", "获取 天气", '<<s1["城市"]>>'],
    ["<<$price (USD).id>>", "$price (USD)", "<<s1.id>>"],
  ])("%s of %s is the step's, with a warning", (written, tool, value) => {
    const read = readAs(written, tool);
    expect(read.value).toBe(value);
    expect(read.said).toEqual([expect.stringMatching(/^REFERENCE_SPELLING/)]);
  });

  test.each([
    ["<<Send Mail.id>>", /^REFERENCE_UNKNOWN .*by the id of its step: <<s1>>/],
    ["<<send  mail.id>>", /^REFERENCE_UNKNOWN .*by the id of its step: <<s1>>/],
    ["$ref:send mail.id", /^REFERENCE_UNKNOWN .*by the id of its step: <<s1>>/],
    ["<<send mail.>>", /^REFERENCE_MALFORMED .*write <<s1>>/],
    ["@send mail", /^REFERENCE_SPELLING .*write <<s1>>/],
  ])("%s is an error that names the step", (written, said) => {
    expect(readAs(written)).toEqual({ value: undefined, said: [expect.stringMatching(said)] });
  });

  test("the tool's name is ambiguous for two steps with it, and the diagnostic names both", () => {
    const { value, said } = readAs("<<send mail.id>>", "send mail", [{ id: "s2", tool: "send mail" }]);
    expect(value).toBeUndefined();
    expect(said).toEqual([expect.stringMatching(/^REFERENCE_AMBIGUOUS .*<<s1\.id>>, <<s2\.id>>/)]);
  });

  test.each(["please send mail to him", "\\<<send mail.id>>", "Fish & chips, 5 each"])(
    "%s is text",
    (written) => {
      expect(readAs(written)).toEqual({ value: written, said: [] });
    },
  );
});
