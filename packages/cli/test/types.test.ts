/** `planwright types`: the compiler takes right plans and refuses wrong ones. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { COUNTING_TOOLS, type CountingTool, type System, startSystem } from "@planwright/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { toolTypes } from "../src/report/tool-types.ts";
import { build, planwright } from "./planwright.ts";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));

const ORDER: CountingTool = {
  ...(COUNTING_TOOLS.find(({ name }) => name === "read_value") as CountingTool),
  name: "order-book.v2",
  inputSchema: {
    type: "object",
    properties: {
      side: { enum: ["buy", "sell"] },
      price: { type: "number" },
      lines: { type: "array", maxItems: 3, items: { $ref: "#/$defs/Line" } },
    },
    required: ["side", "price"],
    additionalProperties: false,
    $defs: { Line: { type: "object", properties: { sku: { type: "string" } }, required: ["sku"] } },
  },
};

let system: System;
let folder: string;
beforeAll(async () => {
  build();
  folder = mkdtempSync(join(tmpdir(), "planwright-types-"));
  symlinkSync(join(ROOT, "node_modules"), join(folder, "node_modules"));
  writeFileSync(join(folder, "package.json"), JSON.stringify({ type: "module" }));
  system = await startSystem({ tools: [ORDER] });
});
afterAll(async () => {
  await system?.close();
  rmSync(folder, { recursive: true, force: true });
});

const RIGHT = `{
  steps: [
    { id: "first", tool: "read_value", arguments: { value: 1 } },
    { id: "order", tool: "order-book.v2", dependsOn: ["first"], arguments: { side: "buy", price: "<<first.value>>", lines: [{ sku: "a <<first.value>>" }] } },
    { id: "each", forEach: { items: [1, 2], as: "one", do: { tool: "read_value", arguments: { value: "<<one>>" } } } },
    { id: "last", tool: "read_value", arguments: { value: "<<each.summary.ok>>" } },
  ],
  outputs: ["order"],
}`;

/** Each with what the compiler says about it. */
const WRONG: [what: string, from: string, to: string, said: RegExp][] = [
  [
    "a tool that does not exist",
    '"read_value", arguments: { value: 1 }',
    '"read_valeu"',
    /no tool is named read_valeu/,
  ],
  ["an argument that does not exist", 'side: "buy"', 'side: "buy", prise: 1', /there is no argument prise/],
  ["an argument that is missing", 'side: "buy", ', "", /side/],
  ["a value that is not allowed", '"buy"', '"bye"', /"buy" \| "sell"/],
  ["a value of another type", 'sku: "a <<first.value>>"', "sku: 7", /Expected<string>/],
  ["a reference to no step", "a <<first.value>>", "a <<frist.value>>", /no step is named frist/],
  [
    "a path that the output does not have",
    "<<each.summary.ok>>",
    "<<each.sumary.ok>>",
    /has no \.sumary\.ok/,
  ],
  ["a reference of another type", '"<<first.value>>"', '"<<each.results>>"', /does not fit here/],
  ["a dependency that does not exist", '["first"]', '["frist"]', /"frist"/],
  ["an output that does not exist", '["order"]', '["ordre"]', /"ordre"/],
];

test("right plans compile, and each wrong one is refused with a reason", async () => {
  const file = join(folder, "tools.ts");
  const env = { PLANWRIGHT_URL: system.apiUrl };
  const ran = await planwright(["types", "--out", file], { env });
  expect(ran).toMatchObject({
    exitCode: 0,
    stderr: expect.stringMatching(/^Wrote the types of [1-9]\d* tools to/),
  });
  const written = readFileSync(file, "utf8");
  expect((await planwright(["types"], { env })).stdout).toBe(written);

  const write = (name: string, plan: string) =>
    writeFileSync(join(folder, name), `import { definePlan } from "./tools.ts";\ndefinePlan(${plan});\n`);
  write("right.ts", RIGHT);
  for (const [index, [, from, to]] of WRONG.entries()) {
    expect(RIGHT).toContain(from);
    write(`wrong-${index}.ts`, RIGHT.replace(from, to));
  }
  const options = [
    ["--noEmit", "--strict", "--skipLibCheck", "--allowImportingTsExtensions"],
    ["--module", "nodenext", "--target", "es2023", "--types", "node"],
    // Against the types that users get. One checker: each further one would check the libraries again.
    ["--pretty", "false", "--checkers", "1"],
  ].flat();
  const files = ["right.ts", ...WRONG.map((_, index) => `wrong-${index}.ts`)];
  const { stdout } = spawnSync(join(ROOT, "node_modules/.bin/tsc"), [...options, ...files], {
    cwd: folder,
    encoding: "utf8",
  });
  // An error begins at the margin with the name of its file.
  const errors = stdout.split(/^(?=\S)/m);
  const of = (name: string) => errors.filter((error) => error.startsWith(`${name}(`)).join("");
  expect(of("right.ts")).toBe("");
  const refused = WRONG.map(([what, , , said], index) => [what, said.test(of(`wrong-${index}.ts`))]);
  expect(refused).toEqual(WRONG.map(([what]) => [what, true]));
  expect(errors.filter((error) => /^\S/.test(error) && !error.startsWith("wrong-"))).toEqual([]);
});

test("texts of a schema never become code, and what it refers to outside is not read", async () => {
  const inputSchema = {
    type: "object",
    title: "Value { } evil(); interface",
    properties: {
      side: { type: "string", description: "*/ evil(); /*" },
      price: { type: "number", tsType: "number; } evil(); interface X {" },
      "[k: string]": { type: "number" },
      remote: { $ref: "file:///etc/passwd" },
    },
    required: ["side"],
  };
  const text = await toolTypes([
    { name: "1 }; evil()", inputSchema, outputSchema: { $ref: "#/nowhere" }, observedOutput: null },
  ]);
  expect(
    text,
  ).toBe(`// Written by planwright types from the tools of the catalogue: run it again instead of changing this file.
import { planDefiner } from "@planwright/client";

/** The tools that plans may use. */
export interface Tools {
  "1 }; evil()": { arguments: Tool1EvilArguments.Value; output: Tool1EvilOutput.Value };
}

/** Returns a plan unchanged. A wrong tool, argument or reference does not compile. */
export const definePlan = planDefiner<Tools>();

export declare namespace Tool1EvilArguments {
  export interface Value {
    /**
     * * / evil(); /*
     */
    side: string
    price?: number
    remote?: unknown
  }
}

export declare namespace Tool1EvilOutput {
  // Its schema has no types.
  export type Value = unknown
}
`);
});
