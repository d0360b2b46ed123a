import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";

const folder = new URL("readme/", import.meta.url);
const names = readdirSync(folder).toSorted((one, other) => one.localeCompare(other));

test("the README shows the examples, all of them, in order", () => {
  const readme = readFileSync(new URL("../README.md", import.meta.url), "utf8");
  const blocks = [...readme.matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map(([, code]) => code);
  expect(blocks).toEqual(names.map((name) => readFileSync(new URL(name, folder), "utf8")));
});

test.each(names)("the example %s holds", async (name) => {
  await import(new URL(name, folder).href);
});
