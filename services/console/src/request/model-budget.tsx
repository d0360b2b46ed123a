import { READ_MODEL_USE } from "../data/request-operations.ts";
import { useRead } from "../data/use-read.ts";

/** A request, which is read again after each entry of its journal. */
export interface RequestAtEntry {
  requestId: string;
  /** The last entry. */
  seq: number;
}

/** The part of a request's limits that its model calls used; empty if unknown, as in a file. */
export function ModelBudget({ requestId, seq }: RequestAtEntry) {
  const { data } = useRead(READ_MODEL_USE, { requestId }, seq);
  if (!data?.request) return null;
  const { limits, spent, reserved } = data.request.modelUse;
  const kinds = [
    { what: "calls", limit: limits.maxModelCalls, spent: spent.modelCalls, reserved: reserved.modelCalls },
    { what: "tokens", limit: limits.maxTokens, spent: spent.tokens, reserved: reserved.tokens },
    { what: "USD", limit: limits.maxCostUsd, spent: spent.costUsd, reserved: reserved.costUsd },
  ];
  return (
    <dl className="model-budget">
      {kinds.map((kind) => (
        <div key={kind.what}>
          <dt>{kind.what}</dt>
          <dd>
            {amount(kind.spent)}
            {kind.limit === null ? " spent, no limit" : ` of ${amount(kind.limit)}`}
            {kind.reserved > 0 && ` (and ${amount(kind.reserved)} reserved)`}
          </dd>
        </div>
      ))}
    </dl>
  );
}

/** A count, or an amount of dollars. */
function amount(value: number): string {
  return value.toLocaleString("en", { maximumFractionDigits: 4 });
}
