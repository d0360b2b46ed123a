import { isExactNumber, numberText, scanReferences, unmarkNumbers, visibleText } from "@planwright/plan";
import "./json-tree.css";
import { createContext, type ReactNode, useContext, useState } from "react";
import { CopyButton } from "./elements.tsx";

/** Entries of one level that are shown at first. */
const FIRST_ENTRIES = 50;

/** Levels that are open at first. */
const OPEN_LEVELS = 2;

/** A value with more characters than this as JSON has a search field. */
const SEARCHED_FROM = 300;

/** The searched text, and the links of references. */
export interface JsonTreeContext {
  text: string;
  /** The action of a click on a reference with this root; undefined: it is not a link. */
  linkOf: (root: string) => (() => void) | undefined;
}
const NO_LINKS = () => undefined;
const TreeContext = createContext<JsonTreeContext>({ text: "", linkOf: NO_LINKS });

/**
 * A JSON value as a tree; large values have a search. Everything is text: output of a tool is never read as
 * HTML.
 * @param props - linkOf: without it, references are text
 */
export function JsonTree({
  value,
  label,
  linkOf = NO_LINKS,
}: {
  value: unknown;
  label: string;
  linkOf?: JsonTreeContext["linkOf"];
}) {
  const [text, setText] = useState("");
  const json = unmarkNumbers(JSON.stringify(value, null, 2) ?? "");
  const isFound = holdsText(value, text);
  return (
    <div className="json">
      <div className="json-head">
        <span>{label}</span>
        {json.length > SEARCHED_FROM && (
          <label>
            <span className="hidden">Search in {label}</span>
            <input
              type="search"
              value={text}
              placeholder="search"
              onChange={({ target }) => setText(target.value)}
            />
          </label>
        )}
        <CopyButton text={json} label="copy" />
      </div>
      <div className="json-body">
        <TreeContext value={{ text, linkOf }}>
          {isFound ? (
            // The key makes a new tree: another search opens and closes other levels.
            <Value key={text} value={value} level={0} />
          ) : (
            <span className="quiet-text">not found</span>
          )}
        </TreeContext>
      </div>
    </div>
  );
}

/** A value after its name. The name of a list or an object is on the line that opens it. */
function Value({ name = null, value, level }: { name?: ReactNode; value: unknown; level: number }) {
  const isOpened = typeof value === "object" && value !== null && Object.keys(value).length > 0;
  if (isOpened)
    return (
      <Entries name={name} entries={Object.entries(value)} isList={Array.isArray(value)} level={level} />
    );
  return (
    <>
      {name} <Leaf value={value} />
    </>
  );
}

/** A value without entries. */
function Leaf({ value }: { value: unknown }) {
  const { text, linkOf } = useContext(TreeContext);
  if (typeof value === "string" && !isExactNumber(value))
    return <JsonText text={value} searched={text} linkOf={linkOf} />;
  if (value === null || typeof value !== "object")
    return (
      <span className="json-atom">
        <MarkedText text={unmarkNumbers(JSON.stringify(value) ?? "undefined")} searched={text} />
      </span>
    );
  return <span className="json-atom">{Array.isArray(value) ? "[ ]" : "{ }"}</span>;
}

function Entries({
  name: ownName,
  entries,
  isList,
  level,
}: {
  name: ReactNode;
  entries: [string, unknown][];
  isList: boolean;
  level: number;
}) {
  const { text } = useContext(TreeContext);
  const [shown, setShown] = useState(FIRST_ENTRIES);
  const isNamed = (name: string) => !isList && name.toLowerCase().includes(text.toLowerCase());
  const found =
    text === "" ? entries : entries.filter(([name, value]) => isNamed(name) || holdsText(value, text));
  // Below a matching name everything is shown.
  const visible = found.length > 0 ? found : entries;
  const rest = visible.length - shown;
  return (
    <details open={level < OPEN_LEVELS || (text !== "" && found.length > 0)}>
      <summary>
        {ownName} {numberText(entries.length)} in {isList ? "a list" : "an object"}
      </summary>
      <ul>
        {visible.slice(0, shown).map(([name, entry]) => (
          <li key={name}>
            <Value
              name={
                <span className="json-name">
                  <MarkedText text={name} searched={isList ? "" : text} />
                </span>
              }
              value={entry}
              level={level + 1}
            />
          </li>
        ))}
      </ul>
      {rest > 0 && (
        <button type="button" className="quiet-button" onClick={() => setShown(shown + FIRST_ENTRIES * 4)}>
          {numberText(rest)} more
        </button>
      )}
    </details>
  );
}

/** Most characters of a string that are shown at first. */
const FIRST_CHARACTERS = 2_000;

/** A text in which the searched text is marked. */
function MarkedText({ text, searched }: { text: string; searched: string }) {
  return marked(text, searched).map((piece, index) =>
    // biome-ignore lint/suspicious/noArrayIndexKey: the pieces of a text have no ids.
    piece.isFound ? <mark key={index}>{visibleText(piece.text)}</mark> : visibleText(piece.text),
  );
}

/** A string of a JSON value: a long one is cut, and references to known steps are links. */
function JsonText({
  text,
  searched,
  linkOf,
}: {
  text: string;
  searched: string;
  linkOf: (root: string) => (() => void) | undefined;
}) {
  const [isExpanded, setIsExpanded] = useState(false);
  const isCut = text.length > FIRST_CHARACTERS && !isExpanded;
  return (
    <span className="json-text" dir="auto">
      <LinkedText text={isCut ? text.slice(0, FIRST_CHARACTERS) : text} searched={searched} linkOf={linkOf} />
      {isCut && (
        <button type="button" className="quiet-button" onClick={() => setIsExpanded(true)}>
          all {numberText(text.length)} characters
        </button>
      )}
    </span>
  );
}

function LinkedText({ text, searched, linkOf }: Parameters<typeof JsonText>[0]) {
  const pieces: React.ReactNode[] = [];
  let end = 0;
  for (const reference of scanReferences(text)) {
    const follow = linkOf(reference.root);
    if (!follow) continue;
    if (reference.start > end)
      pieces.push(<MarkedText key={end} text={text.slice(end, reference.start)} searched={searched} />);
    pieces.push(
      <button
        key={reference.start}
        type="button"
        className="link-button reference"
        title={`Show step ${reference.root}`}
        onClick={follow}
      >
        <MarkedText text={reference.text} searched={searched} />
      </button>,
    );
    end = reference.end;
  }
  if (end < text.length) pieces.push(<MarkedText key="rest" text={text.slice(end)} searched={searched} />);
  return pieces;
}

/** True when a name or value contains the text, ignoring case. Every value contains the empty text. */
export function holdsText(value: unknown, text: string): boolean {
  if (text === "") return true;
  const wanted = text.toLowerCase();
  // A stack instead of recursion: the output of a tool may be nested very deep.
  const stack: unknown[] = [value];
  while (stack.length > 0) {
    const next = stack.pop();
    if (typeof next === "object" && next !== null) {
      for (const [name, inner] of Object.entries(next)) {
        if (!Array.isArray(next) && name.toLowerCase().includes(wanted)) return true;
        stack.push(inner);
      }
    } else if (String(next).toLowerCase().includes(wanted)) return true;
  }
  return false;
}

/** Splits a text into pieces that are or are not the searched text. */
export function marked(text: string, searched: string): { text: string; isFound: boolean }[] {
  if (searched === "") return [{ text, isFound: false }];
  const lower = text.toLowerCase();
  const wanted = searched.toLowerCase();
  // If lower case changes the length of the text, positions would be wrong: then nothing is marked.
  if (lower.length !== text.length) return [{ text, isFound: false }];
  const pieces: { text: string; isFound: boolean }[] = [];
  let end = 0;
  for (let at = lower.indexOf(wanted); at !== -1; at = lower.indexOf(wanted, end)) {
    if (at > end) pieces.push({ text: text.slice(end, at), isFound: false });
    end = at + wanted.length;
    pieces.push({ text: text.slice(at, end), isFound: true });
  }
  if (end < text.length) pieces.push({ text: text.slice(end), isFound: false });
  return pieces;
}
