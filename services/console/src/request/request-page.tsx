import { lazy, Suspense, useEffect, useMemo } from "react";
import { useLocation, useSearch } from "wouter";
import { READ_PLAN, READ_VERSIONS, type RequestFacts } from "../data/operations.ts";
import { useFollowedRequest } from "../data/use-followed-request.ts";
import { useRead } from "../data/use-read.ts";
import { ProblemNote } from "../parts/problem-note.tsx";
import { Inspector } from "./inspector.tsx";
import { JournalList } from "./journal-list.tsx";
import { ModelCalls } from "./model-calls.tsx";
import { requestPath, VIEWS, type View, viewOf } from "./paths.ts";
import { RequestHead } from "./request-head.tsx";
import { StepsTree } from "./steps-tree.tsx";
import { Timeline } from "./timeline/timeline.tsx";

/** Apart from the first view: it is the larger half of the page's code. */
const PlanGraph = lazy(async () => ({ default: (await import("./graph/plan-graph.tsx")).PlanGraph }));

type Plan = RequestFacts["plan"];

/** Everything about one request. What is shown stands in the address: version, step and view. */
export function RequestPage({
  requestId,
  version,
  stepId,
}: {
  requestId: string;
  version: number | null;
  stepId: string | null;
}) {
  const { request, problem, readAt } = useFollowedRequest(requestId);
  const [, navigate] = useLocation();
  const view = viewOf(new URLSearchParams(useSearch()).get("view"));
  const { plan, versions, problem: versionProblem } = useVersion(request, version);
  const steps = plan?.steps ?? [];
  const select = (id: string) => navigate(requestPath({ requestId, version, stepId: id, view }));

  useEffect(() => {
    const onKey = ({ key, target }: KeyboardEvent) => {
      if (target instanceof HTMLElement && target.closest("input, textarea, select")) return;
      if (key === "Escape" && stepId !== null)
        navigate(requestPath({ requestId, version, stepId: null, view }));
      if (key === "f") {
        const next = nextFailure(
          steps.map(({ id, status }) => ({ id, isBad: status === "FAILED" || status === "IN_DOUBT" })),
          stepId,
        );
        if (next !== undefined) select(next);
      }
    };
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  });

  const chosen = useMemo(() => steps.filter(({ id }) => id === stepId), [steps, stepId]);
  if (problem && !request) return <ProblemNote problem={problem} />;
  if (!request) return <p className="empty">Reading {requestId} …</p>;
  const shownProblem = problem ?? versionProblem;
  return (
    <main className="request-page">
      <RequestHead
        request={request}
        plan={plan}
        versions={versions}
        shownVersion={version ?? request.version}
        readAt={readAt}
        onSelect={select}
        onVersion={(next) =>
          navigate(
            requestPath({ requestId, version: next === request.version ? null : next, stepId: null, view }),
          )
        }
      />
      {shownProblem && <ProblemNote problem={shownProblem} />}
      <nav className="tabs" aria-label="Views">
        {VIEWS.map((name) => (
          <button
            key={name}
            type="button"
            aria-current={name === view ? "page" : undefined}
            onClick={() => navigate(requestPath({ requestId, version, stepId, view: name }))}
          >
            {name}
          </button>
        ))}
      </nav>
      <div className={`panes${chosen.length > 0 ? " has-inspector" : ""}`}>
        <section className="pane" aria-label={view}>
          <Shown view={view} request={request} plan={plan} stepId={stepId} onSelect={select} />
        </section>
        {plan && chosen.length > 0 && (
          <section className="pane inspector-pane" aria-label="Inspector">
            <Inspector
              key={`${plan.planId}/${stepId}/${chosen[0]?.status}`}
              requestId={requestId}
              planId={plan.planId}
              steps={chosen}
              onSelect={select}
            />
          </section>
        )}
      </div>
    </main>
  );
}

function Shown({
  view,
  request,
  plan,
  stepId,
  onSelect,
}: {
  view: View;
  request: RequestFacts;
  plan: Plan;
  stepId: string | null;
  onSelect: (stepId: string) => void;
}) {
  const steps = plan?.steps ?? [];
  if (view === "journal")
    return (
      <JournalList requestId={request.requestId} seq={request.seq} selected={stepId} onSelect={onSelect} />
    );
  if (view === "model calls") return <ModelCalls requestId={request.requestId} />;
  if (view === "timeline")
    return <Timeline request={request} plan={plan} selected={stepId} onSelect={onSelect} />;
  if (steps.length === 0)
    return <p className="empty">{plan ? "This version has no steps." : "There is no plan yet."}</p>;
  if (view === "steps") return <StepsTree steps={steps} selected={stepId} onSelect={onSelect} />;
  return (
    <Suspense fallback={<p className="empty">Drawing the plan …</p>}>
      <PlanGraph steps={steps} selected={stepId} onSelect={onSelect} />
    </Suspense>
  );
}

/** The plan that is shown: the current one, which is followed, or an earlier version, which never changes. */
function useVersion(request: RequestFacts | null, version: number | null) {
  const isCurrent = version === null || version === request?.version;
  const hasOthers = (request?.version ?? 1) > 1;
  const list = useRead(
    READ_VERSIONS,
    request && hasOthers ? { requestId: request.requestId } : null,
    `${request?.version} ${request?.plan?.status}`,
  );
  const versions = list.data?.request?.plansConnection.nodes ?? [];
  const planId = versions.find((other) => other.version === version)?.planId;
  const { data, problem } = useRead(READ_PLAN, isCurrent || planId === undefined ? null : { planId });
  const plan: Plan = isCurrent ? (request?.plan ?? null) : (data?.plan ?? null);
  return { plan, versions, problem };
}

/** The next step that failed or is in doubt behind the selected one, and from the last one again the first. */
export function nextFailure(
  steps: readonly { id: string; isBad: boolean }[],
  selected: string | null,
): string | undefined {
  const bad = [...new Set(steps.filter(({ isBad }) => isBad).map(({ id }) => id))];
  return bad[(bad.indexOf(selected ?? "") + 1) % Math.max(1, bad.length)];
}
