import { commandLine, requestLook } from "@planwright/client";
import { countText, ownTimeText } from "@planwright/plan";
import { Link } from "wouter";
import { useNow } from "../browser/use-now.ts";
import { type RequestFacts } from "../data/request-facts.ts";
import { lookOf, PLAN_LOOK } from "../design/statuses.ts";
import { agoText } from "../design/text.ts";
import { CopyButton } from "../parts/copy-button.tsx";
import { deskPath } from "../parts/desk-path.ts";
import { StatusBadge } from "../parts/status-badge.tsx";
import { NextAction } from "./next-action.tsx";
import type { Shown } from "./use-shown.ts";

/** The head of the page: the sentence, the status, its cause, and the next action. */
export function RequestHead({
  request,
  shown: { plan, versions, version: shownVersion, isNow },
  readAt,
  onSelect,
  onVersion,
}: {
  request: RequestFacts;
  shown: Shown;
  readAt: number | null;
  onSelect: (stepId: string) => void;
  onVersion: (version: number) => void;
}) {
  const now = useNow();
  return (
    <header className="request-head">
      <div className="request-line">
        <h1 dir="auto">{request.title}</h1>
        <StatusBadge look={isNow ? requestLook(request) : lookOf(PLAN_LOOK, plan?.status ?? "not begun")} />
      </div>
      <p className="request-facts">
        <code>{request.requestId}</code> <CopyButton text={request.requestId} label="copy id" />
        <CopyButton text={commandLine("planwright", "debug", request.requestId)} label="copy CLI" />
        <Link href={deskPath(request.requestId)}>open at the desk</Link>
        {versions.length > 1 ? (
          <label>
            version{" "}
            <select value={shownVersion} onChange={({ target }) => onVersion(Number(target.value))}>
              {versions.map(({ version, status }) => (
                <option key={version} value={version}>
                  {version} {lookOf(PLAN_LOOK, status).word}
                </option>
              ))}
            </select>
          </label>
        ) : (
          <span>version {shownVersion}</span>
        )}
        {plan && (
          <span>
            {countText(plan.counts.total, "step")}: {plan.counts.completed} completed
            {plan.counts.failed > 0 && `, ${plan.counts.failed} failed`}
            {plan.counts.skipped > 0 && `, ${plan.counts.skipped} skipped`}
            {plan.counts.inDoubt > 0 && `, ${plan.counts.inDoubt} in doubt`}
          </span>
        )}
        {typeof plan?.durationMs === "number" && (
          <span>{ownTimeText(plan.durationMs, plan.waitedForPeopleMs)}</span>
        )}
        <span title={request.createdAt}>asked {agoText(request.createdAt, now)}</span>
        {readAt !== null && <span aria-live="off">seen {agoText(new Date(readAt).toISOString(), now)}</span>}
        {request.tags.map((tag) => (
          <span key={tag} className="tag">
            {tag}
          </span>
        ))}
      </p>
      {isNow && <NextAction request={request} onSelect={onSelect} />}
      {isNow && request.answer !== null && (
        <p className="answer" dir="auto">
          {request.answer}
        </p>
      )}
    </header>
  );
}
