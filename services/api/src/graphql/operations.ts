import type { Introspection } from "@planwright/client";
import type { Scope } from "@planwright/store";
import {
  type DocumentNode,
  type FragmentDefinitionNode,
  type GraphQLSchema,
  Kind,
  type OperationDefinitionNode,
  type OperationTypeNode,
  type SelectionSetNode,
  TypeInfo,
  visit,
  visitWithTypeInfo,
} from "graphql";

type Types = Introspection["types"];
type FieldOf<Name extends keyof Types> = Types[Name] extends { fields: infer Fields } ? keyof Fields : never;

/** What a field of Query, Mutation or Subscription needs before any part of its operation runs. */
interface Needs {
  /** Scopes that the caller must have, all of them. */
  scopes: readonly Scope[];
}

interface QueryNeeds extends Needs {
  /** It returns many requests, each with its large fields: see {@link selectsLargeFields}. */
  isList: boolean;
}

interface MutationNeeds extends Needs {
  /** New plans for which its tenant must have a place: one before it runs, or each one while it runs. */
  makesPlans: "none" | "one" | "each";
}

/** The needs of every operation. One that is missing does not compile, and the service does not start. */
export interface OperationTable {
  query: Record<FieldOf<"Query">, QueryNeeds>;
  mutation: Record<FieldOf<"Mutation">, MutationNeeds>;
  subscription: Record<FieldOf<"Subscription">, Needs>;
}

const ONE = { scopes: ["read"], isList: false } as const;
const LIST = { scopes: ["read"], isList: true } as const;

/** The table of operations, for GraphQL and for the tools of MCP. */
export const OPERATIONS = {
  query: {
    request: ONE,
    requests: LIST,
    events: ONE,
    debugBundle: ONE,
    plan: ONE,
    output: ONE,
    plansByRequestId: ONE,
    getPlans: LIST,
    getExecutions: LIST,
    validatePlan: ONE,
    getAvailableTools: ONE,
    toolServers: ONE,
    workload: ONE,
    modelCosts: ONE,
    fleet: ONE,
  },
  mutation: {
    createPlan: { scopes: ["execute"], makesPlans: "one" },
    submitPlan: { scopes: ["execute"], makesPlans: "one" },
    executePlan: { scopes: ["execute"], makesPlans: "none" },
    answerQuestions: { scopes: ["execute"], makesPlans: "none" },
    createPlanWithRequestId: { scopes: ["execute"], makesPlans: "one" },
    createPlanWithWorkflow: { scopes: ["execute"], makesPlans: "one" },
    executeByRequestId: { scopes: ["execute"], makesPlans: "none" },
    cancel: { scopes: ["operate"], makesPlans: "none" },
    pause: { scopes: ["operate"], makesPlans: "none" },
    resume: { scopes: ["operate"], makesPlans: "none" },
    rerun: { scopes: ["operate"], makesPlans: "one" },
    replan: { scopes: ["operate"], makesPlans: "one" },
    // It submits a plan, as submitPlan does, for a request that another caller may have made.
    amendPlan: { scopes: ["execute", "operate"], makesPlans: "one" },
    cancelRequests: { scopes: ["operate"], makesPlans: "none" },
    resumeRequests: { scopes: ["operate"], makesPlans: "none" },
    rerunRequests: { scopes: ["operate"], makesPlans: "each" },
    retryFailedRequests: { scopes: ["operate"], makesPlans: "each" },
    approve: { scopes: ["operate"], makesPlans: "none" },
    resolveInDoubt: { scopes: ["operate"], makesPlans: "none" },
    resolveManyInDoubt: { scopes: ["operate"], makesPlans: "none" },
    reloadToolServer: { scopes: ["admin"], makesPlans: "none" },
    // It changes nothing, but a model costs money.
    suggestContracts: { scopes: ["operate"], makesPlans: "none" },
  },
  subscription: {
    requestUpdated: { scopes: ["read"] },
    requestsUpdated: { scopes: ["read"] },
  },
} as const satisfies OperationTable;

/** Fields that may be large. */
const LARGE_FIELDS: { readonly [Name in keyof Types]?: readonly FieldOf<Name>[] } = {
  Plan: [
    "document",
    "planHash",
    "raw",
    "plan",
    "outputs",
    "outputReferences",
    "selectedTools",
    "executionResults",
    "validationResult",
  ],
  Request: ["diagnosis"],
  Step: ["arguments", "resolvedArguments", "output", "outputReference", "attempts"],
  ModelCall: ["messages", "answer"],
  Execution: ["results", "outputs", "errors"],
};

/** What a complete operation needs: the needs of its fields together. */
export interface OperationNeeds {
  type: `${OperationTypeNode}`;
  scopes: ReadonlySet<Scope>;
  /** It makes one new plan, for which there must be a place before it runs. */
  makesPlan: boolean;
  isList: boolean;
}

/** The strictest needs, for a field without an entry: {@link checkOperations} finds it before it can be called. */
const UNKNOWN = { scopes: ["admin"], makesPlans: "one", isList: true } as const;

/** The needs of these fields together. Pure. */
export function needsOf(type: `${OperationTypeNode}`, names: Iterable<string>): OperationNeeds {
  const table: ReadonlyMap<string, Needs & Partial<QueryNeeds & MutationNeeds>> = new Map(
    Object.entries(OPERATIONS[type]),
  );
  const needs = [...names].map((name) => table.get(name) ?? UNKNOWN);
  return {
    type,
    scopes: new Set(needs.flatMap(({ scopes }) => scopes)),
    makesPlan: needs.some(({ makesPlans }) => makesPlans === "one"),
    isList: needs.some(({ isList }) => isList),
  };
}

/**
 * The needs of an operation: those of each field that it selects, including fields in fragments and skipped
 * fields. The schema itself, and `__typename`, need only a caller. Pure.
 * @param document - validated: its fragments exist and are not recursive
 */
export function operationNeeds(document: DocumentNode, operation: OperationDefinitionNode): OperationNeeds {
  const fragments = new Map(
    document.definitions.flatMap((one): [string, FragmentDefinitionNode][] =>
      one.kind === Kind.FRAGMENT_DEFINITION ? [[one.name.value, one]] : [],
    ),
  );
  const names = new Set<string>();
  const visited = new Set<string>();

  function collect({ selections }: SelectionSetNode): void {
    for (const selection of selections) {
      switch (selection.kind) {
        case Kind.FIELD:
          if (!selection.name.value.startsWith("__")) names.add(selection.name.value);
          break;
        case Kind.INLINE_FRAGMENT:
          collect(selection.selectionSet);
          break;
        case Kind.FRAGMENT_SPREAD: {
          const { value: name } = selection.name;
          const fragment = fragments.get(name);
          // Each fragment once: fragments that spread others twice would double the work at every level.
          if (fragment && !visited.has(name)) {
            visited.add(name);
            collect(fragment.selectionSet);
          }
          break;
        }
      }
    }
  }

  collect(operation.selectionSet);
  return needsOf(operation.operation, names);
}

/**
 * True for a document that selects large fields. With a list of requests the budget is then claimed before any
 * read, so a refusal costs nothing. Pure.
 * @param document - a valid document
 */
export function selectsLargeFields(schema: GraphQLSchema, document: DocumentNode): boolean {
  const large: ReadonlyMap<string, readonly string[]> = new Map(Object.entries(LARGE_FIELDS));
  const typeInfo = new TypeInfo(schema);
  let isFound = false;
  visit(
    document,
    visitWithTypeInfo(typeInfo, {
      Field({ name }) {
        isFound ||= large.get(typeInfo.getParentType()?.name ?? "")?.includes(name.value) ?? false;
      },
    }),
  );
  return isFound;
}

/** Checks that every field of Query, Mutation and Subscription has its needs in the table. @throws {TypeError} */
export function checkOperations(schema: GraphQLSchema): void {
  for (const [type, entries] of Object.entries(OPERATIONS)) {
    const fields = schema.getRootType(type as OperationTypeNode)?.getFields() ?? {};
    const missing = Object.keys(fields).find((name) => !Object.hasOwn(entries, name));
    if (missing) throw new TypeError(`The ${type} ${missing} has no entry in OPERATIONS: say what it needs`);
  }
}
