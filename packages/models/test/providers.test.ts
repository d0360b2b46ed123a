import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { baseUrlVariable, keyVariable } from "../src/draft/draft-error.ts";
import { PROVIDER_NAMES } from "../src/providers/registry.ts";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
const PROVIDERS = "packages/models/src/providers";
const read = (path: string) => readFileSync(`${ROOT}${path}`, "utf8");

/** Sources of the product, without tests and without the packages for tests. */
const SOURCES = ["packages", "services"]
  .flatMap((top) => readdirSync(`${ROOT}${top}`).map((name) => `${top}/${name}`))
  .filter((workspace) => workspace !== "packages/testing" && workspace !== "packages/lab")
  .flatMap((workspace) =>
    readdirSync(`${ROOT}${workspace}/src`, { recursive: true, encoding: "utf8" }).map(
      (path) => `${workspace}/src/${path}`,
    ),
  )
  .filter((path) => /(?<!\.test)\.tsx?$/.test(path));

test("each name of the registry has a definition, and each definition is in the registry", () => {
  const names = readdirSync(`${ROOT}${PROVIDERS}`).flatMap((file) =>
    [...read(`${PROVIDERS}/${file}`).matchAll(/(\w+): ProviderDefinition = {/g)].map(([, name = ""]) => name),
  );
  expect(names.toSorted()).toEqual(PROVIDER_NAMES.toSorted());
});

test.each(PROVIDER_NAMES)("no source outside the folder of providers names %s", (provider) => {
  const naming = new RegExp(`["'\`]${provider}["'\`]|\\b${provider.toUpperCase()}_(API_KEY|BASE_URL)\\b`);
  const files = SOURCES.filter((path) => !path.startsWith(`${PROVIDERS}/`));
  expect(files.filter((path) => naming.test(withoutExamples(read(path))))).toEqual([]);
});

/** A text without comments and without examples in messages to users. */
const withoutExamples = (text: string) =>
  text.replace(/\/\*[^]*?\*\/|^\s*\/\/.*$|such as \w+:[\w.-]+ with \w+_API_KEY/gm, "");

test.each(PROVIDER_NAMES)("the README and docker-compose.yml have the settings of %s", (provider) => {
  const readme = read("packages/models/README.md");
  expect(readme).toContain(`\`${provider}:<model>\``);
  for (const variable of [keyVariable(provider), baseUrlVariable(provider)]) {
    expect(readme).toContain(`\`${variable}\``);
    expect(read("docker-compose.yml")).toContain(`\${${variable}:-}`);
  }
});
