import "./share-menu.css";
import { commandLine, requestLook } from "@planwright/client";
import { countText, visibleText } from "@planwright/plan";
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
  const { cause, reasons, stepKeys, since, next } = diagnosis;
  const instant = (at: string | null | undefined) => (at ? instantText(at) : null);
  const counts = plan?.counts;
  const facts: [name: string, value: string | null | undefined][] = [
    ["Status", requestLook(request).word],
    ["Cause", `${cause.message}${since === null ? "" : `, since ${instantText(since)}`}`],
    ["Why", reasons.join(" ")],
    ["Next", next[0] ? sentenceOf(next[0].description) : null],
    ["Steps", stepKeys.join(", ")],
    [
      "Progress",
      counts &&
        `${countText(counts.total, "step")}: ${counts.completed} completed, ${counts.failed} failed, ${counts.skipped} skipped`,
    ],
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

/** What to do as a sentence: descriptions of the API end where a command follows them. Pure. */
export function sentenceOf(description: string): string {
  const text = description.replace(/[;,]? ?then$|[:;,.]$/u, "").trim();
  return `${visibleText(text)}.`;
}
