import "./palette.css";
import { commandLine } from "@planwright/client";
import { type KeyboardEvent as ReactKeyboardEvent, useEffect, useId, useRef, useState } from "react";
import { useLocation } from "wouter";
import { isInField } from "../data/browser.ts";
import { READ_OFFER } from "../data/catalogue-operations.ts";
import { FIND_REQUESTS } from "../data/list-operations.ts";
import {
  CANCEL,
  EXECUTE_PLAN,
  PAUSE,
  READ_REQUEST,
  REPLAN,
  RERUN,
  RESUME,
  type RequestPage,
} from "../data/request-operations.ts";
import { type Action, type ApiProblem, useAction, useRead } from "../data/use-api.ts";
import { Dialog } from "../parts/dialog.tsx";
import { ProblemNote } from "../parts/elements.tsx";
import { deskPath, deskPlaceOf, toolPath } from "../parts/paths.ts";
import { placeOf, requestPath, VIEWS } from "../request/paths.ts";
import { acceptedRepeats } from "../request/request-head.tsx";

/**
 * The command palette and the list of keys; each opens by a key or a button.
 * @param props - onKey: shows the field for an API key
 */
export function Palette({ onKey }: { onKey: () => void }) {
  const [shown, setShown] = useState<"palette" | "help" | null>(null);
  usePaletteKeys({ palette: () => setShown("palette"), help: () => setShown("help") });
  const close = () => setShown(null);
  return (
    <>
      <button
        type="button"
        className="palette-button"
        aria-label="Commands"
        aria-keyshortcuts="Control+K Meta+K"
        onClick={() => setShown("palette")}
      >
        <svg className="mark" viewBox="0 0 16 16" aria-hidden="true">
          <path d="M7 2.5A4.5 4.5 0 1 1 6.9 2.5ZM10.5 10.5 14 14" />
        </svg>
        <span className="palette-words">Find or do</span> <kbd aria-hidden="true">Ctrl K</kbd>
      </button>
      <button
        type="button"
        className="palette-button keys-button"
        aria-label="Keys"
        aria-keyshortcuts="?"
        onClick={() => setShown("help")}
      >
        ?
      </button>
      {shown === "palette" && (
        <CommandPalette onClose={close} onHelp={() => setShown("help")} onKey={onKey} />
      )}
      {shown === "help" && <KeyHelp onClose={close} />}
    </>
  );
}

/** Opens the palette with Ctrl+K or Cmd+K, and the list of keys with `?`; a `?` in a field is text. */
function usePaletteKeys(open: { palette: () => void; help: () => void }): void {
  const newest = useRef(open);
  newest.current = open;
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.defaultPrevented) return;
      if ((event.ctrlKey || event.metaKey) && !event.altKey && event.key.toLowerCase() === "k") {
        event.preventDefault();
        newest.current.palette();
      } else if (event.key === "?" && !isInField(event)) {
        event.preventDefault();
        newest.current.help();
      }
    };
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  }, []);
}

/** The keys of the console, by where they work. */
const KEYS: readonly { where: string; keys: readonly (readonly [string, string])[] }[] = [
  {
    where: "Everywhere",
    keys: [
      ["Ctrl K or ⌘ K", "commands: pages, actions, a request by its id"],
      ["?", "this list"],
      ["/", "search in the list of requests"],
      ["Esc", "leave a dialog, then the selected step"],
    ],
  },
  {
    where: "A request",
    keys: [
      ["f", "next step that failed or is in doubt"],
      ["j, k or ↓, ↑", "next and previous step, in the tab Steps"],
      ["Enter", "show the step"],
      ["[ and ]", "previous and next entry of the journal"],
      ["l", "back to now"],
    ],
  },
  {
    where: "The plan desk",
    keys: [
      ["Ctrl Space", "completions at the cursor"],
      ["F8", "next diagnostic"],
      ["Ctrl Z", "undo"],
      ["Esc, then Tab", "leave the editor"],
    ],
  },
];

/** The list of keys and what they do. */
function KeyHelp({ onClose }: { onClose: () => void }) {
  return (
    <Dialog label="Keys" onClose={onClose}>
      <div className="dialog-head">
        <h2>Keys</h2>
        <button type="button" onClick={onClose}>
          Close
        </button>
      </div>
      {KEYS.map(({ where, keys }) => (
        <section key={where} className="key-group">
          <h3>{where}</h3>
          <dl className="facts">
            {keys.map(([key, what]) => (
              <div key={key} className="fact">
                <dt>
                  <kbd>{key}</kbd>
                </dt>
                <dd>{what}</dd>
              </div>
            ))}
          </dl>
        </section>
      ))}
    </Dialog>
  );
}

/** All commands, found by typing: the field keeps the focus, and the arrow keys select. */
function CommandPalette({
  onClose,
  onHelp,
  onKey: askForKey,
}: {
  onClose: () => void;
  onHelp: () => void;
  onKey: () => void;
}) {
  const [, navigate] = useLocation();
  const [typed, setTyped] = useState("");
  const [chosen, setChosen] = useState(0);
  const pages = usePageCommands({ onHelp, onKey: askForKey });
  const { commands: ofRequest, problem } = useRequestCommands();
  const listId = useId();
  const searched = useFound(typed);
  const found = matching([...ofRequest, ...pages], typed, {
    found: searched,
    openRequest: (requestId) => navigate(requestPath({ requestId, version: null, stepId: null, view: null })),
    search: (text) => navigate(`/?${new URLSearchParams({ text })}`),
  });
  const index = Math.min(chosen, found.length - 1);
  const run = async (command: PaletteCommand | undefined) => {
    // After a refusal the palette stays open and shows why.
    if (command?.isAction && (await command.run()) === null) return;
    onClose();
    if (!command?.isAction) command?.run();
  };
  const onKey = (event: ReactKeyboardEvent) => {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (by !== undefined) setChosen((index + by + found.length) % Math.max(1, found.length));
    else if (event.key === "Enter") void run(found[index]);
    else return;
    event.preventDefault();
  };
  return (
    <Dialog label="Commands" className="palette" onClose={onClose}>
      <input
        className="palette-field"
        role="combobox"
        aria-label="Command, text or request id"
        aria-expanded="true"
        aria-controls={listId}
        aria-autocomplete="list"
        aria-activedescendant={found[index] ? `${listId}-${index}` : undefined}
        value={typed}
        placeholder="Command, text or request id"
        onChange={({ target }) => {
          setTyped(target.value);
          setChosen(0);
        }}
        onKeyDown={onKey}
      />
      {problem && <ProblemNote problem={problem} />}
      <div className="palette-list" role="listbox" id={listId} aria-label="Commands">
        {inGroups(found).map(({ name, from, commands }) => (
          // biome-ignore lint/a11y/useSemanticElements: a fieldset is not allowed in a list box.
          <div key={`${name} ${from}`} role="group" aria-label={name}>
            <div className="palette-group" aria-hidden="true">
              {name}
            </div>
            {commands.map((command, place) => (
              <div
                key={command.id}
                id={`${listId}-${from + place}`}
                role="option"
                aria-selected={from + place === index}
                tabIndex={-1}
                className="palette-option"
                ref={(element) => {
                  if (from + place === index) element?.scrollIntoView({ block: "nearest" });
                }}
                onClick={() => void run(command)}
                onKeyDown={onKey}
              >
                <span dir="auto">{command.label}</span>
                <span className="palette-hint">{command.hint}</span>
              </div>
            ))}
          </div>
        ))}
      </div>
    </Dialog>
  );
}

/** Commands that follow each other and have the same group; `from` is the place of the first one. */
function inGroups(
  commands: readonly PaletteCommand[],
): { name: string; from: number; commands: PaletteCommand[] }[] {
  const groups: { name: string; from: number; commands: PaletteCommand[] }[] = [];
  for (const [place, command] of commands.entries()) {
    const last = groups.at(-1);
    if (last?.name === command.group) last.commands.push(command);
    else groups.push({ name: command.group, from: place, commands: [command] });
  }
  return groups;
}

/** Shortest time without a key before the API is asked, in milliseconds. */
const TYPED_MS = 200;

/** Most requests and tools that a typed text lists. */
const FOUND = 5;

/** The requests whose sentence has the typed text, and the tools whose name has it. */
function useFound(typed: string): PaletteCommand[] {
  const [, navigate] = useLocation();
  const [text, setText] = useState("");
  useEffect(() => {
    const timer = setTimeout(() => setText(typed.trim()), TYPED_MS);
    return () => clearTimeout(timer);
  }, [typed]);
  const isSearched = text.length > 1 && !REQUEST_ID.test(text);
  const requests = useRead(FIND_REQUESTS, isSearched ? { text: text.slice(0, 200), first: FOUND } : null);
  const offer = useRead(READ_OFFER, isSearched ? {} : null);
  if (!isSearched) return [];
  const tools = (offer.data?.getAvailableTools ?? []).filter(({ name }) =>
    name.toLowerCase().includes(text.toLowerCase()),
  );
  return [
    ...(requests.data?.requests.nodes ?? []).map(({ requestId, title }) => ({
      id: requestId,
      label: title,
      group: "Requests",
      run: () => navigate(requestPath({ requestId, version: null, stepId: null, view: null })),
    })),
    ...tools.slice(0, FOUND).map(({ name, server }) => ({
      id: `tool ${server} ${name}`,
      label: name,
      group: "Tools",
      hint: server,
      run: () => navigate(toolPath(name)),
    })),
  ];
}

/** The pages, some with a filter. */
const PAGES: readonly { label: string; href: string }[] = [
  { label: "Requests", href: "/" },
  { label: "Requests that wait for an approval", href: "/?needs=APPROVAL" },
  { label: "Requests with a call in doubt", href: "/?needs=DOUBT" },
  { label: "Requests with an open question", href: "/?needs=ANSWER" },
  { label: "Requests that wait for a sign-in", href: "/?needs=SIGN_IN" },
  { label: "Requests that failed", href: "/?status=FAILED" },
  { label: "Plan desk: write a plan", href: deskPath() },
  { label: "Tools and tool servers", href: "/tools" },
  { label: "Fleet: executors and planners", href: "/fleet" },
];

/** Commands that open a page. */
function usePageCommands({ onHelp, onKey }: { onHelp: () => void; onKey: () => void }): PaletteCommand[] {
  const [, navigate] = useLocation();
  return [
    ...PAGES.map(({ label, href }) => ({
      id: href,
      label,
      group: "Pages",
      run: () => navigate(href),
    })),
    { id: "api key", label: "Use an API key", group: "Help", run: onKey },
    { id: "help", label: "Keys", group: "Help", hint: "?", run: onHelp },
  ];
}

const GROUP = "This request";

/** The commands for the request that the page shows. */
interface RequestCommands {
  /** Empty on other pages. Actions are added when the request has been read. */
  commands: PaletteCommand[];
  /** Why the last command was refused. */
  problem: ApiProblem | null;
}

/** Commands for the request that the page shows. */
function useRequestCommands(): RequestCommands {
  const [path, navigate] = useLocation();
  const requestId = placeOf(path)?.requestId ?? deskPlaceOf(path) ?? null;
  const { data } = useRead(READ_REQUEST, requestId === null ? null : { requestId });
  const { actions, problem } = useActions();
  const request = data?.request;
  if (requestId === null) return { commands: [], problem };
  const toView = (view: (typeof VIEWS)[number], stepId: string | null = null) =>
    navigate(requestPath({ requestId, version: null, stepId, view }));
  const doubtful = request?.plan?.steps.filter(({ status }) => status === "FAILED" || status === "IN_DOUBT");
  const commands: PaletteCommand[] = [
    ...(request ? actions(request) : []),
    ...(doubtful ?? []).slice(0, 10).map(({ key, id }) => ({
      id: `step ${key}`,
      label: `Show step ${key}`,
      group: GROUP,
      run: () => toView("graph", id),
    })),
    ...VIEWS.map((view) => ({
      id: `view ${view}`,
      label: `Show ${view}`,
      group: GROUP,
      run: () => toView(view),
    })),
    {
      id: "amend",
      label: "Open the plan at the desk",
      group: GROUP,
      run: () => navigate(deskPath(requestId)),
    },
    {
      id: "copy id",
      label: "Copy the request id",
      group: GROUP,
      run: () => navigator.clipboard.writeText(requestId),
    },
    {
      id: "copy debug",
      label: "Copy the command that debugs it",
      group: GROUP,
      run: () => navigator.clipboard.writeText(commandLine("planwright", "debug", requestId)),
    },
  ];
  return { commands, problem };
}

/** The actions that are possible in the state of a request; its diagnosis names the useful ones. */
function useActions() {
  const cancel = useAction(CANCEL);
  const pause = useAction(PAUSE);
  const resume = useAction(RESUME);
  const execute = useAction(EXECUTE_PLAN);
  const rerun = useAction(RERUN);
  const replan = useAction(REPLAN);
  const used: Action<unknown, never>[] = [cancel, pause, resume, execute, rerun, replan];
  const problem = used.find((action) => action.problem)?.problem ?? null;
  function actions({ requestId, version, status, plan, diagnosis }: RequestPage): PaletteCommand[] {
    const newVersion = { requestId, fromVersion: version, idempotencyKey: crypto.randomUUID() };
    const helps = new Set(diagnosis.next.map(({ operation }) => operation));
    const suggested = diagnosis.next.find(({ operation }) => operation === "rerun");
    const acceptRepeat = acceptedRepeats(suggested?.arguments);
    const isRunning = status === "EXECUTING" && plan?.status !== "CANCELLING";
    const canCancel = isRunning || status === "PLANNING" || plan?.status === "READY";
    const all: readonly [boolean, string, () => unknown][] = [
      [
        helps.has("rerun"),
        acceptRepeat.length === 0
          ? "Run again what did not complete"
          : `Call ${acceptRepeat.join(", ")} once more, and run what did not complete`,
        () => rerun.run({ ...newVersion, acceptRepeat }),
      ],
      [helps.has("replan"), "Have the rest planned again", () => replan.run(newVersion)],
      [helps.has("resume"), "Resume", () => resume.run({ requestId })],
      [plan?.status === "READY", "Execute the plan", () => plan && execute.run({ planId: plan.planId })],
      [isRunning && plan?.status !== "PAUSED", "Pause", () => pause.run({ requestId })],
      [canCancel, "Cancel", () => cancel.run({ requestId })],
    ];
    return all.flatMap(([isOffered, label, run]) =>
      isOffered ? [{ id: label, label, group: GROUP, isAction: true, run }] : [],
    );
  }
  return { actions, problem };
}

/** A command of the command palette. */
export interface PaletteCommand {
  id: string;
  label: string;
  /** The group of the command, such as "Pages" or "This request". */
  group: string;
  /** Shown after the label in quiet letters: a key, or what the command is for. */
  hint?: string;
  run: () => unknown;
  /** True for a command of the API: if it is refused, `run` resolves to null. */
  isAction?: boolean;
}

/** A complete request id. */
const REQUEST_ID = /^req_\d+_[a-z0-9]+$/u;

/**
 * The commands that match the typed text, in their order: each word must be in the label or the group. For a
 * request id the only command opens it; for any other text the last command searches for it.
 */
export function matching(
  commands: readonly PaletteCommand[],
  typed: string,
  {
    openRequest,
    search,
    found: searched = [],
  }: {
    openRequest: (requestId: string) => unknown;
    search: (text: string) => unknown;
    /** What was found for the text elsewhere; it is listed after the commands. */
    found?: readonly PaletteCommand[];
  },
): PaletteCommand[] {
  const text = typed.trim();
  if (REQUEST_ID.test(text))
    return [{ id: "open", label: `Open ${text}`, group: "Requests", run: () => openRequest(text) }];
  const words = text.toLowerCase().split(/\s+/u);
  const found = commands.filter(({ label, group }) => {
    const searched = `${group} ${label}`.toLowerCase();
    return words.every((word) => searched.includes(word));
  });
  if (text === "") return found;
  return [
    ...found,
    ...searched,
    { id: "search", label: `Find requests with “${text}”`, group: "Requests", run: () => search(text) },
  ];
}
