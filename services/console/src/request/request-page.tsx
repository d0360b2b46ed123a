import { useMemo } from "react";
import { useLocation, useSearch } from "wouter";
import { type RequestFacts } from "../data/request-facts.ts";
import { useFollowedRequest } from "../data/use-followed-request.ts";
import { ProblemNote } from "../parts/problem-note.tsx";
import { usePlanGraph } from "./graph/use-plan-graph.ts";
import { Inspector } from "./inspector/inspector.tsx";
import { JournalList } from "./journal-list.tsx";
import { ModelCalls } from "./model-calls.tsx";
import { MomentBar } from "./moment-bar.tsx";
import { type NamedPlace, type RequestPlace, requestPath, shownAs, VIEWS } from "./paths.ts";
import { RequestHead } from "./request-head.tsx";
import { StepsTree } from "./steps-tree.tsx";
import { Timeline } from "./timeline/timeline.tsx";
import { nextFailure, useRequestKeys } from "./use-request-keys.ts";
import { type Shown, useShown } from "./use-shown.ts";
import { VersionsView } from "./versions/versions-view.tsx";

/** Navigates to a changed place. With `replace` the old address is not in the history. */
type Go = (change: Partial<RequestPlace>, options?: { replace?: boolean }) => void;

/** Everything about one request. The address names the version, step, view and moment. */
export function RequestPage(named: NamedPlace) {
  const { requestId, stepId } = named;
  const { request, problem, readAt } = useFollowedRequest(requestId);
  const [, navigate] = useLocation();
  const place: RequestPlace = { ...named, ...shownAs(useSearch()) };
  const shown = useShown(request, place);
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
  request: RequestFacts;
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
