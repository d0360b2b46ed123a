import "./versions.css";
import { isJsonObject, type JsonObject, numberText } from "@planwright/plan";
import { lazy, Suspense, useMemo, useState } from "react";
import { READ_DOCUMENT, type VersionDocument, type Versions } from "../data/request-operations.ts";
import { useRead } from "../data/use-api.ts";
import { ProblemNote } from "../parts/elements.tsx";
import { lookOf, PLAN_LOOK } from "../parts/looks.ts";
import { CHANGE_LOOK, CHANGES, type ComparedVersion, diffVersions, type StepDiff } from "./diff.ts";

const DiffGraph = lazy(async () => ({ default: (await import("./diff-graph.tsx")).DiffGraph }));

/**
 * The changes from an earlier version to the shown one: both as one graph, and below it each changed field.
 */
export function VersionsView({
  versions,
  shown,
  onSelect,
}: {
  versions: Versions;
  /** The shown version. */
  shown: number;
  onSelect: (stepId: string) => void;
}) {
  const earlier = versions.filter(({ version }) => version < shown);
  const [chosen, setChosen] = useState<number | null>(null);
  const base = earlier.find(({ version }) => version === chosen) ?? earlier[0];
  const planId = versions.find(({ version }) => version === shown)?.planId;
  const before = useRead(READ_DOCUMENT, base ? { planId: base.planId } : null);
  const after = useRead(READ_DOCUMENT, planId === undefined || !base ? null : { planId });
  const diff = useMemo(
    () =>
      before.data?.plan && after.data?.plan
        ? diffVersions(toCompared(before.data.plan), toCompared(after.data.plan))
        : null,
    [before.data, after.data],
  );
  const problem = before.problem ?? after.problem;
  if (problem) return <ProblemNote problem={problem} />;
  if (!base)
    return (
      <p className="empty">
        Version {shown} has no earlier one. A rerun, a new plan of the rest, or an amendment makes a new
        version.
      </p>
    );
  if (!diff) return <p className="empty">Comparing …</p>;
  return (
    <div className="versions">
      <div className="versions-head">
        <label>
          what changed to version {shown} from{" "}
          <select value={base.version} onChange={({ target }) => setChosen(Number(target.value))}>
            {earlier.map(({ version, status }) => (
              <option key={version} value={version}>
                version {version}, {lookOf(PLAN_LOOK, status).word}
              </option>
            ))}
          </select>
        </label>
        <Counts diff={diff} />
      </div>
      <section className="versions-graph" aria-label="Graph of both versions">
        <Suspense fallback={<p className="empty">Drawing both versions …</p>}>
          <DiffGraph steps={diff} onSelect={onSelect} />
        </Suspense>
      </section>
      <Fields diff={diff} onSelect={onSelect} />
    </div>
  );
}

function Counts({ diff }: { diff: readonly StepDiff[] }) {
  return (
    <span className="change-counts">
      {CHANGES.map((change) => {
        const count = diff.filter((step) => step.change === change).length;
        const { sign, word, tone } = CHANGE_LOOK[change];
        return count === 0 ? null : (
          <span key={change} className={`pill tone-${tone}`}>
            <span aria-hidden="true">{sign}</span> {numberText(count)}{" "}
            <span className="pill-word">{word}</span>
          </span>
        );
      })}
    </span>
  );
}

function Fields({ diff, onSelect }: { diff: readonly StepDiff[]; onSelect: (stepId: string) => void }) {
  const changed = diff.filter(({ fields }) => fields.length > 0);
  if (changed.length === 0)
    return (
      <p className="empty">
        No field of a step differs: the steps that did not complete were executed again.
      </p>
    );
  return (
    <table className="table is-rows fields">
      <caption className="hidden">Fields that differ</caption>
      <thead>
        <tr>
          <th>step</th>
          <th>field</th>
          <th>− before</th>
          <th>+ after</th>
        </tr>
      </thead>
      <tbody>
        {changed.flatMap(({ id, change, fields }) =>
          fields.map(({ path, before, after }, index) => (
            <tr key={`${id} ${path}`}>
              <td>
                {index === 0 && (
                  <>
                    <span className={`change-sign tone-${CHANGE_LOOK[change].tone}`} aria-hidden="true">
                      {CHANGE_LOOK[change].sign}
                    </span>{" "}
                    {change === "removed" ? (
                      id
                    ) : (
                      <button type="button" className="link-button" onClick={() => onSelect(id)}>
                        {id}
                      </button>
                    )}
                  </>
                )}
              </td>
              <td>
                <code>{path}</code>
              </td>
              <td dir="auto">{before !== undefined && <del>{before}</del>}</td>
              <td dir="auto">{after !== undefined && <ins>{after}</ins>}</td>
            </tr>
          )),
        )}
      </tbody>
    </table>
  );
}

/** The part of a version that is compared: the steps of its document with the facts of their execution. */
function toCompared({ document, steps }: VersionDocument): ComparedVersion {
  const listed = isJsonObject(document) && Array.isArray(document["steps"]) ? document["steps"] : [];
  const definitions = new Map<string, JsonObject>();
  for (const step of listed)
    if (isJsonObject(step) && typeof step["id"] === "string") definitions.set(step["id"], step);
  return {
    steps: steps
      .filter(({ item }) => item === null)
      .map((step) => ({ ...step, definition: definitions.get(step.id) ?? {} })),
  };
}
