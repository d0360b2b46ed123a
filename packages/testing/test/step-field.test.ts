/** The recipe "a field of a step" of docs/contributing.md: the files that carry three of them. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
const GENERATED = "packages/client/src/schema/introspection.ts";

/** The files that the recipe names: from the journal's event to the selection of all clients. */
const RECIPE = [
  "packages/engine/src/journal/events.ts",
  "packages/engine/src/journal/turn-events.ts",
  "packages/engine/src/journal/folded.ts",
  "packages/engine/src/journal/fold-units.ts",
  "packages/engine/src/journal/step-runs.ts",
  "services/api/src/graphql/steps.graphql",
  "packages/client/src/run.ts",
];

/** The files that carry a field between the schema and the screen. */
const SHOWN: Readonly<Record<string, readonly string[]>> = {
  carriedFrom: ["packages/client/src/run.ts"],
  unsent: [
    "packages/client/src/run.ts",
    "services/api/src/diagnosis/diagnose-running.ts",
    "services/api/src/diagnosis/facts.ts",
  ],
  effectClass: ["packages/client/src/run.ts", "services/api/src/resolvers/journal.ts"],
};

/**
 * Most files of all packages and services that have the field, without tests; the aim is 12. Beyond the recipe and
 * the files that show it, the engine decides by it (`state`, `decide`, `schedule`), and the checks of the lab know it
 * from elsewhere. `isCarried`, `calledIn`, `sentBy`, the questions about `Classed` (`isKeyed`, `isActing`, ..), and for people
 * `effectClassOfStep` and `unsentText` answer everyone else.
 */
const MOST: Readonly<Record<string, number>> = { carriedFrom: 12, unsent: 11, effectClass: 8 };

function filesWith(field: string): string[] {
  const word = new RegExp(`\\b${field}\\b`);
  return ["packages", "services"]
    .flatMap((top) => readdirSync(`${ROOT}${top}`).map((name) => `${top}/${name}/src`))
    .filter((folder) => existsSync(`${ROOT}${folder}`))
    .flatMap((folder) =>
      readdirSync(`${ROOT}${folder}`, { recursive: true, encoding: "utf8" }).map(
        (file) => `${folder}/${file}`,
      ),
    )
    .filter((file) => /(?<!\.test|\.fixture)\.tsx?$/.test(file) && file !== GENERATED)
    .filter((file) => word.test(readFileSync(`${ROOT}${file}`, "utf8")))
    .toSorted();
}

test("a field of a step is in every file of the recipe", () => {
  const missing = RECIPE.filter((file) => !readFileSync(`${ROOT}${file}`, "utf8").includes("carriedFrom"));
  expect(missing).toEqual([]);
});

test.each(Object.keys(SHOWN))("no further file of clients and API carries %s", (field) => {
  const files = filesWith(field);
  const shown = files.filter((file) => /^(packages\/(cli|client)|services\/(api|console))\//.test(file));
  expect(shown).toEqual(SHOWN[field]);
  expect(files.length).toBeLessThanOrEqual(MOST[field] ?? 12);
});
