/** The table of contract fields in the README agrees with the schema, the defaults and the rules of trust. */
import { readFileSync } from "node:fs";
import {
  contractJsonSchema,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  toolContract,
} from "@planwright/plan";
import { describe, expect, test } from "vitest";

interface Row {
  field: string;
  values: string;
  default: string;
  untrusted: string;
}

const README = readFileSync(new URL("../README.md", import.meta.url), "utf8");
const SECTION = /\n## Contracts\n([\s\S]*?)\n## /.exec(README)?.[1] ?? "";
const ROWS = SECTION.split("\n")
  .filter((line) => line.startsWith("| `"))
  .map((line): Row => {
    const [, field = "", values = "", byDefault = "", untrusted = ""] = line
      .split("|")
      .map((cell) => cell.trim());
    return { field: field.replaceAll("`", ""), values, default: byDefault, untrusted };
  });

const propertiesOf = (schema: JsonValue | undefined): [string, JsonObject][] => {
  const properties = isJsonObject(schema) ? schema["properties"] : undefined;
  return isJsonObject(properties)
    ? Object.entries(properties).flatMap(([name, inner]) =>
        isJsonObject(inner) ? [[name, inner] as [string, JsonObject]] : [],
      )
    : [];
};
/** Each field that can be declared, those of groups by `group.field`. */
const DECLARED = new Map(
  propertiesOf(contractJsonSchema()).flatMap(([name, schema]) => {
    const inner = propertiesOf(schema);
    return inner.length === 0
      ? [[name, schema] as const]
      : inner.map(([key, each]) => [`${name}.${key}`, each] as const);
  }),
);

test("every field of a contract has a row, and every row has a field", () => {
  expect(ROWS.map(({ field }) => field)).toEqual([...DECLARED.keys()].toSorted(byRow));
});

const byRow = (one: string, other: string) => positionOf(one) - positionOf(other);
const positionOf = (name: string) => ROWS.findIndex(({ field }) => field === name);

test.each(ROWS)("$field: the values are those in the schema", ({ field, values }) => {
  expect(values).toBe(valuesOf(DECLARED.get(field)));
});

/** How the table writes what a schema allows. */
function valuesOf(schema: JsonObject | undefined): string {
  const { type, enum: choices, minimum, maximum, maxItems, maxLength } = schema ?? {};
  const number = (value: JsonValue | undefined) => Number(value).toLocaleString("en-US");
  if (Array.isArray(choices)) return choices.map((each) => `\`${String(each)}\``).join(", ");
  if (type === "boolean") return "`true`, `false`";
  if (type === "integer") return `${number(minimum)} to ${number(maximum)}`;
  if (type === "array") return `list of at most ${number(maxItems)}`;
  if (type === "string") return `text of at most ${number(maxLength)}`;
  return String(type);
}

describe("the documented defaults are the real ones", () => {
  const byDefault = flat(toolContract({ name: "t" }).contract);
  const ofReader = flat(
    toolContract({ name: "t", trusted: true, annotations: { readOnlyHint: true } }).contract,
  );

  test.each(ROWS)("$field", ({ field, default: documented }) => {
    const [first = "", second] = documented.split("; ");
    const word = (value: unknown) => (value === undefined ? "none" : `\`${String(value)}\``);
    // The limit of one call at a time follows from the mode.
    const value = field === "max_concurrency" ? undefined : byDefault.get(field);
    expect(first).toBe(word(value));
    const isOther = ofReader.get(field) !== byDefault.get(field) && field !== "max_concurrency";
    expect(second?.startsWith(word(ofReader.get(field))) ?? false).toBe(isOther);
  });
});

/** The fields of a contract by the names under which they are declared; empty lists are none. */
function flat(contract: object): Map<string, unknown> {
  const snake = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  return new Map(
    Object.entries(contract).flatMap(([name, value]: [string, unknown]): [string, unknown][] => {
      if (Array.isArray(value)) return [];
      if (typeof value !== "object" || value === null) return [[snake(name), value]];
      return Object.entries(value).map(([key, inner]) => [`${snake(name)}.${snake(key)}`, inner]);
    }),
  );
}

/** For each field a declaration that loosens the contract, if there is one, and one that does not. */
const DECLARATIONS: Readonly<Record<string, { loose?: JsonObject; tight?: JsonObject }>> = {
  mode: { loose: { mode: "parallel-safe" }, tight: { mode: "sequential-only" } },
  max_concurrency: { tight: { mode: "sequential-only", max_concurrency: 1 } },
  depends_on: { tight: { depends_on: ["a"] } },
  dependsOn: { tight: { dependsOn: ["a"] } },
  barrier: { tight: { barrier: true } },
  sequential: { loose: { sequential: false }, tight: { sequential: true } },
  parallel_safe: { loose: { parallel_safe: true }, tight: { parallel_safe: false } },
  navigation: { tight: { navigation: true } },
  provides: { tight: { provides: ["a"] } },
  "backoff.max_attempts": {
    loose: { backoff: { max_attempts: 9 } },
    tight: { backoff: { max_attempts: 1 } },
  },
  "backoff.initial_ms": { loose: { backoff: { initial_ms: 1 } }, tight: { backoff: { initial_ms: 9_000 } } },
  "backoff.max_ms": { loose: { backoff: { max_ms: 1 } }, tight: { backoff: { max_ms: 90_000 } } },
  "backoff.strategy": {
    loose: { backoff: { strategy: "fixed" } },
    tight: { backoff: { strategy: "exponential" } },
  },
  error_propagation: {
    loose: { error_propagation: "partial-success" },
    tight: { error_propagation: "fail-fast" },
  },
  errors: { loose: { errors: "no-effect" }, tight: { errors: "unknown" } },
  batch: { tight: { batch: { param: "ids", max: 9, result_path: "x" } } },
  side_effects: { loose: { side_effects: false }, tight: { side_effects: true } },
  idempotency: { loose: { idempotency: "key" }, tight: { idempotency: "none" } },
  lookup: { loose: { lookup: { tool: "find", arguments: { a: 1 }, settle_ms: 1 } } },
  timeout_ms: { tight: { timeout_ms: 5 } },
  rate_limit: { tight: { rate_limit: { max: 1, per_ms: 1 } } },
  requires_approval: { tight: { requires_approval: true } },
  scope: { tight: { scope: "global" } },
};

test.each(ROWS)("$field of a server that is not trusted is $untrusted", ({ field, untrusted }) => {
  const declarations = DECLARATIONS[field] ?? DECLARATIONS[field.split(".")[0] ?? ""];
  const byItself = toolContract({ name: "t" }).contract;
  const contractOf = (declared: JsonObject) => toolContract({ name: "t", server: "shop", ...declared });
  expect(declarations).toBeDefined();
  expect({
    isLooseTaken:
      declarations?.loose &&
      JSON.stringify(contractOf(declarations.loose).contract) !== JSON.stringify(byItself),
    isTightTaken:
      declarations?.tight && Object.values(contractOf(declarations.tight).sources).includes("top-level"),
  }).toEqual(
    {
      taken: { isLooseTaken: undefined, isTightTaken: true },
      "tighter alone": { isLooseTaken: false, isTightTaken: true },
      never: { isLooseTaken: false, isTightTaken: undefined },
    }[untrusted],
  );
});
