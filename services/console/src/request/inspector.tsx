import {
  commandLine,
  effectClassOfStep,
  type PlanRun,
  type ResultOf,
  type StepRun,
  settlementText,
  unsentText,
  unsentTries,
  type VariablesOf,
} from "@planwright/client";
import {
  calledIn,
  countText,
  durationText,
  effectWords,
  isJsonObject,
  type JsonValue,
  numberText,
  ownTimeText,
  parseExactJson,
  sizeText,
  stateLook,
  stepsInDoubt,
  unmarkNumbers,
  visibleText,
} from "@planwright/plan";
import { useMemo, useState } from "react";
import { useNow } from "../data/browser.ts";
import {
  APPROVE,
  READ_STEP,
  RESOLVE_IN_DOUBT,
  type RequestPage,
  type Versions,
} from "../data/request-operations.ts";
import { useAction, useClient, useRead } from "../data/use-api.ts";
import { histogramsOf, lookOfStep } from "../graph/fold.ts";
import { Check, CopyButton, Pill, ProblemNote } from "../parts/elements.tsx";
import { JsonTree } from "../parts/json-tree.tsx";
import {
  clockText,
  expiryText,
  instantText,
  isTroubled,
  lookOf,
  STEP_LOOK,
  type StatusLook,
} from "../parts/looks.ts";
import { Menu } from "./share-menu.tsx";

/** Everything about one step or item: what it waits for, its arguments, its output, and each attempt. */
export function Inspector({
  requestId,
  trace,
  plan,
  stepKey,
  isPast,
  versions,
  onSelect,
  onVersion,
}: {
  requestId: string;
  /** The trace of the request, which contains every attempt. */
  trace: Pick<RequestPage, "traceId" | "traceUrl">;
  plan: PlanRun;
  /** The step, or the item of a list. */
  stepKey: string;
  /** True for an earlier moment, at which no decision is possible. */
  isPast: boolean;
  versions: Versions;
  onSelect: (stepKey: string) => void;
  onVersion: (version: number) => void;
}) {
  const { planId } = plan;
  const step = plan.steps.find(({ key }) => key === stepKey);
  const items = useMemo(
    () => plan.steps.filter(({ id, item }) => id === stepKey && item !== null),
    [plan, stepKey],
  );
  const { details, problem } = useStepValues(planId, step);
  if (!step) return null;
  const linkOf = (root: string) => {
    const producer = producerOf(plan.steps, root);
    return producer === undefined ? undefined : () => onSelect(producer);
  };
  const doubts = isPast ? [] : stepsInDoubt(plan).filter(({ key, id }) => key === stepKey || id === stepKey);
  const look = lookOfStep(step, histogramsOf(items).get(step.id) ?? null);
  const approval = plan.approvals.findLast(({ stepId }) => stepId === step.id);
  return (
    <article className="inspector" aria-label={`Step ${step.key}`}>
      <header>
        <h2>{step.key}</h2>
        <Pill look={look} />
        <span className="inspector-copies">
          <StepMenu requestId={requestId} planId={planId} step={doubts[0] ?? step} isPast={isPast} />
        </span>
        <span className="inspector-tool quiet-text">{visibleText(step.tool)}</span>
      </header>
      {step.item !== null && (
        <p className="item-of">
          <button type="button" className="link-button" onClick={() => onSelect(step.id)}>
            ← all items of {step.id}
          </button>
        </p>
      )}
      {step.error && doubts.length === 0 && (
        <div className="note tone-bad">
          <strong dir="auto">{visibleText(step.error.message)}</strong> <code>{step.error.code}</code>
          <p>{visibleText(step.error.remedy)}</p>
        </div>
      )}
      {step.status === "WAITING_APPROVAL" && !isPast && details && (
        <ApprovalPanel requestId={requestId} step={step} details={details} />
      )}
      {doubts.length === 1 && doubts[0] && (
        <DoubtPanel key={doubts[0].key} requestId={requestId} planId={planId} step={doubts[0]} />
      )}
      {doubts.length > 1 && <DoubtsPanel requestId={requestId} planId={planId} steps={doubts} />}
      {items.length > 0 && <Items items={items} onSelect={onSelect} />}
      <StepFacts step={step} look={look} trace={trace} versions={versions} onVersion={onVersion} />
      {approval && (
        <p className="decision">
          {approval.approved ? "Approved" : "Refused"} by {visibleText(approval.by ?? "a client")} at{" "}
          {instantText(approval.at)}
          {approval.reason !== null && <span dir="auto">: {visibleText(approval.reason)}</span>}
        </p>
      )}
      {step.dependsOn.length > 0 && (
        <p className="producers">
          waits for{" "}
          {step.dependsOn.map((id) => (
            <button key={id} type="button" className="link-button" onClick={() => onSelect(id)}>
              {id}
            </button>
          ))}
        </p>
      )}
      {step.warnings.map((warning) => (
        <p key={warning} className="note tone-attention">
          {visibleText(warning)}
        </p>
      ))}
      {problem && <ProblemNote problem={problem} />}
      {details && (
        <StepValues
          details={asKnown(details, step)}
          isSentShown={doubts.length > 0 || (step.status === "WAITING_APPROVAL" && !isPast)}
          linkOf={linkOf}
        />
      )}
      <Attempts attempts={step.attempts} />
    </article>
  );
}

/** Copies of one step. */
function StepMenu({
  requestId,
  planId,
  step,
  isPast,
}: {
  requestId: string;
  planId: string;
  step: StepRun;
  isPast: boolean;
}) {
  const client = useClient();
  return (
    <Menu label="Copy">
      <CopyButton text={location.href} label="copy link" />
      <CopyButton
        text={cliCommand(requestId, planId, isPast ? { ...step, approvalHash: null } : step)}
        label="copy CLI"
      />
      <CopyButton text={curlCommand(client.url, planId, step.id)} label="copy curl" />
    </Menu>
  );
}

/** The values of a step or item; null before they are read. */
function useStepValues(planId: string, step: StepRun | undefined) {
  const { data, problem } = useRead(
    READ_STEP,
    step ? { planId, filter: { key: step.key } } : null,
    step?.status,
  );
  return { details: data?.plan?.stepsConnection.nodes[0] ?? null, problem };
}

/** Items that are drawn at first. */
const FIRST_ITEMS = 100;

/** The items of a list: status, key, error and time of each; a click opens one. */
function Items({ items, onSelect }: { items: readonly StepRun[]; onSelect: (stepKey: string) => void }) {
  const troubled = items.filter(isTroubled);
  const [isFiltered, setIsFiltered] = useState(false);
  const [shown, setShown] = useState(FIRST_ITEMS);
  const listed = isFiltered ? troubled : items;
  const bins = histogramsOf(items).get(items[0]?.id ?? "")?.bins ?? [];
  return (
    <section className="items" aria-label="Items">
      <div className="items-head">
        <h3>{countText(items.length, "item")}</h3>
        {bins.map(({ status, count }) => {
          const { tone, mark, word } = lookOf(STEP_LOOK, status);
          return (
            <span key={status} className={`tone-${tone} items-count`}>
              <span aria-hidden="true">{mark}</span> {numberText(count)} {word}
            </span>
          );
        })}
        {troubled.length > 0 && (
          <Check isOn={isFiltered} onChange={setIsFiltered}>
            only these {numberText(troubled.length)} that need a look
          </Check>
        )}
      </div>
      <table className="table is-rows items-table">
        <thead>
          <tr>
            <th scope="col">item</th>
            <th scope="col">state</th>
            <th scope="col">error</th>
            <th scope="col" className="is-number">
              took
            </th>
          </tr>
        </thead>
        <tbody>
          {listed.slice(0, shown).map((item) => (
            <tr key={item.key}>
              <td>
                <button type="button" className="link-button" onClick={() => onSelect(item.key)}>
                  {item.key}
                </button>
              </td>
              <td>
                <Pill look={lookOf(STEP_LOOK, item.status)} />
              </td>
              <td dir="auto" title={item.error?.message}>
                {item.error
                  ? visibleText(item.error.message)
                  : item.waitReason === null
                    ? ""
                    : stateLook("step", item).word}
              </td>
              <td className="is-number">{item.durationMs === null ? "" : durationText(item.durationMs)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {listed.length > shown && (
        <button type="button" onClick={() => setShown(shown + 500)}>
          {numberText(Math.min(500, listed.length - shown))} more
        </button>
      )}
    </section>
  );
}

/** The step that a reference names: by its id, or by a tool that only one step uses. */
export function producerOf(
  steps: readonly Pick<StepRun, "id" | "item" | "tool">[],
  root: string,
): string | undefined {
  const planSteps = steps.filter(({ item }) => item === null);
  if (planSteps.some(({ id }) => id === root)) return root;
  const ofTool = planSteps.filter(({ tool }) => tool === root);
  return ofTool.length === 1 ? ofTool[0]?.id : undefined;
}

/** The next command for a step in a terminal. */
export function cliCommand(
  requestId: string,
  planId: string,
  { id, key, status, approvalHash }: Pick<StepRun, "id" | "key" | "status" | "approvalHash">,
): string {
  const planwright = (...words: string[]): string => commandLine("planwright", ...words);
  if (status === "WAITING_APPROVAL" && approvalHash !== null)
    return planwright("approve", requestId, id, "--hash", approvalHash);
  if (status === "IN_DOUBT") return planwright("resolve", requestId, key, "--retry");
  if (status === "COMPLETED") return planwright("output", `${planId}/steps/${key}`);
  if (status === "FAILED") return planwright("retry", requestId, "--from", id);
  return planwright("debug", requestId);
}

const STEP_QUERY =
  "query ($planId: ID!, $stepId: ID!) { plan(id: $planId) { stepsConnection(first: 50, filter: { stepId: $stepId }) " +
  "{ nodes { key status tool arguments resolvedArguments output error { code message remedy } " +
  "attempts { attempt outcome startedAt endedAt } } } } }";

/**
 * A call of the API that reads the step. The API key comes from a variable of the shell, so it is not copied.
 */
export function curlCommand(apiUrl: string, planId: string, stepId: string): string {
  const body = JSON.stringify({ query: STEP_QUERY, variables: { planId, stepId } });
  return [
    commandLine("curl", "-sS", apiUrl),
    "-H 'content-type: application/json'",
    '-H "authorization: Bearer $PLANWRIGHT_API_KEY"',
    commandLine("-d", body),
  ].join(" ");
}

/** Attempts that are listed. */
const MAX_ATTEMPTS = 200;

/** Each attempt of a step or item. */
function Attempts({ attempts }: Pick<StepRun, "attempts">) {
  if (attempts.length === 0) return null;
  return (
    <table className="table is-rows attempts">
      <caption>attempts</caption>
      <thead>
        <tr>
          <th>try</th>
          <th>started</th>
          <th>took</th>
          <th>outcome</th>
          <th>executor</th>
        </tr>
      </thead>
      <tbody>
        {attempts.slice(0, MAX_ATTEMPTS).map((attempt) => (
          <tr key={attempt.attemptId}>
            <td>{attempt.attempt}</td>
            <td title={attempt.startedAt}>{clockText(attempt.startedAt)}</td>
            <td>{attempt.durationMs === null ? "" : durationText(attempt.durationMs)}</td>
            <td>
              {attempt.outcome ?? "running"}
              {attempt.error && (
                <span dir="auto">
                  {" "}
                  {visibleText(attempt.error.message)} <code>{attempt.error.code}</code>
                </span>
              )}
              {unsentTries(attempt) > 0 && <span> {unsentText(attempt)}</span>}
            </td>
            <td className="quiet-text">{attempt.executor}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** The exact call to approve, and what each choice does. */
function ApprovalPanel({
  requestId,
  step,
  details: { resolvedArguments, resolvedArgumentsPreview },
}: {
  requestId: string;
  step: StepRun;
  details: StepDetails;
}) {
  const now = useNow();
  const [reason, setReason] = useState("");
  const { run, isPending, problem } = useAction(APPROVE);
  const { approvalHash, id: stepId } = step;
  const repeats = effectClassOfStep(step);
  if (approvalHash === null) return null;
  const decide = (approved: boolean) =>
    void run({ requestId, stepId, approvalHash, approved, reason: reason === "" ? null : reason });
  return (
    <section className="panel decision-panel tone-attention" aria-label="Approval">
      <h3>
        Call <code>{visibleText(step.tool)}</code> with these arguments?
      </h3>
      <JsonTree label="will be sent" value={resolvedArguments ?? resolvedArgumentsPreview?.text ?? null} />
      {repeats && <p className="quiet-text">{repeats.text}.</p>}
      <label>
        Reason, for the record (optional)
        <input value={reason} maxLength={1_000} onChange={({ target }) => setReason(target.value)} />
      </label>
      <div className="choices">
        <button type="button" className="primary-button" disabled={isPending} onClick={() => decide(true)}>
          Approve: the tool is called
        </button>
        <span>Exactly this call is made, once. Then the plan continues.</span>
        <button type="button" disabled={isPending} onClick={() => decide(false)}>
          Refuse: the step fails
        </button>
        <span>Nothing is called. Steps that need it are skipped.</span>
      </div>
      <p className="quiet-text">
        {step.expiresAt !== null &&
          `It ${expiryText(step.expiresAt)}${leftText(step.expiresAt, now)}: without a decision the step then fails, and nothing is called. `}
        <span title={approvalHash}>
          hash <code>{approvalHash.slice(0, 16)}</code>
        </span>
        : when the arguments or the tool change before the call, nothing is called.
      </p>
      {problem && <ProblemNote problem={problem} />}
    </section>
  );
}

const DAY_MS = 86_400_000;

/** The time that is left: ", in 23 h". */
function leftText(at: string, now: number): string {
  const leftMs = Date.parse(at) - now;
  if (leftMs <= 0) return "";
  return leftMs > 2 * DAY_MS ? `, in ${Math.floor(leftMs / DAY_MS)} days` : `, in ${durationText(leftMs)}`;
}

/** Arguments and outputs of a step or item. */
type StepDetails = NonNullable<ResultOf<typeof READ_STEP>["plan"]>["stepsConnection"]["nodes"][number];

/** Arguments and outputs are read in their current state; this removes those that a step did not have yet. */
function asKnown(found: StepDetails, then: StepRun): StepDetails {
  const wasSent = then.attempts.length > 0 || then.status === "WAITING_APPROVAL";
  const hasOutput = then.status === "COMPLETED";
  return {
    ...found,
    resolvedArguments: wasSent ? found.resolvedArguments : null,
    resolvedArgumentsPreview: wasSent ? found.resolvedArgumentsPreview : null,
    output: hasOutput ? found.output : null,
    outputReference: hasOutput ? found.outputReference : null,
  };
}

/**
 * The output, the sent and the planned arguments. References in planned arguments link to the steps that they name.
 */
function StepValues({
  details,
  isSentShown,
  linkOf,
}: {
  details: StepDetails;
  /** The form of a decision shows what was or will be sent. */
  isSentShown: boolean;
  linkOf: (root: string) => (() => void) | undefined;
}) {
  const { outputReference, resolvedArguments, resolvedArgumentsPreview } = details;
  // Without a reference both are the same, and the same is shown once.
  const isSame = JSON.stringify(resolvedArguments) === JSON.stringify(details.arguments);
  return (
    <>
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
      {!isSentShown && !isSame && resolvedArguments !== null && (
        <JsonTree label="sent" value={resolvedArguments} />
      )}
      {!isSentShown && resolvedArgumentsPreview && (
        <JsonTree
          label={`sent (${sizeText(resolvedArgumentsPreview.sizeBytes)}, the beginning)`}
          value={resolvedArgumentsPreview.text}
        />
      )}
      {!(isSentShown && isSame) && (
        <JsonTree label={isSame ? "sent, as planned" : "planned"} value={details.arguments} linkOf={linkOf} />
      )}
    </>
  );
}

type Decision = VariablesOf<typeof RESOLVE_IN_DOUBT>["decisions"][number];

/**
 * A call in doubt: what was sent, and what each choice does. The buttons stay disabled until the user has typed the
 * key of the step.
 */
function DoubtPanel({ requestId, planId, step }: { requestId: string; planId: string; step: StepRun }) {
  const [typed, setTyped] = useState("");
  const [outputText, setOutputText] = useState("");
  const [reason, setReason] = useState("");
  const [outputError, setOutputError] = useState<string | null>(null);
  const { run, isPending, problem } = useAction(RESOLVE_IN_DOUBT);
  const { details } = useStepValues(planId, step);
  const isConfirmed = typed === step.key;
  const last = step.attempts.at(-1);
  const attempt = last?.attempt ?? 1;

  const settle = (settlement: Pick<Decision, "resolution" | "output" | "reason">) =>
    void run({ requestId, decisions: [{ stepKey: step.key, attempt, ...settlement }] });

  function settleAsCompleted(): void {
    const output = parsed(outputText);
    setOutputError(output === undefined ? NOT_JSON : null);
    if (output !== undefined) settle({ resolution: "completed", output });
  }

  return (
    <section className="panel decision-panel tone-attention" aria-label="Doubt">
      <h3>
        Did <code>{visibleText(step.tool)}</code> do it?
      </h3>
      <p>
        Attempt {attempt} was sent{last && ` at ${clockText(last.startedAt)} UTC`} and no answer came. Look at
        what the tool changes, then choose. It is never sent again by itself, and the plan waits without an
        end.
      </p>
      {details && (
        <JsonTree
          label="was sent"
          value={details.resolvedArguments ?? details.resolvedArgumentsPreview?.text ?? null}
        />
      )}
      <ConfirmField word={step.key} value={typed} onChange={setTyped} />
      <div className="choices">
        <div>
          <button type="button" disabled={!isConfirmed || isPending} onClick={settleAsCompleted}>
            It happened: continue with this output
          </button>
          <label>
            <span className="hidden">What the call returned, as JSON</span>
            <input
              value={outputText}
              placeholder="output as JSON; empty: null"
              onChange={({ target }) => setOutputText(target.value)}
            />
          </label>
        </div>
        <span>Nothing is called. The plan continues as if this had been the answer.</span>
        <div>
          <button
            type="button"
            disabled={!isConfirmed || isPending}
            onClick={() => settle({ resolution: "retry" })}
          >
            It did not: call it again
          </button>
        </div>
        <span>The same call is made once more. If it did happen, it happens twice.</span>
        <div>
          <button
            type="button"
            disabled={!isConfirmed || isPending || reason.trim() === ""}
            onClick={() => settle({ resolution: "failed", reason })}
          >
            It did not: let the step fail
          </button>
          <label>
            <span className="hidden">Why the step shall fail</span>
            <input
              value={reason}
              maxLength={1_000}
              placeholder="why, for the record"
              onChange={({ target }) => setReason(target.value)}
            />
          </label>
        </div>
        <span>Nothing is called. Steps that need it are skipped.</span>
      </div>
      {outputError !== null && <p className="note tone-bad">{outputError}</p>}
      {problem && <ProblemNote problem={problem} />}
    </section>
  );
}

const NOT_JSON = "This is not JSON. Put texts in double quotes.";

/** What an operator may say about a call in doubt. */
const VERDICTS = [
  { resolution: "completed", label: "it happened" },
  { resolution: "retry", label: "it did not: call it again" },
  { resolution: "failed", label: "it did not: let it fail" },
] as const;
type Verdict = (typeof VERDICTS)[number]["resolution"];

/** Calls in doubt that are shown in one form: as many as the API takes at once. */
const MAX_DOUBTS = 50;

/** Several calls in doubt: what was sent in each of them side by side, and one choice for all or for each. */
function DoubtsPanel({
  requestId,
  planId,
  steps,
}: {
  requestId: string;
  planId: string;
  steps: readonly StepRun[];
}) {
  const [verdicts, setVerdicts] = useState<Readonly<Record<string, Verdict>>>({});
  const [typed, setTyped] = useState("");
  const [outputText, setOutputText] = useState("");
  const [reason, setReason] = useState("");
  const [outputError, setOutputError] = useState<string | null>(null);
  const { run, problem, isPending } = useAction(RESOLVE_IN_DOUBT);
  const shown = steps.slice(0, MAX_DOUBTS);
  const stepId = shown[0]?.id ?? "";
  const { data } = useRead(
    READ_STEP,
    { planId, filter: { stepId, items: true, status: ["IN_DOUBT"] } },
    steps.length,
  );
  const sent = new Map(
    (data?.plan?.stepsConnection.nodes ?? []).map((node) => [
      node.key,
      node.resolvedArguments ?? node.resolvedArgumentsPreview?.text ?? null,
    ]),
  );
  const names = argumentNames([...sent.values()]);
  const chosen = shown.filter(({ key }) => verdicts[key] !== undefined);
  const has = (verdict: Verdict) => chosen.some(({ key }) => verdicts[key] === verdict);
  const isReady =
    chosen.length > 0 &&
    typed === String(chosen.length) &&
    (!has("failed") || reason.trim() !== "") &&
    !isPending;
  async function settleAll(): Promise<void> {
    const output = parsed(outputText);
    setOutputError(has("completed") && output === undefined ? NOT_JSON : null);
    if (has("completed") && output === undefined) return;
    const decisions = chosen.flatMap(({ key, attempts }) => {
      const resolution = verdicts[key];
      if (resolution === undefined) return [];
      return {
        stepKey: key,
        attempt: attempts.at(-1)?.attempt ?? 1,
        resolution,
        ...(resolution === "completed" ? { output: output ?? null } : {}),
        ...(resolution === "failed" ? { reason } : {}),
      };
    });
    if (await run({ requestId, decisions })) setTyped("");
  }
  return (
    <section className="panel decision-panel tone-attention" aria-label="Doubts">
      <h3>
        Did <code>{visibleText(shown[0]?.tool ?? "")}</code> do these {numberText(steps.length)} calls?
      </h3>
      <p>
        Each was sent and no answer came. Look at what the tool changes, then say what happened. Nothing is
        sent again by itself.
      </p>
      <p className="actions">
        <span className="quiet-text">all of them:</span>
        {VERDICTS.map(({ resolution, label }) => (
          <button
            key={resolution}
            type="button"
            onClick={() => setVerdicts(Object.fromEntries(shown.map(({ key }) => [key, resolution])))}
          >
            {label}
          </button>
        ))}
      </p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so it can be reached by keyboard. */}
      <section className="doubts-frame" aria-label="Calls in doubt" tabIndex={0}>
        <table className="doubts">
          <thead>
            <tr>
              <th scope="col">item</th>
              {names.map((name) => (
                <th key={name} scope="col">
                  {visibleText(name)}
                </th>
              ))}
              {names.length === 0 && <th scope="col">was sent</th>}
              <th scope="col">what happened</th>
            </tr>
          </thead>
          <tbody>
            {shown.map(({ key }) => {
              const values = sent.get(key);
              return (
                <tr key={key}>
                  <td>
                    <code>{key}</code>
                  </td>
                  {names.map((name) => (
                    <td key={name} dir="auto">
                      {isJsonObject(values) ? shortText(values[name]) : ""}
                    </td>
                  ))}
                  {names.length === 0 && <td dir="auto">{shortText(values)}</td>}
                  <td>
                    <select
                      aria-label={`What happened to ${key}`}
                      value={verdicts[key] ?? ""}
                      onChange={({ target }) => {
                        const { [key]: _before, ...others } = verdicts;
                        const verdict = VERDICTS.find(({ resolution }) => resolution === target.value);
                        setVerdicts(verdict ? { ...others, [key]: verdict.resolution } : others);
                      }}
                    >
                      <option value="">not decided</option>
                      {VERDICTS.map(({ resolution, label }) => (
                        <option key={resolution} value={resolution}>
                          {label}
                        </option>
                      ))}
                    </select>
                  </td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </section>
      {steps.length > shown.length && (
        <p className="quiet-text">The first {MAX_DOUBTS}; the others follow when these are settled.</p>
      )}
      {has("completed") && (
        <label className="field-row">
          <span>What the calls returned, as JSON</span>
          <input
            value={outputText}
            placeholder="empty: null"
            onChange={({ target }) => setOutputText(target.value)}
          />
        </label>
      )}
      {has("failed") && (
        <label className="field-row">
          <span>Why they shall fail</span>
          <input value={reason} maxLength={1_000} onChange={({ target }) => setReason(target.value)} />
        </label>
      )}
      <ConfirmField word={String(chosen.length)} value={typed} onChange={setTyped} inputMode="numeric" />
      <p className="actions">
        <button type="button" className="primary-button" disabled={!isReady} onClick={() => void settleAll()}>
          Settle {countText(chosen.length, "call")}
        </button>
      </p>
      {outputError !== null && <p className="note tone-bad">{outputError}</p>}
      {problem && <ProblemNote problem={problem} />}
    </section>
  );
}

/** The names of the arguments that differ between calls first, at most four; empty when calls have no names. */
function argumentNames(sent: readonly unknown[]): string[] {
  const objects = sent.filter((one) => isJsonObject(one));
  const names = [...new Set(objects.flatMap((one) => Object.keys(one)))];
  const variety = (name: string) => new Set(objects.map((one) => JSON.stringify(one[name]))).size;
  return names.toSorted((a, b) => variety(b) - variety(a)).slice(0, MAX_ARGUMENTS);
}

const MAX_ARGUMENTS = 4;

/** A value on one line, cut. */
function shortText(value: unknown): string {
  if (value === undefined) return "";
  const text = typeof value === "string" ? value : unmarkNumbers(JSON.stringify(value));
  return visibleText(text.length > 160 ? `${text.slice(0, 160)} …` : text);
}

/** The JSON value of a text; null for an empty text; undefined if it is not JSON. */
function parsed(text: string): JsonValue | undefined {
  if (text.trim() === "") return null;
  try {
    return parseExactJson(text);
  } catch {
    return undefined;
  }
}

/** What is known about one step, each fact with its name; unknown facts are left out. */
export function StepFacts({
  step,
  look,
  trace,
  versions,
  onVersion,
}: {
  step: StepRun;
  /** The look of its pill, which is not repeated in words. */
  look: StatusLook;
  trace: Pick<RequestPage, "traceId" | "traceUrl">;
  versions: Versions;
  onVersion: (version: number) => void;
}) {
  const state = step.waitReason === null ? look.word : stateLook("step", step).word;
  const repeats = effectClassOfStep(step);
  const earlier = calledIn(null, step);
  return (
    <dl className="facts">
      {state !== look.word && <Fact name="state" value={state} />}
      {step.durationMs !== null && (
        <Fact name="took" value={ownTimeText(step.durationMs, step.waitedForPeopleMs)} />
      )}
      {step.startedAt !== null && <Fact name="started" value={instantText(step.startedAt)} />}
      {repeats && <Fact name="effect class" value={repeats.text} />}
      {step.effect !== null && <Fact name="effect" value={effectWords(step.effect)} />}
      {earlier !== null && <CarriedFrom planId={earlier} versions={versions} onVersion={onVersion} />}
      {step.settled && <Fact name="settled" value={settledText(step.settled)} />}
      {trace.traceId !== null && <Trace traceId={trace.traceId} traceUrl={trace.traceUrl} />}
    </dl>
  );
}

function settledText(settled: NonNullable<StepRun["settled"]>): string {
  return `${settlementText(settled)}${settled.at === null ? "" : `, at ${instantText(settled.at)}`}`;
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

/** A field in which a person types a word before a decision that cannot be taken back. */
function ConfirmField({
  word,
  value,
  onChange,
  inputMode,
}: {
  word: string;
  value: string;
  onChange: (typed: string) => void;
  /** The keyboard of a phone. Default: that of texts. */
  inputMode?: "numeric";
}) {
  return (
    <label className="field-row">
      <span>
        Type <code>{word}</code> to confirm
      </span>
      <input
        value={value}
        autoComplete="off"
        spellCheck={false}
        inputMode={inputMode}
        onChange={({ target }) => onChange(target.value)}
      />
    </label>
  );
}
