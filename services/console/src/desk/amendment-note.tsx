import type { Amendment } from "../data/desk-operations.ts";

/** Shows the steps that a new version carries over, and the effects that it repeats. */
export function AmendmentNote({ amendment }: { amendment: Amendment }) {
  const { request, carried, repeated, notRepeated } = amendment;
  return (
    <div className={`note ${repeated?.length ? "tone-attention" : "tone-good"}`} role="status">
      <strong>Version {request.version} is stored.</strong>
      <Steps label="Carried over, never called again" ids={carried} />
      <Steps label="Called again, with their side effects" ids={repeated} />
      <Steps label="Not called again: their effects remain" ids={notRepeated} />
    </div>
  );
}

function Steps({ label, ids }: { label: string; ids: readonly string[] | null }) {
  if (!ids || ids.length === 0) return null;
  return (
    <p>
      {label}: <code>{ids.join(", ")}</code>
    </p>
  );
}
