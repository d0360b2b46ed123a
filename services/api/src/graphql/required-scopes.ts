import type { Scope } from "@planwright/store";
import {
  type DocumentNode,
  type FragmentDefinitionNode,
  Kind,
  type OperationDefinitionNode,
  type SelectionSetNode,
} from "graphql";

/**
 * The scopes that each mutation needs. A mutation that is missing here does not compile, and would need
 * `admin`.
 */
export const SCOPE_OF_MUTATION = {
  createPlan: "execute",
  submitPlan: "execute",
  executePlan: "execute",
  answerQuestions: "execute",
  createPlanWithRequestId: "execute",
  createPlanWithWorkflow: "execute",
  executeByRequestId: "execute",
  cancel: "operate",
  pause: "operate",
  resume: "operate",
  rerun: "operate",
  replan: "operate",
  // It submits a plan, as submitPlan does, for a request that another caller may have made.
  amendPlan: ["execute", "operate"],
  cancelRequests: "operate",
  rerunRequests: "operate",
  retryFailedRequests: "operate",
  approve: "operate",
  resolveInDoubt: "operate",
  reloadToolServer: "admin",
  // It changes nothing, but a model costs money.
  suggestContracts: "operate",
} as const satisfies Record<string, Scope | readonly Scope[]>;

/**
 * The scopes that an operation needs: `read` for queries and subscriptions, for mutations those of the table
 * for each field, including fields in fragments and skipped fields. The schema itself, and `__typename`, need
 * only a caller. Pure.
 * @param document - validated: its fragments exist and are not recursive
 */
export function requiredScopes(document: DocumentNode, operation: OperationDefinitionNode): Set<Scope> {
  const fragments = new Map(
    document.definitions.flatMap((one): [string, FragmentDefinitionNode][] =>
      one.kind === Kind.FRAGMENT_DEFINITION ? [[one.name.value, one]] : [],
    ),
  );
  const needed = new Set<Scope>();
  const visited = new Set<string>();

  function collect({ selections }: SelectionSetNode): void {
    for (const selection of selections) {
      switch (selection.kind) {
        case Kind.FIELD:
          if (selection.name.value.startsWith("__")) break;
          for (const scope of scopesOf(operation, selection.name.value)) needed.add(scope);
          break;
        case Kind.INLINE_FRAGMENT:
          collect(selection.selectionSet);
          break;
        case Kind.FRAGMENT_SPREAD: {
          const { value: name } = selection.name;
          const fragment = fragments.get(name);
          // Each fragment once: fragments that spread others twice would double the work at every level.
          if (fragment && !visited.has(name)) collect(fragment.selectionSet);
          visited.add(name);
          break;
        }
      }
    }
  }

  collect(operation.selectionSet);
  return needed;
}

function scopesOf({ operation }: OperationDefinitionNode, field: string): readonly Scope[] {
  if (operation !== "mutation") return ["read"];
  const scopes: ReadonlyMap<string, Scope | readonly Scope[]> = new Map(Object.entries(SCOPE_OF_MUTATION));
  return [scopes.get(field) ?? "admin"].flat();
}
