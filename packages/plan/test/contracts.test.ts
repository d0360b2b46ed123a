import { readFileSync } from "node:fs";
import { Ajv2020 } from "ajv/dist/2020.js";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  type ContractSource,
  contractJsonSchema,
  effectClassOf,
  type ToolContract,
  type ToolContractOptions,
  type ToolDescriptor,
  toolContract,
} from "../src/index.ts";

interface Case {
  title: string;
  tool: Omit<ToolDescriptor, "name">;
  options?: ToolContractOptions;
  contract: Partial<ToolContract>;
  absent?: (keyof ToolContract)[];
  sources?: Partial<Record<keyof ToolContract, ContractSource>>;
  /** One piece of text for each warning, in order; absent = no warning. */
  warnings?: string[];
}
const cases: Case[] = JSON.parse(readFileSync(new URL("data/contracts.json", import.meta.url), "utf8"));

describe("the effective contract of a tool", () => {
  test.each(cases)("$title", ({ tool, options, contract, absent = [], sources = {}, warnings = [] }) => {
    const effective = toolContract({ name: "t", ...tool }, options);
    expect(effective.contract).toMatchObject(contract);
    for (const field of absent) expect(effective.contract).not.toHaveProperty(field);
    expect(effective.sources).toMatchObject(sources);
    expect(effective.warnings).toEqual(warnings.map((text) => expect.stringContaining(text)));
  });

  test("never changes the descriptor and shares nothing with it", () => {
    const descriptor = {
      name: "t",
      trusted: true,
      provides: ["a"],
      lookup: { tool: "f", arguments: { a: { b: 1 } } },
    };
    const before = structuredClone(descriptor);
    const { contract } = toolContract(descriptor);
    contract.provides.push("b");
    contract.lookup!.arguments["a"] = 2;
    expect(descriptor).toEqual(before);
  });

  test("two contracts share nothing", () => {
    toolContract({ name: "t" }).contract.backoff.maxAttempts = 99;
    expect(toolContract({ name: "t" }).contract.backoff.maxAttempts).toBe(3);
  });
});

describe("effect classes follow from the contract", () => {
  test.each([
    ["U", {}],
    ["R", { side_effects: false }],
    ["R", { idempotency: "natural" }],
    ["K", { idempotency: "key" }],
    ["V", { lookup: { tool: "find" } }],
  ] as const)("%s for %j from a trusted server, U from an untrusted server", (expected, declared) => {
    const tool = { name: "t", ...declared };
    expect(effectClassOf(toolContract(tool, { trusted: true }).contract)).toBe(expected);
    expect(effectClassOf(toolContract(tool).contract)).toBe("U");
  });
});

/** Concurrency that a mode allows; larger is looser. */
const ROOM = { "sequential-only": 0, "fan-out-bounded": 1, dependent: 2, "parallel-safe": 2 };

const declaration = fc.record(
  {
    mode: fc.constantFrom("parallel-safe", "sequential-only", "fan-out-bounded", "dependent", "fast", 3),
    max_concurrency: fc.constantFrom(1, 2, 50, 0, "many"),
    depends_on: fc.constantFrom([], ["a"], [{ tool: "b", required_fields: ["x"] }], "a"),
    barrier: fc.boolean(),
    sequential: fc.boolean(),
    parallel_safe: fc.boolean(),
    backoff: fc.constantFrom({ max_attempts: 20 }, { max_attempts: 1, initial_ms: 0 }, { max_ms: 1 }, []),
    error_propagation: fc.constantFrom("fail-fast", "partial-success", ""),
    errors: fc.constantFrom("unknown", "no-effect", "none"),
    side_effects: fc.constantFrom(true, false, "no"),
    idempotency: fc.constantFrom("none", "natural", "key", null),
    lookup: fc.constantFrom({ tool: "find" }, {}),
    timeout_ms: fc.constantFrom(1, 100_000, 1e99),
    requires_approval: fc.boolean(),
    scope: fc.constantFrom("plan", "tenant", "global", "world"),
  },
  { requiredKeys: [] },
);
const descriptor = fc.record(
  {
    name: fc.constant("t"),
    _meta: fc.record({ "x-orchestration": declaration }, { requiredKeys: [] }),
    "x-orchestration": declaration,
    inputSchema: fc.record({ "x-orchestration": declaration }, { requiredKeys: [] }),
    annotations: fc.record(
      { readOnlyHint: fc.boolean(), destructiveHint: fc.boolean(), idempotentHint: fc.boolean() },
      { requiredKeys: [] },
    ),
  },
  { requiredKeys: ["name"] },
);

describe("trust", () => {
  test("no declaration of an untrusted server makes any field looser", () => {
    const policies = fc.constantFrom("sequential" as const, "parallel" as const);
    fc.assert(
      fc.property(descriptor, policies, (tool, unannotated) => {
        const bare = toolContract({ name: "t" }, { unannotated }).contract;
        const { contract } = toolContract(tool as ToolDescriptor, { unannotated });
        expect(ROOM[contract.mode]).toBeLessThanOrEqual(ROOM[bare.mode]);
        expect(contract.maxConcurrency ?? Infinity).toBeLessThanOrEqual(bare.maxConcurrency ?? Infinity);
        expect(contract.sideEffects).toBe(true);
        expect(contract.errorPropagation).toBe("fail-fast");
        expect(contract.errors).toBe("unknown");
        expect(contract.idempotency).toBe("none");
        expect(contract.lookup).toBeUndefined();
        expect(contract.backoff.maxAttempts).toBeLessThanOrEqual(3);
        expect(contract.backoff.initialMs).toBeGreaterThanOrEqual(1_000);
        expect(contract.backoff.maxMs).toBeGreaterThanOrEqual(30_000);
        expect(effectClassOf(contract)).toBe("U");
      }),
    );
  });

  test("declarations of a configured server make only mode and idempotency looser, and only by its read-only hint", () => {
    fc.assert(
      fc.property(descriptor, (tool) => {
        const configured = { ...tool, server: "shop" } as ToolDescriptor;
        const { contract, isReadOnlyBelieved } = toolContract(configured);
        const other = toolContract(configured, { trusted: false }).contract;
        const hints = tool.annotations;
        if (isReadOnlyBelieved)
          expect({ ...hints, destructiveHint: hints?.destructiveHint ?? false }).toMatchObject({
            readOnlyHint: true,
            destructiveHint: false,
          });
        else expect(contract).toEqual(other);
        const looser = ["mode", "maxConcurrency", "idempotency", "dependsOn"] as const;
        for (const field of Object.keys(other) as (keyof ToolContract)[])
          if (!looser.some((one) => one === field)) expect(contract[field]).toEqual(other[field]);
      }),
    );
  });

  test("the override decides a field regardless of other declarations", () => {
    fc.assert(
      fc.property(descriptor, fc.boolean(), (tool, trusted) => {
        const override = { mode: "parallel-safe", side_effects: false, idempotency: "key", barrier: false };
        const { contract, sources } = toolContract(tool as ToolDescriptor, { trusted, override });
        expect(contract).toMatchObject({
          mode: "parallel-safe",
          sideEffects: false,
          idempotency: "key",
          barrier: false,
        });
        expect(sources).toMatchObject({ mode: "override", sideEffects: "override", idempotency: "override" });
      }),
    );
  });

  test("contracts are consistent: one at a time for sequential-only, a limit for fan-out-bounded", () => {
    fc.assert(
      fc.property(descriptor, (tool) => {
        const { contract } = toolContract(tool as ToolDescriptor, { trusted: true });
        if (contract.mode === "sequential-only") expect(contract.maxConcurrency).toBe(1);
        if (contract.mode === "fan-out-bounded") expect(contract.maxConcurrency).toBeGreaterThanOrEqual(1);
      }),
    );
  });
});

describe("hostile descriptors never throw", () => {
  const throwing = () => {
    throw new RangeError("boo");
  };
  const deep: unknown[] = [];
  let inner = deep;
  for (let level = 0; level < 100_000; level += 1) {
    const next: unknown[] = [];
    inner.push(next);
    inner = next;
  }
  const round: Record<string, unknown> = {};
  round["self"] = round;
  const hostile: [string, unknown][] = [
    [
      "a getter that throws",
      Object.defineProperty({ name: "t" }, "mode", { get: throwing, enumerable: true }),
    ],
    [
      "a proxy that throws",
      new Proxy({ name: "t" }, { get: throwing, has: throwing, getOwnPropertyDescriptor: throwing }),
    ],
    [
      "a proxy as declaration",
      { name: "t", _meta: { "x-orchestration": new Proxy({}, { getOwnPropertyDescriptor: throwing }) } },
    ],
    ["a revoked proxy", { name: "t", backoff: revoked() }],
    ["members of the prototype", { name: "t", __proto__: { mode: "parallel-safe", trusted: true } }],
    [
      "__proto__ as an own member",
      JSON.parse('{"name":"t","__proto__":{"trusted":true,"mode":"parallel-safe"}}'),
    ],
    [
      "__proto__ inside a declaration",
      JSON.parse('{"name":"t","x-orchestration":{"__proto__":{"mode":"parallel-safe"}}}'),
    ],
    ["deep nesting", { name: "t", lookup: { tool: "f", arguments: { deep } } }],
    ["a cycle", { name: "t", lookup: { tool: "f", arguments: round } }],
    ["a huge list", { name: "t", provides: Array.from({ length: 1_000_000 }, () => "x") }],
    ["a huge text", { name: "t", depends_on: ["x".repeat(10_000_000)] }],
    ["functions and symbols", { name: "t", mode: throwing, scope: Symbol("x"), timeout_ms: 10n }],
    ["nothing at all", null],
    ["a text", "tool"],
    ["a list", []],
  ];
  function revoked() {
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    return proxy;
  }
  test.each(hostile)("%s", (_, tool) => {
    const { contract, warnings } = toolContract(tool as ToolDescriptor);
    expect(contract).toMatchObject({ mode: "sequential-only", sideEffects: true, idempotency: "none" });
    expect(warnings.length).toBeLessThanOrEqual(50);
    for (const warning of warnings) expect(warning.length).toBeLessThan(1_000);
  });

  test("any JSON is a descriptor", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (tool, override) => {
        toolContract(tool as unknown as ToolDescriptor, { override: override as never });
      }),
    );
  });
});

describe("contractJsonSchema", () => {
  const validate = new Ajv2020({ strict: false }).compile(contractJsonSchema());

  test("is JSON Schema 2020-12", () => {
    expect(contractJsonSchema()["$schema"]).toBe("https://json-schema.org/draft/2020-12/schema");
  });

  test.each([
    [true, {}],
    [true, { mode: "fan-out-bounded", max_concurrency: 3 }],
    [true, { dependsOn: ["a"], depends_on: [{ tool: "b", required_fields: ["x"] }, "c"] }],
    [true, { lookup: { tool: "a", arguments: { deep: [{ x: null }] } } }],
    [false, { mode: "fast" }],
    [false, { max_concurrency: 0 }],
    [false, { batch: { param: "x", max: 1 } }],
    [false, { depends_on: "a" }],
  ])("answers %s for %j", (expected, declared) => {
    expect(validate(declared)).toBe(expected);
  });

  test("accepts the same declarations as toolContract", () => {
    fc.assert(
      fc.property(declaration, (declared) => {
        const plain = JSON.parse(JSON.stringify(declared, (_, value: unknown) => value ?? undefined));
        const { warnings } = toolContract({ name: "t", "x-orchestration": plain }, { trusted: true });
        expect(warnings.some((warning) => warning.includes("not valid"))).toBe(!validate(plain));
      }),
    );
  });
});
