import type { ResultOf } from "@planwright/client";
import { type StepRow } from "../../data/request-facts.ts";
import { type READ_STEP } from "../../data/request-operations.ts";
import { sizeText } from "../../design/text.ts";
import { JsonTree } from "../../parts/json-tree.tsx";

/** Arguments and outputs of a step or item. */
export type StepDetails = NonNullable<ResultOf<typeof READ_STEP>["plan"]>["stepsConnection"]["nodes"][number];

/** Arguments and outputs are read in their current state; this removes those that a step did not have yet. */
export function asKnown(found: StepDetails, steps: readonly StepRow[]): StepDetails {
  const then = steps.find(({ key }) => key === found.key);
  const wasSent = then !== undefined && (then.attempts.length > 0 || then.status === "WAITING_APPROVAL");
  const hasOutput = then?.status === "COMPLETED";
  return {
    ...found,
    resolvedArguments: wasSent ? found.resolvedArguments : null,
    resolvedArgumentsPreview: wasSent ? found.resolvedArgumentsPreview : null,
    output: hasOutput ? found.output : null,
    outputReference: hasOutput ? found.outputReference : null,
  };
}

/**
 * The planned and sent arguments and the output. References in planned arguments link to the steps that they
 * name.
 */
export function StepValues({
  details,
  isOnly,
  linkOf,
}: {
  details: StepDetails;
  isOnly: boolean;
  linkOf: (root: string) => (() => void) | undefined;
}) {
  const { key, outputReference, resolvedArgumentsPreview } = details;
  const values = (
    <>
      <JsonTree label="planned" value={details.arguments} linkOf={linkOf} />
      {details.resolvedArguments !== null && <JsonTree label="sent" value={details.resolvedArguments} />}
      {resolvedArgumentsPreview && (
        <JsonTree
          label={`sent (${sizeText(resolvedArgumentsPreview.sizeBytes)}, the beginning)`}
          value={resolvedArgumentsPreview.text}
        />
      )}
      {outputReference ? (
        <div>
          <JsonTree
            label={`output (${outputReference.sizeBytes === null ? "large" : sizeText(outputReference.sizeBytes)}, the beginning)`}
            value={outputReference.preview}
          />
          <a href={`/outputs/${encodeURIComponent(outputReference.ref)}`}>the complete output</a>
        </div>
      ) : (
        details.output !== null && <JsonTree label="output" value={details.output} />
      )}
    </>
  );
  if (isOnly) return values;
  return (
    <details>
      <summary>{key}</summary>
      {values}
    </details>
  );
}
