import { requestLook, type StepRun } from "@planwright/client";
import { lazy, Suspense, useEffect, useMemo, useRef, useState } from "react";
import { useLocation, useSearch } from "wouter";
import { useTitle } from "../data/browser.ts";
import type { RequestPage } from "../data/request-operations.ts";
import { useFollowedRequest } from "../data/use-stream.ts";
import { usePlanGraph } from "../graph/use-plan-graph.ts";
import { Check, Pill, ProblemNote, Tabs } from "../parts/elements.tsx";
import { Inspector } from "./inspector.tsx";
import { JournalList, ModelCalls } from "./journal-list.tsx";
import {
  type NamedPlace,
  type RequestPlace,
  requestPath,
  shownAs,
  stepIdOf,
  VIEWS,
  type View,
} from "./paths.ts";
import { RequestHead } from "./request-head.tsx";
import { Timeline } from "./timeline.tsx";
import { type Shown, useShown } from "./use-shown.ts";
import { VersionsView } from "./versions-view.tsx";
import "./moment-bar.css";
import "./request.css";
import {
  countText,
  durationText,
  isCarried,
  numberText,
  ownTimeText,
  stateLook,
  visibleText,
} from "@planwright/plan";
import { useVirtualizer } from "@tanstack/react-virtual";
import { histogramsOf, lookOfStep } from "../graph/fold.ts";
import { instantText, isTroubled, type StatusLook } from "../parts/looks.ts";

/** Not part of the first view. */
const Results = lazy(async () => ({ default: (await import("./results.tsx")).Results }));

const TABS = VIEWS.map((name) => ({ name, label: name }));

/** Navigates to a changed place. With `replace` the old address is not in the history. */
type Go = (change: Partial<RequestPlace>, options?: { replace?: boolean }) => void;

/** Everything about one request. The address names the version, step, view and moment. */
export function RequestPage(named: NamedPlace) {
  const { requestId, stepId } = named;
  const { request, problem, readAt } = useFollowedRequest(requestId);
  const [, navigate] = useLocation();
  const place: RequestPlace = { ...named, ...shownAs(useSearch()) };
  const shown = useShown(request, place);
  useTitle(request && `${request.title} · ${requestLook(request).word}`);
  const steps = shown.plan?.steps ?? [];
  const go: Go = (change, options) => navigate(requestPath({ ...place, ...change }), options);
  const goAt = (at: number | null) => go({ at, version: null }, { replace: true });
  const select = (id: string) => go({ stepId: id });
  const view = place.view ?? fittingView(place, shown);
  const chosen = steps.find(({ key }) => key === stepId);
  const lastSeq = request?.seq ?? 0;

  // The code is loaded while the API is called.
  const Graph = usePlanGraph();
  useRequestKeys({
    leave: () => stepId !== null && go({ stepId: null }),
    nextFailure: () => {
      const next = nextFailure(
        steps.map(({ key, status }) => ({ id: key, isBad: status === "FAILED" || status === "IN_DOUBT" })),
        stepId,
      );
      if (next !== undefined) select(next);
    },
    move: (by) => {
      const to = Math.max(0, Math.min(place.at ?? lastSeq, lastSeq) + by);
      goAt(to >= lastSeq ? null : to);
    },
    live: () => place.at !== null && goAt(null),
  });

  if (problem && !request) return <ProblemNote problem={problem} />;
  if (!request) return <p className="empty">Reading {requestId} …</p>;
  const shownProblem = problem ?? shown.problem;
  return (
    <main className="request-page">
      <RequestHead
        request={request}
        shown={shown}
        lostSince={problem ? readAt : null}
        isDeciding={shown.isNow && chosen !== undefined && isDecision(steps, chosen.key)}
        isAnswerBelow={view === "results"}
        onSelect={select}
        onVersion={(next) => go({ version: next === request.version ? null : next, stepId: null, at: null })}
      />
      {shownProblem && <ProblemNote problem={shownProblem} />}
      <div className="view-bar">
        <Tabs
          label="Views"
          tabs={TABS}
          current={view}
          onSelect={(next) => go(next === "results" ? { view: next, stepId: null } : { view: next })}
        />
        {lastSeq > 0 && (
          <MomentBar seq={lastSeq} at={place.at} atMs={shown.atMs} isLive={problem === null} onAt={goAt} />
        )}
      </div>
      <Panes request={request} shown={shown} place={place} view={view} Graph={Graph} go={go} goAt={goAt} />
    </main>
  );
}

/** The view of an address that names none: results are what a completed request was made for. */
function fittingView({ stepId, at }: RequestPlace, { plan }: Shown): View {
  return stepId === null && at === null && plan?.status === "COMPLETED" ? "results" : "graph";
}

/** True when a step or one of its items waits for the decision of a person. */
function isDecision(steps: readonly StepRun[], key: string): boolean {
  return steps.some(
    (step) =>
      (step.key === key || step.id === key) &&
      (step.status === "WAITING_APPROVAL" || step.status === "IN_DOUBT"),
  );
}

interface PanesProps {
  /** Null until its code is loaded. */
  Graph: ReturnType<typeof usePlanGraph>;
  request: RequestPage;
  shown: Shown;
  place: RequestPlace;
  /** The view that is shown. */
  view: View;
  go: Go;
  goAt: (at: number | null) => void;
}

function Panes(props: PanesProps) {
  const { request, shown, place, view, go } = props;
  const { plan, isNow } = shown;
  const chosen = plan?.steps.find(({ key }) => key === place.stepId);
  return (
    <div
      className={`panes${chosen ? " has-inspector" : ""}${chosen && isNow && isDecision(plan?.steps ?? [], chosen.key) ? " has-decision" : ""}`}
    >
      <section className="pane" aria-label={view}>
        <ViewPane {...props} />
      </section>
      {plan && chosen && (
        <section className="pane inspector-pane" aria-label="Inspector">
          <Inspector
            key={`${plan.planId}/${chosen.key}/${isNow ? chosen.status : ""}`}
            requestId={request.requestId}
            trace={request}
            plan={plan}
            stepKey={chosen.key}
            isPast={place.at !== null}
            versions={shown.versions}
            onSelect={(stepId) => go({ stepId })}
            onVersion={(version) => go({ version, at: null })}
          />
        </section>
      )}
    </div>
  );
}

function ViewPane({ request, shown, place, view, Graph, go, goAt }: PanesProps) {
  const { plan, versions, version, atMs, isNow } = shown;
  const { stepId: selectedKey, at } = place;
  const selected = selectedKey === null ? null : stepIdOf(selectedKey);
  const onSelect = (stepId: string) => go({ stepId });
  if (view === "results")
    return plan ? (
      <Suspense fallback={<p className="empty">Reading the results …</p>}>
        <Results plan={plan} answer={isNow ? request.answer : null} />
      </Suspense>
    ) : (
      <p className="empty">{emptyText(false, at)}</p>
    );
  if (view === "journal")
    return (
      <JournalList
        requestId={request.requestId}
        seq={request.seq}
        selected={selected}
        at={at}
        onSelect={onSelect}
        onAt={(entry) => goAt(entry >= request.seq ? null : entry)}
      />
    );
  if (view === "versions") return <VersionsView versions={versions} shown={version} onSelect={onSelect} />;
  if (view === "model calls") return <ModelCalls requestId={request.requestId} seq={request.seq} />;
  if (view === "timeline")
    return <Timeline request={request} plan={plan} atMs={atMs} selected={selected} onSelect={onSelect} />;
  const steps = plan?.steps ?? [];
  if (steps.length === 0) return <p className="empty">{emptyText(plan !== null, at)}</p>;
  const tree = <StepsTree steps={steps} selected={selectedKey} onSelect={onSelect} />;
  if (view === "steps") return tree;
  if (Graph === null) return <p className="empty">Drawing the plan …</p>;
  return <Graph steps={steps} selected={selected} onSelect={onSelect} below={tree} />;
}

function emptyText(hasPlan: boolean, at: number | null): string {
  if (hasPlan) return "This version has no steps.";
  return at === null ? "There is no plan yet." : "There was no plan then.";
}

/** The actions of the keys on a request's page. */
interface RequestKeys {
  /** `Escape`: leaves the inspector. */
  leave: () => void;
  /** `f`: the next step that failed or is in doubt. */
  nextFailure: () => void;
  /** `[` and `]`: the previous and the next entry of the journal. */
  move: (by: -1 | 1) => void;
  /** `l`: back to now. */
  live: () => void;
}

/** Keys in these elements are theirs. */
const OWN_KEYS = "input:not([type=range]), textarea, select, dialog";

/** Handles the keys of a request's page, except in a text field or a dialog. */
function useRequestKeys(keys: RequestKeys): void {
  const newest = useRef(keys);
  newest.current = keys;
  useEffect(() => {
    const onKey = ({ key, target, ctrlKey, metaKey, altKey }: KeyboardEvent) => {
      if (ctrlKey || metaKey || altKey) return;
      if (target instanceof HTMLElement && target.closest(OWN_KEYS)) return;
      if (key === "Escape") newest.current.leave();
      if (key === "f") newest.current.nextFailure();
      if (key === "[") newest.current.move(-1);
      if (key === "]") newest.current.move(1);
      if (key === "l") newest.current.live();
    };
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  }, []);
}

/** The next step after the selected one that failed or is in doubt; after the last one, the first. */
function nextFailure(
  steps: readonly { id: string; isBad: boolean }[],
  selected: string | null,
): string | undefined {
  const bad = [...new Set(steps.filter(({ isBad }) => isBad).map(({ id }) => id))];
  return bad[(bad.indexOf(selected ?? "") + 1) % Math.max(1, bad.length)];
}

/** A slider over the entries of the journal: every view shows the selected moment. */
function MomentBar({
  seq,
  at,
  atMs,
  isLive,
  onAt,
}: {
  /** The last entry of the journal. */
  seq: number;
  /** The selected entry; null: now. */
  at: number | null;
  /** When that entry was written; null while it is not known. */
  atMs: number | null;
  /** False while the API does not answer. */
  isLive: boolean;
  onAt: (at: number | null) => void;
}) {
  const shown = Math.min(at ?? seq, seq);
  const moveTo = (entry: number) => onAt(entry >= seq ? null : Math.max(0, entry));
  const time = atMs === null ? "" : instantText(new Date(atMs).toISOString());
  const words =
    at === null
      ? `${isLive ? "live" : "not live"}, entry ${numberText(seq)}`
      : `entry ${numberText(shown)} of ${numberText(seq)}${time && `, ${time}`}`;
  return (
    <fieldset className={`moment-bar${at === null ? "" : " is-past"}`}>
      <legend className="hidden">Moment</legend>
      <button
        type="button"
        title="Earlier entry ([)"
        disabled={shown === 0}
        onClick={() => moveTo(shown - 1)}
      >
        <span aria-hidden="true">‹</span>
        <span className="hidden">Earlier entry</span>
      </button>
      <input
        type="range"
        min={0}
        max={seq}
        value={shown}
        aria-label="Entry of the journal"
        aria-valuetext={words}
        onChange={({ target }) => moveTo(Number(target.value))}
      />
      <button type="button" title="Later entry (])" disabled={at === null} onClick={() => moveTo(shown + 1)}>
        <span aria-hidden="true">›</span>
        <span className="hidden">Later entry</span>
      </button>
      {at === null ? (
        <span className="moment-words">
          <span className={isLive ? "live-dot" : ""} aria-hidden="true">
            {isLive ? "●" : "○"}
          </span>{" "}
          {words}
        </span>
      ) : (
        <>
          <strong className="moment-words">As it was at {words}</strong>
          <button type="button" className="primary-button" onClick={() => onAt(null)}>
            Back to live
          </button>
        </>
      )}
    </fieldset>
  );
}

const ROW_HEIGHT = 34;

/**
 * The steps in plan order, each followed by its items, except those that the inspector lists: the content of the graph for the keyboard and for
 * screen readers.
 */
function StepsTree({
  steps: all,
  selected,
  onSelect,
}: {
  steps: readonly StepRun[];
  /** The key of a step or item. */
  selected: string | null;
  onSelect: (stepKey: string) => void;
}) {
  const frame = useRef<HTMLDivElement>(null);
  const [typed, setTyped] = useState("");
  const [isFiltered, setIsFiltered] = useState(false);
  const histograms = useMemo(() => histogramsOf(all), [all]);
  // The inspector shows the items of the list that is selected, so they are not shown here as well.
  const listed = useMemo(
    () => all.filter(({ id, item }) => item === null || id !== selected),
    [all, selected],
  );
  const troubled = useMemo(() => listed.filter(isTroubled), [listed]);
  const steps = useMemo(() => {
    const wanted = typed.trim().toLowerCase();
    return (isFiltered ? troubled : listed).filter(({ key, tool, error }) =>
      [key, tool, error?.message ?? "", error?.code ?? ""].some((text) =>
        text.toLowerCase().includes(wanted),
      ),
    );
  }, [listed, troubled, isFiltered, typed]);
  const rows = useVirtualizer({
    count: steps.length,
    getScrollElement: () => frame.current,
    estimateSize: () => ROW_HEIGHT,
    overscan: 12,
  });
  const move = (from: number, by: number) => {
    const next = steps[Math.min(steps.length - 1, Math.max(0, from + by))];
    if (!next) return;
    onSelect(next.key);
    rows.scrollToIndex(steps.indexOf(next));
    requestAnimationFrame(() =>
      frame.current?.querySelector<HTMLElement>(`[data-key="${CSS.escape(next.key)}"]`)?.focus(),
    );
  };
  return (
    <div className="steps-view">
      {all.length > FILTERED_FROM && (
        <div className="list-tools">
          <label>
            <span className="hidden">Filter steps</span>
            <input
              type="search"
              value={typed}
              placeholder="filter by name, tool or error"
              onChange={({ target }) => setTyped(target.value)}
            />
          </label>
          {troubled.length > 0 && (
            <Check isOn={isFiltered} onChange={setIsFiltered}>
              only these {numberText(troubled.length)} that need a look
            </Check>
          )}
        </div>
      )}
      <div className="steps-tree" ref={frame} role="treegrid" aria-label="Steps" aria-rowcount={steps.length}>
        <div role="rowgroup" className="step-head">
          <div role="row" className="step-cells">
            {["step", "state", "tool", "what", "took"].map((name) => (
              <span key={name} role="columnheader" className={`step-cell-${name}`}>
                {name}
              </span>
            ))}
          </div>
        </div>
        {steps.length === 0 && <p className="empty">No step matches the filter.</p>}
        <div role="rowgroup" style={{ height: rows.getTotalSize(), position: "relative" }}>
          {rows.getVirtualItems().map(({ index, start }) => {
            const step = steps[index];
            if (!step) return null;
            const badge = badgeOf(step, histograms);
            const what = whatOf(step, badge);
            return (
              <div
                key={step.key}
                data-key={step.key}
                role="row"
                aria-rowindex={index + 1}
                aria-level={step.item === null ? 1 : 2}
                aria-expanded={isList(step, histograms) ? step.key !== selected : undefined}
                aria-selected={step.key === selected}
                tabIndex={step.key === selected || (selected === null && index === 0) ? 0 : -1}
                className={`step-row step-cells${step.item === null ? "" : " is-item"}`}
                style={{ height: ROW_HEIGHT, transform: `translateY(${start}px)` }}
                onClick={() => onSelect(step.key)}
                onKeyDown={(event) => {
                  const by = { ArrowDown: 1, ArrowUp: -1, j: 1, k: -1 }[event.key];
                  if (by !== undefined) {
                    event.preventDefault();
                    move(index, by);
                  }
                  if (event.key === "Enter") onSelect(step.key);
                }}
              >
                <span role="gridcell" className="step-cell-step" title={step.key}>
                  {step.key}
                </span>
                <span role="gridcell" className="step-cell-state">
                  <Pill look={badge} />
                </span>
                <span role="gridcell" className="step-cell-tool" title={step.tool}>
                  {visibleText(step.tool)}
                </span>
                <span role="gridcell" className="step-cell-what" dir="auto" title={what}>
                  {what}
                </span>
                <span role="gridcell" className="step-cell-took" title={tookText(step)}>
                  {step.durationMs === null ? "" : durationText(step.durationMs)}
                </span>
              </div>
            );
          })}
        </div>
      </div>
    </div>
  );
}

/** Fewer steps need no filter. */
const FILTERED_FROM = 8;

const isList = ({ item, id }: StepRun, histograms: ReturnType<typeof histogramsOf>) =>
  item === null && histograms.has(id);

/** Without what it waits for, which has its own column, unless a person ends that wait outside of this page. */
function badgeOf(step: StepRun, histograms: ReturnType<typeof histogramsOf>): StatusLook {
  const histogram = isList(step, histograms) ? (histograms.get(step.id) ?? null) : null;
  const waitReason = step.waitReason === "sign-in" ? step.waitReason : null;
  return lookOfStep({ status: step.status, waitReason }, histogram);
}

/** Why a step has its status, if its pill does not say it: its error, what it waits for, or how it came to its end. */
function whatOf(step: StepRun, { word }: StatusLook): string {
  const { error, waitReason, status, attempts, effect } = step;
  if (error && waitReason !== "sign-in") return visibleText(error.message);
  const waits = stateLook("step", step).word;
  if (waitReason !== null) return waits === word ? "" : waits;
  const words = [
    isCarried(step) && "carried over from an earlier version",
    attempts.length > 1 && countText(attempts.length, "attempt"),
    status === "COMPLETED" && effect === "done" && "it acted",
    status === "COMPLETED" && effect === "possible" && "it may have acted",
  ];
  return words.filter(Boolean).join(", ");
}

function tookText({ durationMs, waitedForPeopleMs }: StepRun): string {
  return durationMs === null ? "" : ownTimeText(durationMs, waitedForPeopleMs);
}
