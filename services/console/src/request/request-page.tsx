import { requestLook, type StepRun } from "@planwright/client";
import { useEffect, useMemo, useRef } from "react";
import { useLocation, useSearch } from "wouter";
import { useTitle } from "../data/browser.ts";
import type { RequestPage } from "../data/request-operations.ts";
import { useFollowedRequest } from "../data/use-stream.ts";
import { usePlanGraph } from "../graph/use-plan-graph.ts";
import { Pill, ProblemNote } from "../parts/elements.tsx";
import { Inspector } from "./inspector.tsx";
import { JournalList, ModelCalls } from "./journal-list.tsx";
import { type NamedPlace, type RequestPlace, requestPath, shownAs, VIEWS } from "./paths.ts";
import { RequestHead } from "./request-head.tsx";
import { Timeline } from "./timeline.tsx";
import { type Shown, useShown } from "./use-shown.ts";
import { VersionsView } from "./versions-view.tsx";
import "./moment-bar.css";
import { ownTimeText, stateLook } from "@planwright/plan";
import { useVirtualizer } from "@tanstack/react-virtual";
import { instantText, lookOf, STEP_LOOK } from "../parts/looks.ts";

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
  const lastSeq = request?.seq ?? 0;

  // The code is loaded while the API is called.
  const Graph = usePlanGraph();
  useRequestKeys({
    leave: () => stepId !== null && go({ stepId: null }),
    nextFailure: () => {
      const next = nextFailure(
        steps.map(({ id, status }) => ({ id, isBad: status === "FAILED" || status === "IN_DOUBT" })),
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
        readAt={readAt}
        onSelect={select}
        onVersion={(next) => go({ version: next === request.version ? null : next, stepId: null, at: null })}
      />
      {shownProblem && <ProblemNote problem={shownProblem} />}
      <div className="view-bar">
        <Tabs view={place.view} onView={(view) => go({ view })} />
        {lastSeq > 0 && <MomentBar seq={lastSeq} at={place.at} atMs={shown.atMs} onAt={goAt} />}
      </div>
      <Panes request={request} shown={shown} place={place} Graph={Graph} go={go} goAt={goAt} />
    </main>
  );
}

function Tabs({ view, onView }: { view: string; onView: (view: (typeof VIEWS)[number]) => void }) {
  return (
    <nav className="tabs" aria-label="Views">
      {VIEWS.map((name) => (
        <button
          key={name}
          type="button"
          aria-current={name === view ? "page" : undefined}
          onClick={() => onView(name)}
        >
          {name}
        </button>
      ))}
    </nav>
  );
}

interface PanesProps {
  /** Null until its code is loaded. */
  Graph: ReturnType<typeof usePlanGraph>;
  request: RequestPage;
  shown: Shown;
  place: RequestPlace;
  go: Go;
  goAt: (at: number | null) => void;
}

function Panes(props: PanesProps) {
  const { request, shown, place, go } = props;
  const { plan, isNow } = shown;
  const chosen = useMemo(
    () => plan?.steps.filter(({ id }) => id === place.stepId) ?? [],
    [plan, place.stepId],
  );
  return (
    <div className={`panes${chosen.length > 0 ? " has-inspector" : ""}`}>
      <section className="pane" aria-label={place.view}>
        <View {...props} />
      </section>
      {plan && chosen.length > 0 && (
        <section className="pane inspector-pane" aria-label="Inspector">
          <Inspector
            key={`${plan.planId}/${place.stepId}/${isNow ? chosen[0]?.status : ""}`}
            requestId={request.requestId}
            trace={request}
            plan={plan}
            steps={chosen}
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

function View({ request, shown: { plan, versions, version, atMs }, place, Graph, go, goAt }: PanesProps) {
  const { view, stepId: selected, at } = place;
  const onSelect = (stepId: string) => go({ stepId });
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
  if (view === "steps") return <StepsTree steps={steps} selected={selected} onSelect={onSelect} />;
  if (Graph === null) return <p className="empty">Drawing the plan …</p>;
  return <Graph steps={steps} selected={selected} onSelect={onSelect} />;
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
  onAt,
}: {
  /** The last entry of the journal. */
  seq: number;
  /** The selected entry; null: now. */
  at: number | null;
  /** When that entry was written; null while it is not known. */
  atMs: number | null;
  onAt: (at: number | null) => void;
}) {
  const shown = Math.min(at ?? seq, seq);
  const moveTo = (entry: number) => onAt(entry >= seq ? null : Math.max(0, entry));
  const time = atMs === null ? "" : instantText(new Date(atMs).toISOString());
  const words = at === null ? `live, entry ${seq}` : `entry ${shown} of ${seq}${time && `, ${time}`}`;
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
          <span className="live-dot" aria-hidden="true">
            ●
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
 * The steps in plan order, each followed by its items: the content of the graph for the keyboard and for
 * screen readers.
 */
function StepsTree({
  steps,
  selected,
  onSelect,
}: {
  steps: readonly StepRun[];
  selected: string | null;
  onSelect: (stepId: string) => void;
}) {
  const frame = useRef<HTMLDivElement>(null);
  const rows = useVirtualizer({
    count: steps.length,
    getScrollElement: () => frame.current,
    estimateSize: () => ROW_HEIGHT,
    overscan: 12,
  });
  const move = (from: number, by: number) => {
    const next = steps[Math.min(steps.length - 1, Math.max(0, from + by))];
    if (!next) return;
    onSelect(next.id);
    rows.scrollToIndex(steps.indexOf(next));
    requestAnimationFrame(() =>
      frame.current?.querySelector<HTMLElement>(`[data-key="${CSS.escape(next.key)}"]`)?.focus(),
    );
  };
  return (
    <div className="steps-tree" ref={frame} role="treegrid" aria-label="Steps" aria-rowcount={steps.length}>
      <div role="rowgroup" style={{ height: rows.getTotalSize(), position: "relative" }}>
        {rows.getVirtualItems().map(({ index, start }) => {
          const step = steps[index];
          if (!step) return null;
          return (
            <div
              key={step.key}
              data-key={step.key}
              role="row"
              aria-rowindex={index + 1}
              aria-level={step.item === null ? 1 : 2}
              aria-selected={step.id === selected}
              tabIndex={step.id === selected || (selected === null && index === 0) ? 0 : -1}
              className={`step-row${step.item === null ? "" : " is-item"}`}
              style={{ height: ROW_HEIGHT, transform: `translateY(${start}px)` }}
              onClick={() => onSelect(step.id)}
              onKeyDown={(event) => {
                const by = { ArrowDown: 1, ArrowUp: -1, j: 1, k: -1 }[event.key];
                if (by !== undefined) {
                  event.preventDefault();
                  move(index, by);
                }
                if (event.key === "Enter") onSelect(step.id);
              }}
            >
              <span role="gridcell" className="step-cell-name">
                {step.key}
              </span>
              <span role="gridcell">
                <Pill look={lookOf(STEP_LOOK, step.status)} />
              </span>
              <span role="gridcell" className="step-cell-tool">
                {step.tool}
              </span>
              <span role="gridcell" className="step-cell-why">
                {step.error?.message ?? (step.waitReason === null ? "" : stateLook("step", step).word)}
              </span>
              <span role="gridcell" className="step-cell-time" title={tookText(step)}>
                {tookText(step)}
              </span>
            </div>
          );
        })}
      </div>
    </div>
  );
}

function tookText({ durationMs, waitedForPeopleMs }: StepRun): string {
  return durationMs === null ? "" : ownTimeText(durationMs, waitedForPeopleMs);
}
