import { type JsonValue, parsePlan } from "@planwright/plan";
import { expect, test } from "vitest";

/**
 * The value of the last of three steps when the first has further fields, and the diagnostics except the
 * notes about these fields.
 */
function readWith(label: object, value: JsonValue, more: object = {}) {
  const steps = [
    { id: "a", tool: "find", ...label },
    { id: "b", tool: "look" },
    { id: "c", tool: "send", arguments: { value }, ...more },
  ];
  const read = parsePlan({ steps });
  const last = read.ok ? read.plan.steps.at(-1) : undefined;
  return {
    value: last && "arguments" in last ? last.arguments["value"] : undefined,
    dependsOn: last?.dependsOn,
    codes: read.diagnostics.filter(({ code }) => code !== "FIELD_IGNORED").map(({ code }) => code),
  };
}

test.each<[object, string, string]>([
  [{ save_as: "author" }, "<<author.id>>", "<<a.id>>"],
  [{ saveAs: "author" }, "{{author.id}}", "<<a.id>>"],
  [{ output_variable: "{{author}}" }, "${author.id}", "<<a.id>>"],
  [{ result: "$result" }, "$result.id", "<<a.id>>"],
  [{ label: "$var7" }, "$var7.text$", "<<a.text>>"],
  [{ label: "$var7" }, "See $var7.text$.", "See <<a.text>>."],
  [{ output: "#E7" }, "#E7", "<<a>>"],
  [{ store_in: "author" }, "$ref:author.id", "<<a.id>>"],
  [{ name: "Find the author" }, "<<Find the author.id>>", "<<a.id>>"],
  [{ as: "author" }, "$author", "<<a>>"],
])("with %j %s is %s, with a warning", (label, written, value) => {
  expect(readWith(label, written)).toMatchObject({ value, codes: ["REFERENCE_SPELLING"] });
});

test.each(["author", "Find the author", "$author"])("a step waits for another by its label %s", (label) => {
  expect(readWith({ save_as: label }, "x", { dependsOn: label })).toMatchObject({
    dependsOn: ["a"],
    codes: [],
  });
});

test("a label of two other steps is ambiguous", () => {
  const steps = [
    { id: "a", tool: "find", save_as: "author" },
    { id: "b", tool: "look", save_as: "author" },
    { id: "c", tool: "send", arguments: { value: "<<author.id>>" } },
  ];
  const { ok, diagnostics } = parsePlan({ steps });
  expect(ok).toBe(false);
  expect(diagnostics).toContainEqual(
    expect.objectContaining({
      code: "REFERENCE_AMBIGUOUS",
      message: expect.stringContaining("<<a.id>>, <<b.id>>"),
    }),
  );
});

test("a label shared with the step itself means the other step, and an id wins over a label", () => {
  const both = readWith({ save_as: "author" }, "<<author.id>>", { save_as: "author" });
  expect(both).toMatchObject({ value: "<<a.id>>", codes: ["REFERENCE_SPELLING"] });
  expect(readWith({ save_as: "b" }, "<<b.id>>")).toMatchObject({ value: "<<b.id>>", codes: [] });
});

test.each([
  [{ save_as: "author" }, "author"],
  [{ save_as: "author" }, "An #author and <author>x</author>"],
  [{ description: "author" }, "$author.id"],
  [{ save_as: "a".repeat(65) }, `$${"a".repeat(65)}.id`],
  [{ save_as: "" }, "$.id"],
])("with %j %s stays text", (label, written) => {
  expect(readWith(label, written)).toMatchObject({ value: written, codes: [] });
});
