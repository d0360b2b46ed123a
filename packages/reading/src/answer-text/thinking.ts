const NAMES = "think|thinking|thought|thoughts|reasoning|reflection|scratchpad|analysis";
/** Only at the beginning of a line: inside a text of the plan the same words are data. */
const OPENING = new RegExp(`(?:^|\\n)[ \\t]*(?:<(${NAMES})>|(\\[THINK\\])|(◁think▷))`, "gi");
/**
 * An end tag without a begin tag, because some chat templates put the begin tag into the prompt. Only at the
 * beginning or end of a line.
 */
const LONE_END = new RegExp(`(?:</(?:${NAMES})>|\\[/THINK\\]|◁/think▷)[ \\t]*(?=\\r?\\n|[{[\`]|$)`, "gi");
/** Marks the text for the user in the harmony format. */
const FINAL_CHANNEL = "<|channel|>final<|message|>";

/** An answer without its thinking. */
export interface Said {
  readonly text: string;
  /** False when the answer ends inside or directly after its thinking. */
  readonly isComplete: boolean;
}

/** Removes the thinking that models put between tags: plans that were drafted there are not the answer. */
export function withoutThinking(answer: string): Said {
  const final = answer.lastIndexOf(FINAL_CHANNEL);
  if (final !== -1) return { text: answer.slice(final + FINAL_CHANNEL.length), isComplete: true };
  let said = "";
  let from = 0;
  OPENING.lastIndex = 0;
  for (let open = OPENING.exec(answer); open; open = OPENING.exec(answer)) {
    const closing = closingOf(open);
    const end = indexOfIgnoringCase(answer, closing, OPENING.lastIndex);
    if (end === -1) return { text: "", isComplete: false };
    said += `${answer.slice(from, open.index)}\n`;
    from = end + closing.length;
    OPENING.lastIndex = from;
  }
  const text = afterLoneEnd(said + answer.slice(from));
  return { text, isComplete: text.trim() !== "" || answer.trim() === "" };
}

function closingOf([, name, mistral]: RegExpExecArray): string {
  if (name !== undefined) return `</${name}>`;
  return mistral === undefined ? "◁/think▷" : "[/THINK]";
}

function indexOfIgnoringCase(text: string, wanted: string, from: number): number {
  const pattern = new RegExp(wanted.replace(/[[\]/]/g, "\\$&"), "gi");
  pattern.lastIndex = from;
  return pattern.exec(text)?.index ?? -1;
}

function afterLoneEnd(text: string): string {
  let from = 0;
  for (const end of text.matchAll(LONE_END)) from = end.index + end[0].length;
  return text.slice(from);
}
