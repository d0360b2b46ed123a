import { numberText } from "@planwright/plan";
import "./parts.css";
import { type ComponentProps, type ReactNode, useEffect, useState } from "react";
import type { ApiProblem } from "../data/use-api.ts";
import type { StatusLook, Tone } from "./looks.ts";

/**
 * The parts that every view is made of; `/console/_parts` shows them all. A view has its own layout, and draws no
 * pill, button, table, list row, card, tabs, panel, field, toast or empty state by itself.
 */

/** A state with its mark, word and colour. */
export function Pill({ look: { word, mark, tone } }: { look: StatusLook }) {
  return (
    <span className={`pill tone-${tone}`} title={word}>
      <Mark mark={mark} /> <span className="pill-word">{word}</span>
    </span>
  );
}

/** The lines of each mark of the table of states, in a square of 16. */
const MARK_PATHS: Readonly<Record<string, string>> = {
  "✔": "M3 8.5 6.5 12 13 4.5",
  "✖": "M4 4 12 12M12 4 4 12",
  "!": "M8 2.5V9M8 13V13.1",
  "?": "M5 5.5A3 3 0 1 1 9 8.3Q8 8.8 8 10M8 13.4V13.5",
  "▸": "M5 3 12.5 8 5 13Z",
  "‖": "M5.5 3.5V12.5M10.5 3.5V12.5",
  "○": "M8 2.5A5.5 5.5 0 1 1 7.9 2.5Z",
  "⊘": "M8 2.5A5.5 5.5 0 1 1 7.9 2.5ZM4.2 11.8 11.8 4.2",
  "↷": "M3 11.5V8A3.5 3.5 0 0 1 6.5 4.5H13M10 1.5 13 4.5 10 7.5",
  "↻": "M13 8A5 5 0 1 1 11.3 4.3M13 1.8V5H9.8",
  "◐": "M8 2.5A5.5 5.5 0 1 1 7.9 2.5ZM8 3V13M9.7 3.5V12.5M11.4 5V11",
  "…": "M3 8V8.1M8 8V8.1M13 8V8.1",
};

/** The mark of a state as a drawing; one that is not known is its character. */
export function Mark({ mark }: { mark: string }) {
  const path = MARK_PATHS[mark];
  if (path === undefined) return <span aria-hidden="true">{mark}</span>;
  return (
    <svg className="mark" viewBox="0 0 16 16" aria-hidden="true">
      <path d={path} />
    </svg>
  );
}

/**
 * How much a button stands out: one primary action on a screen; danger for what cannot be undone; quiet beside a text;
 * link for what goes somewhere.
 */
type ButtonKind = "plain" | "primary" | "danger" | "quiet" | "link";

/** A button. */
export function Button({ kind = "plain", ...given }: ComponentProps<"button"> & { kind?: ButtonKind }) {
  return <button type="button" className={kind === "plain" ? undefined : `${kind}-button`} {...given} />;
}

/** A column of a {@link Table}. */
export interface TableColumn<Row> {
  title: string;
  cell: (row: Row) => ReactNode;
  isNumber?: boolean;
}

/**
 * Rows with named columns; on a phone each row is a card. The first column names the row.
 * @param props - keyOf: a text that no other row has
 */
export function Table<Row>({
  label,
  columns,
  rows,
  keyOf,
}: {
  label: string;
  columns: readonly TableColumn<Row>[];
  rows: readonly Row[];
  keyOf: (row: Row) => string;
}) {
  // The roles are named because a row that is drawn as a card would lose its own.
  return (
    <table className="table" role="table" aria-label={label}>
      <thead role="rowgroup">
        <tr role="row">
          {columns.map(({ title, isNumber }) => (
            <th key={title} role="columnheader" scope="col" className={isNumber ? "is-number" : undefined}>
              {title}
            </th>
          ))}
        </tr>
      </thead>
      <tbody role="rowgroup">
        {rows.map((row) => (
          <tr key={keyOf(row)} role="row">
            {columns.map(({ title, cell, isNumber }, index) =>
              index === 0 ? (
                <th key={title} role="rowheader" scope="row">
                  {cell(row)}
                </th>
              ) : (
                <td key={title} role="cell" data-label={title} className={isNumber ? "is-number" : undefined}>
                  {cell(row)}
                </td>
              ),
            )}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** One line of a list: a pill or count, what it is, its facts, and its action. It stands in a list (ul, ol). */
export function ListRow({
  lead,
  title,
  note,
  facts,
  action,
}: {
  lead?: ReactNode;
  title: ReactNode;
  /** A second line below the title and the facts. */
  note?: ReactNode;
  facts?: ReactNode;
  action?: ReactNode;
}) {
  return (
    <li className="list-row">
      <span className="list-row-lead">{lead}</span>
      <span className="list-row-main">
        <span className="list-row-title">{title}</span>
        {facts !== undefined && <span className="list-row-facts">{facts}</span>}
        {note !== undefined && <span className="list-row-note">{note}</span>}
      </span>
      <span className="list-row-action">{action}</span>
    </li>
  );
}

/** Things that belong together, under a heading. */
export function Card({
  title,
  actions,
  children,
}: {
  title: ReactNode;
  /** At the end of the heading. */
  actions?: ReactNode;
  children: ReactNode;
}) {
  const name = typeof title === "string" ? title : undefined;
  return (
    <section className="card" aria-label={name}>
      <header className="card-head">
        <h2>{title}</h2>
        {actions}
      </header>
      {children}
    </section>
  );
}

/** A tab of {@link Tabs}. */
export interface Tab<Name extends string> {
  name: Name;
  label: string;
  count?: number;
}

/** The views of one thing. On a narrow screen they scroll. */
export function Tabs<Name extends string>({
  label,
  tabs,
  current,
  onSelect,
}: {
  label: string;
  tabs: readonly Tab<Name>[];
  current: Name;
  onSelect: (name: Name) => void;
}) {
  return (
    <nav className="tabs" aria-label={label}>
      {tabs.map(({ name, label: text, count }) => (
        <button
          key={name}
          type="button"
          aria-current={name === current ? "page" : undefined}
          onClick={() => onSelect(name)}
        >
          {text}
          {count !== undefined && <span className="tab-count">{numberText(count)}</span>}
        </button>
      ))}
    </nav>
  );
}

/** Says something that matters now, in the colour of what it means. */
export function Panel({
  tone,
  label,
  role,
  children,
}: {
  tone: Tone;
  /** Its name for screen readers; it is then a region of the page. */
  label?: string;
  role?: "alert" | "status";
  children: ReactNode;
}) {
  const props = { className: `panel tone-${tone}`, role, "aria-label": label };
  return label === undefined ? <div {...props}>{children}</div> : <section {...props}>{children}</section>;
}

/** An error with what to do about it. */
export function ProblemNote({ problem }: { problem: ApiProblem }) {
  return (
    <Panel tone="bad" role="alert">
      <span>
        <strong>{problem.message}</strong> <code>{problem.code}</code>
      </span>
      {problem.remedy !== null && <p>{problem.remedy}</p>}
      {problem.accept && (
        <p>
          <Button onClick={problem.accept}>Call {problem.repeats?.join(", ")} once more, and go on</Button>
        </p>
      )}
    </Panel>
  );
}

/** A field of a form: its label, the field, and what is wrong with it or what it is for. */
export function Field({
  label,
  hint,
  error,
  children,
}: {
  label: ReactNode;
  hint?: ReactNode;
  /** Shown in place of the hint. */
  error?: string | null;
  /** The input, select or textarea. */
  children: ReactNode;
}) {
  return (
    // biome-ignore lint/a11y/noLabelWithoutControl: the children are the control.
    <label className="field">
      <span className="field-label">{label}</span>
      {children}
      {error ? (
        <span className="field-error" role="alert">
          {error}
        </span>
      ) : (
        hint !== undefined && <span className="field-hint">{hint}</span>
      )}
    </label>
  );
}

/** A choice that is on or off, with its words. */
export function Check({
  isOn,
  onChange,
  children,
}: {
  isOn: boolean;
  onChange: (isOn: boolean) => void;
  children: ReactNode;
}) {
  return (
    <label className="check">
      <input type="checkbox" checked={isOn} onChange={({ target }) => onChange(target.checked)} />
      {children}
    </label>
  );
}

/** How long a toast is shown, in milliseconds. */
const TOAST_MS = 5_000;

interface ToastText {
  id: number;
  text: string;
  tone: Tone;
}

const toasted = new EventTarget();
let lastToastId = 0;

/** Says for some seconds what was just done: a full sentence. {@link Toasts} shows it. */
export function showToast(text: string, tone: Tone = "good"): void {
  toasted.dispatchEvent(new CustomEvent<ToastText>("toast", { detail: { id: ++lastToastId, text, tone } }));
}

const TOAST_MARK: Record<Tone, string> = { good: "✔", bad: "✖", active: "▸", attention: "!", quiet: "○" };

/** One toast. */
export function Toast({ text, tone }: { text: string; tone: Tone }) {
  return (
    <p className={`toast tone-${tone}`}>
      <Mark mark={TOAST_MARK[tone]} /> {text}
    </p>
  );
}

/** The toasts of the page, at its lower edge. */
export function Toasts() {
  const [shown, setShown] = useState<readonly ToastText[]>([]);
  useEffect(() => {
    const timers = new Set<ReturnType<typeof setTimeout>>();
    const onToast = (event: Event) => {
      const { detail } = event as CustomEvent<ToastText>;
      setShown((before) => [...before.slice(-2), detail]);
      timers.add(setTimeout(() => setShown((now) => now.filter(({ id }) => id !== detail.id)), TOAST_MS));
    };
    toasted.addEventListener("toast", onToast);
    return () => {
      toasted.removeEventListener("toast", onToast);
      for (const timer of timers) clearTimeout(timer);
    };
  }, []);
  return (
    <div className="toasts" role="status">
      {shown.map(({ id, text, tone }) => (
        <Toast key={id} text={text} tone={tone} />
      ))}
    </div>
  );
}

/** What is not there, why, and the first thing to do. */
export function EmptyState({
  title,
  children,
  actions,
}: {
  title: string;
  children?: ReactNode;
  actions?: ReactNode;
}) {
  return (
    <div className="empty empty-state">
      <h2>{title}</h2>
      {children}
      <div className="empty-state-actions">{actions}</div>
    </div>
  );
}

/** Copies a text and confirms it. */
export function CopyButton({ text, label }: { text: string; label: string }) {
  const [isCopied, setIsCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    setIsCopied(true);
    setTimeout(() => setIsCopied(false), 1_500);
  };
  return (
    <Button kind="quiet" onClick={() => void copy()}>
      {isCopied ? "copied" : label}
    </Button>
  );
}
