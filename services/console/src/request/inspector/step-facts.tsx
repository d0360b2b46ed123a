import { type StepRun, settlementText } from "@planwright/client";
import { effectWords, ownTimeText, stateLook } from "@planwright/plan";
import type { RequestPage, Versions } from "../../data/request-operations.ts";
import { EFFECT_CLASS } from "../../design/effect-classes.ts";
import { instantText } from "../../design/text.ts";
import { CopyButton } from "../../parts/copy-button.tsx";

/** What is known about one step, each fact with its name; unknown facts are left out. */
export function StepFacts({
  step,
  trace,
  versions,
  onVersion,
}: {
  step: StepRun;
  trace: Pick<RequestPage, "traceId" | "traceUrl">;
  versions: Versions;
  onVersion: (version: number) => void;
}) {
  return (
    <dl className="facts">
      {step.waitReason !== null && <Fact name="state" value={stateLook("step", step).word} />}
      {step.durationMs !== null && (
        <Fact name="took" value={ownTimeText(step.durationMs, step.waitedForPeopleMs)} />
      )}
      {step.startedAt !== null && <Fact name="started" value={instantText(step.startedAt)} />}
      {step.effectClass !== null && (
        <Fact name="effect class" value={EFFECT_CLASS[step.effectClass] ?? step.effectClass} />
      )}
      {step.effect !== null && <Fact name="effect" value={effectWords(step.effect)} />}
      {step.carriedFrom !== null && (
        <CarriedFrom planId={step.carriedFrom} versions={versions} onVersion={onVersion} />
      )}
      {step.settled && <Fact name="settled" value={settlementText(step.settled)} />}
      {trace.traceId !== null && <Trace traceId={trace.traceId} traceUrl={trace.traceUrl} />}
    </dl>
  );
}

function Fact({ name, value }: { name: string; value: string }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </>
  );
}

function Trace({ traceId, traceUrl }: { traceId: string; traceUrl: string | null }) {
  return (
    <>
      <dt>trace</dt>
      <dd>
        {traceUrl === null ? (
          <code>{traceId}</code>
        ) : (
          <a href={traceUrl} target="_blank" rel="noreferrer">
            <code>{traceId}</code>
          </a>
        )}{" "}
        <CopyButton text={traceId} label="copy trace id" />
      </dd>
    </>
  );
}

/** The version that executed a step, as a link. */
function CarriedFrom({
  planId,
  versions,
  onVersion,
}: {
  planId: string;
  versions: Versions;
  onVersion: (version: number) => void;
}) {
  const version = versions.find((one) => one.planId === planId)?.version;
  return (
    <>
      <dt>carried over from</dt>
      <dd>
        {version === undefined ? (
          planId
        ) : (
          <button type="button" className="link-button" onClick={() => onVersion(version)}>
            version {version}
          </button>
        )}
      </dd>
    </>
  );
}
