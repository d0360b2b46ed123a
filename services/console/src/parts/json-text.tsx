import { scanReferences } from "@planwright/plan";
import { useState } from "react";
import { marked } from "./json-search.ts";

/** Most characters of a string that are shown at first. */
const FIRST_CHARACTERS = 2_000;

/** A text in which the searched text is marked. */
export function MarkedText({ text, searched }: { text: string; searched: string }) {
  return marked(text, searched).map((piece, index) =>
    // biome-ignore lint/suspicious/noArrayIndexKey: the pieces of a text have no ids.
    piece.isFound ? <mark key={index}>{piece.text}</mark> : piece.text,
  );
}

/** A string of a JSON value: a long one is cut, and references to known steps are links. */
export function JsonText({
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
          all {text.length.toLocaleString("en")} characters
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
