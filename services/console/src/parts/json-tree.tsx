import { useState } from "react";
import { CopyButton } from "./copy-button.tsx";

/** Entries of one level that are shown at first. */
const FIRST_ENTRIES = 50;

/** Text of one string that is shown. */
const FIRST_CHARACTERS = 2_000;

/** Levels that are open at first. */
const OPEN_LEVELS = 2;

/** A JSON value as a tree. All of it is text: nothing of a tool's output is ever read as HTML. */
export function JsonTree({ value, label }: { value: unknown; label: string }) {
  return (
    <div className="json">
      <div className="json-head">
        <span>{label}</span>
        <CopyButton text={JSON.stringify(value, null, 2) ?? ""} label="copy" />
      </div>
      <Value value={value} level={0} />
    </div>
  );
}

function Value({ value, level }: { value: unknown; level: number }) {
  if (value === null) return <span className="json-atom">null</span>;
  if (typeof value === "string") return <Text text={value} />;
  if (typeof value !== "object") return <span className="json-atom">{JSON.stringify(value)}</span>;
  const entries = Object.entries(value);
  const isList = Array.isArray(value);
  if (entries.length === 0) return <span className="json-atom">{isList ? "[ ]" : "{ }"}</span>;
  return <Entries entries={entries} isList={isList} level={level} />;
}

function Entries({
  entries,
  isList,
  level,
}: {
  entries: [string, unknown][];
  isList: boolean;
  level: number;
}) {
  const [shown, setShown] = useState(FIRST_ENTRIES);
  const rest = entries.length - shown;
  return (
    <details open={level < OPEN_LEVELS}>
      <summary>{isList ? `${entries.length} in a list` : `${entries.length} in an object`}</summary>
      <ul>
        {entries.slice(0, shown).map(([name, entry]) => (
          <li key={name}>
            <span className="json-name">{name}</span> <Value value={entry} level={level + 1} />
          </li>
        ))}
      </ul>
      {rest > 0 && (
        <button type="button" className="quiet-button" onClick={() => setShown(shown + FIRST_ENTRIES * 4)}>
          {rest.toLocaleString("en")} more
        </button>
      )}
    </details>
  );
}

function Text({ text }: { text: string }) {
  const [isWhole, setIsWhole] = useState(false);
  const isCut = text.length > FIRST_CHARACTERS && !isWhole;
  return (
    <span className="json-text" dir="auto">
      {isCut ? text.slice(0, FIRST_CHARACTERS) : text}
      {isCut && (
        <button type="button" className="quiet-button" onClick={() => setIsWhole(true)}>
          all {text.length.toLocaleString("en")} characters
        </button>
      )}
    </span>
  );
}
