import { type FormEvent, type ReactNode, useEffect, useRef, useState } from "react";
import { useLocation } from "wouter";
import { isInField } from "../data/browser.ts";
import { Check } from "../parts/elements.tsx";
import { REQUEST_LOOK } from "../parts/looks.ts";
import { requestPath } from "../request/paths.ts";
import { BULK, type BulkKind } from "./bulk-dialog.tsx";
import { COLUMNS, columnNames, columnsOf, TIME_MODES, timeModeOf } from "./request-table.tsx";

/** The parts of a filter that are shown as removable tags. */
const TAGS = ["needs", "tag", "tool", "errorCode"] as const;

/** The controls for the filter and the columns of the list, which are stored in the address. */
export function ListBar({
  search,
  onChange,
  onBulk,
  children,
}: {
  search: URLSearchParams;
  /** Sets one part of the address; an empty value removes it. With replace, the step back leaves the page. */
  onChange: (name: string, value: string, options?: { replace: boolean }) => void;
  onBulk: (kind: BulkKind) => void;
  /** Beside the heading. */
  children?: ReactNode;
}) {
  return (
    <div className="filters">
      <div className="filters-head">
        <h2>Requests</h2>
        {children}
      </div>
      <div className="filters-row">
        {TAGS.map((name) =>
          search.get(name) ? (
            <button key={name} type="button" className="tag" onClick={() => onChange(name, "")}>
              {name}: {search.get(name)} <span aria-label="remove">✕</span>
            </button>
          ) : null,
        )}
        <SearchField
          value={search.get("text") ?? ""}
          onSearch={(text) => onChange("text", text, { replace: true })}
        />
        <Choice
          label="status"
          value={search.get("status") ?? ""}
          options={[
            ["", "any status"],
            ...Object.entries(REQUEST_LOOK).map(([name, { word }]) => [name, word] as const),
          ]}
          onChoose={(status) => onChange("status", status)}
        />
        <Choice
          label="time"
          value={timeModeOf(search)}
          options={TIME_MODES.map((mode) => [mode, `${mode} time`] as const)}
          onChoose={(mode) => onChange("time", mode === "relative" ? "" : mode)}
        />
        <ColumnMenu search={search} onChange={(columns) => onChange("columns", columns)} />
        <Check isOn={search.get("live") !== "off"} onChange={(isOn) => onChange("live", isOn ? "" : "off")}>
          live
        </Check>
        <BulkMenu onBulk={onBulk} />
      </div>
    </div>
  );
}

function Choice({
  label,
  value,
  options,
  onChoose,
}: {
  label: string;
  value: string;
  options: readonly (readonly [string, string])[];
  onChoose: (value: string) => void;
}) {
  return (
    <select aria-label={label} value={value} onChange={({ target }) => onChoose(target.value)}>
      {options.map(([name, word]) => (
        <option key={name} value={name}>
          {word}
        </option>
      ))}
    </select>
  );
}

function ColumnMenu({ search, onChange }: { search: URLSearchParams; onChange: (columns: string) => void }) {
  const shown = columnsOf(search);
  const toggle = (name: (typeof shown)[number]) => {
    const wanted = shown.includes(name) ? shown.filter((other) => other !== name) : [...shown, name];
    // An empty value would remove the choice from the address.
    onChange(wanted.length === 0 ? "none" : wanted.join(","));
  };
  return (
    <details className="menu">
      <summary>columns</summary>
      <div className="menu-box">
        {columnNames().map((name) => (
          <label key={name} className="check">
            <input type="checkbox" checked={shown.includes(name)} onChange={() => toggle(name)} />
            {COLUMNS[name].title}
          </label>
        ))}
      </div>
    </details>
  );
}

function BulkMenu({ onBulk }: { onBulk: (kind: BulkKind) => void }) {
  return (
    <details className="menu">
      <summary>all of these …</summary>
      <div className="menu-box">
        {(Object.keys(BULK) as BulkKind[]).map((kind) => (
          <button
            key={kind}
            type="button"
            className="menu-button"
            onClick={({ currentTarget }) => {
              currentTarget.closest("details")?.removeAttribute("open");
              onBulk(kind);
            }}
          >
            {BULK[kind].title} …
          </button>
        ))}
      </div>
    </details>
  );
}

/** Shortest time without a key before the list is read, in milliseconds. */
const TYPED_MS = 250;

/** A request id in any text that was pasted. */
const REQUEST_ID = /req_\d+_[a-z0-9]+/u;

/** Filters the list while a text is typed. A request id opens its page. */
function SearchField({ value, onSearch }: { value: string; onSearch: (text: string) => void }) {
  const [, navigate] = useLocation();
  const [text, setText] = useState(value);
  const sent = useRef(value);
  const field = useRef<HTMLInputElement>(null);
  // Changed by a link or the palette, not by this field.
  if (value !== sent.current) {
    sent.current = value;
    setText(value);
  }
  const search = (typed: string) => {
    const [requestId] = REQUEST_ID.exec(typed) ?? [];
    if (requestId !== undefined)
      return navigate(requestPath({ requestId, version: null, stepId: null, view: null }));
    sent.current = typed.trim();
    onSearch(typed.trim());
  };
  const newest = useRef(search);
  newest.current = search;
  useEffect(() => {
    if (text.trim() === sent.current) return;
    const timer = setTimeout(() => newest.current(text), TYPED_MS);
    return () => clearTimeout(timer);
  }, [text]);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== "/" || event.defaultPrevented || isInField(event)) return;
      event.preventDefault();
      field.current?.focus();
    };
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  }, []);
  function send(event: FormEvent): void {
    event.preventDefault();
    search(text);
  }
  return (
    <form role="search" onSubmit={send}>
      <label>
        <span className="hidden">Text in the sentence, or a request id</span>
        <input
          ref={field}
          type="search"
          value={text}
          maxLength={200}
          placeholder="Filter by text or id"
          onChange={({ target }) => setText(target.value)}
        />
      </label>
    </form>
  );
}
