import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
const read = (path: string): string => readFileSync(`${ROOT}/${path}`, "utf8");

test("the guide explains every cause that a diagnosis can name, once, and no other", () => {
  const schema = read("services/api/src/graphql/schema.graphql");
  const [, values = ""] = /^enum DiagnosisCode \{\n([\s\S]*?)^\}/m.exec(schema) ?? [];
  const codes = [...values.matchAll(/^ {2}([A-Z_]+)$/gm)].map(([, code]) => code);
  const firstCells = [...read("docs/debug.md").matchAll(/^\| (`[^|]*) \|/gm)].map(([, cell = ""]) => cell);
  const explained = firstCells.flatMap((cell) => [...cell.matchAll(/`([A-Z_]+)`/g)].map(([, code]) => code));
  expect(codes.length).toBeGreaterThan(0);
  expect(explained).toHaveLength(codes.length);
  expect(new Set(explained)).toEqual(new Set(codes));
});
