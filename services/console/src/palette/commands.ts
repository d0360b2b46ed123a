/** Something that a person can do from the command palette. */
export interface Command {
  id: string;
  label: string;
  /** Where it belongs, such as "Pages" or "This request". */
  group: string;
  /** What follows in quiet letters: a key, or what the command is for. */
  hint?: string;
  run: () => unknown;
  /** True for a command of the API: it may be refused, and `run` then gives null. */
  isAction?: boolean;
}

/** A request id, in whole. */
const REQUEST_ID = /^req_\d+_[a-z0-9]+$/u;

/**
 * The commands that fit what was typed, in their order: each word of it stands in the label or the group. A
 * request id is offered to be opened, any other text to be searched for.
 */
export function matching(
  commands: readonly Command[],
  typed: string,
  { openRequest, search }: { openRequest: (requestId: string) => unknown; search: (text: string) => unknown },
): Command[] {
  const text = typed.trim();
  if (REQUEST_ID.test(text))
    return [{ id: "open", label: `Open ${text}`, group: "Requests", run: () => openRequest(text) }];
  const words = text.toLowerCase().split(/\s+/u);
  const found = commands.filter(({ label, group }) => {
    const said = `${group} ${label}`.toLowerCase();
    return words.every((word) => said.includes(word));
  });
  if (text === "") return found;
  return [
    ...found,
    { id: "search", label: `Find requests with “${text}”`, group: "Requests", run: () => search(text) },
  ];
}
