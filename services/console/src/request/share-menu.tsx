import "./share-menu.css";
import { commandLine, requestLook } from "@planwright/client";
import { countText, numberText, visibleText } from "@planwright/plan";
import { type ReactNode, useEffect, useRef } from "react";
import type { RequestPage } from "../data/request-operations.ts";
import { CopyButton } from "../parts/elements.tsx";
import { instantText } from "../parts/looks.ts";

/** A menu of rarely used actions. It closes on Escape and on a click outside. */
export function Menu({ label, children }: { label: string; children: ReactNode }) {
  const element = useRef<HTMLDetailsElement>(null);
  useEffect(() => {
    const close = (event: Event) => {
      const menu = element.current;
      if (!menu?.open) return;
      if (event instanceof KeyboardEvent) {
        if (event.key !== "Escape") return;
        // The page would leave the selected step.
        event.stopPropagation();
        menu.querySelector("summary")?.focus();
      } else if (event.target instanceof Node && menu.contains(event.target)) return;
      menu.open = false;
    };
    document.addEventListener("pointerdown", close);
    document.addEventListener("keydown", close, true);
    return () => {
      document.removeEventListener("pointerdown", close);
      document.removeEventListener("keydown", close, true);
    };
  }, []);
  return (
    <details className="share-menu" ref={element}>
      <summary className="button">{label}</summary>
      <div className="share-list">{children}</div>
    </details>
  );
}

/** Copies of a request: its address, a text for a ticket, its id, and commands. */
export function ShareMenu({ request }: { request: RequestPage }) {
  const { requestId, diagnosis } = request;
  return (
    <Menu label="Share">
      <CopyButton text={location.href} label="copy link" />
      <CopyButton text={ticketText(request, location.href)} label="copy for a ticket" />
      <CopyButton text={requestId} label="copy id" />
      <CopyButton text={commandLine("planwright", "debug", requestId)} label="copy CLI" />
      {diagnosis.next
        .filter(({ command }) => command.length > 0)
        .slice(0, 3)
        .map(({ command }) => {
          const text = commandLine("planwright", ...command);
          return <CopyButton key={text} text={text} label={`copy CLI: ${visibleText(command[0] ?? "")}`} />;
        })}
    </Menu>
  );
}

/** A request as text for a ticket or a chat: cause, action, ids and times. Pure. */
export function ticketText(request: TicketRequest, address: string): string {
  const { title, requestId, version, plan, diagnosis, createdAt, traceId } = request;
  const { reasons, stepKeys, next } = diagnosis;
  const cause = causeOf(diagnosis);
  const instant = (at: string | null | undefined) => (at ? instantText(at) : null);
  const counts = plan?.counts;
  const facts: [name: string, value: string | null | undefined][] = [
    ["Status", requestLook(request).word],
    ["Cause", cause.since === null ? cause.message : `${cause.message}, since ${cause.since}`],
    ["Why", reasons.join(" ")],
    ["Next", next[0] ? sentenceOf(next[0].description) : null],
    ["Steps", stepKeys.join(", ")],
    ["Progress", counts && progressText(counts)],
    ["Request", `${requestId}, version ${version}${plan ? `, plan ${plan.planId}` : ""}`],
    ["Trace", traceId],
    ["Asked", instant(createdAt)],
    ["Started", instant(plan?.startedAt)],
    ["Ended", instant(plan?.finishedAt)],
    ["Link", address],
  ];
  const lines = facts.flatMap(([name, value]) => (value ? [`${name}: ${visibleText(value)}`] : []));
  return [visibleText(title), ...lines].map((line) => line.replaceAll(/\s+/gu, " ")).join("\n");
}

/** The part of a request that a ticket needs. */
type TicketRequest = Pick<
  RequestPage,
  "title" | "requestId" | "version" | "status" | "waitReason" | "plan" | "diagnosis" | "createdAt" | "traceId"
>;

/**
 * The cause of a status, and the instant since when it holds, as texts. The instant is null where the message says it,
 * so that it is not shown twice. Pure.
 */
export function causeOf({ cause: { message }, since }: Pick<RequestPage["diagnosis"], "cause" | "since">): {
  message: string;
  since: string | null;
} {
  if (since === null) return { message, since };
  const instant = instantText(since);
  return message.includes(since)
    ? { message: message.replaceAll(since, instant), since: null }
    : { message, since: instant };
}

/** "1,000 steps: 990 completed, 10 failed". Pure. */
export function progressText(counts: NonNullable<RequestPage["plan"]>["counts"]): string {
  const { total, completed, failed, skipped, cancelled, inDoubt } = counts;
  const parts: [count: number, word: string][] = [
    [failed, "failed"],
    [skipped, "skipped"],
    [cancelled, "cancelled"],
    [inDoubt, "in doubt"],
  ];
  const others = parts.flatMap(([count, word]) => (count > 0 ? [`, ${numberText(count)} ${word}`] : []));
  return `${countText(total, "step")}: ${numberText(completed)} completed${others.join("")}`;
}

/** What to do as a sentence: descriptions of the API end where a command follows them. Pure. */
export function sentenceOf(description: string): string {
  const text = description.replace(/[;,]? ?then$|[:;,.]$/u, "").trim();
  return `${visibleText(text)}.`;
}
