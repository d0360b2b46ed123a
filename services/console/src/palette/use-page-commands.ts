import { useLocation } from "wouter";
import { deskPath } from "../parts/desk-path.ts";
import type { Command } from "./commands.ts";

/** The pages, some with a filter. */
const PAGES: readonly { label: string; href: string }[] = [
  { label: "Requests", href: "/" },
  { label: "Requests that wait for an approval", href: "/?needs=APPROVAL" },
  { label: "Requests with a call in doubt", href: "/?needs=DOUBT" },
  { label: "Requests with an open question", href: "/?needs=ANSWER" },
  { label: "Requests that failed", href: "/?status=FAILED" },
  { label: "Plan desk: write a plan", href: deskPath() },
  { label: "Tools and tool servers", href: "/tools" },
  { label: "Fleet: executors and planners", href: "/fleet" },
];

/** Commands that open a page. */
export function usePageCommands(onHelp: () => void): Command[] {
  const [, navigate] = useLocation();
  return [
    ...PAGES.map(({ label, href }) => ({
      id: href,
      label,
      group: "Pages",
      run: () => navigate(href),
    })),
    { id: "help", label: "Keys", group: "Help", hint: "?", run: onHelp },
  ];
}
