import type { DraftFacts, PlanDocument } from "../data/desk-operations.ts";

/** Tells the user that a newer version was stored, and opens it. */
export function NewerVersion({
  base,
  current,
  isChanged,
  onOpen,
}: {
  base: PlanDocument;
  current: DraftFacts["plan"];
  isChanged: boolean;
  onOpen: (planId: string) => void;
}) {
  if (!current || current.version < base.version)
    return <p className="bench-words">Reading the new version …</p>;
  return (
    <>
      <p className="bench-words">
        Version {current.version} was stored since; version {base.version} can no longer be changed.
        {isChanged && " Copy what you wrote before you open it."}
      </p>
      <button type="button" className="primary-button" onClick={() => onOpen(current.planId)}>
        Open version {current.version}
      </button>
    </>
  );
}
