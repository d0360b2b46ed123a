import { type KeyboardEvent, useId, useState } from "react";
import { useLocation } from "wouter";
import { Dialog } from "../parts/dialog.tsx";
import { ProblemNote } from "../parts/problem-note.tsx";
import { requestPath } from "../request/paths.ts";
import { type Command, matching } from "./commands.ts";
import { usePageCommands } from "./use-page-commands.ts";
import { useRequestCommands } from "./use-request-commands.ts";

/** All commands, found by typing: the field keeps the focus, and the arrow keys select. */
export function CommandPalette({ onClose, onHelp }: { onClose: () => void; onHelp: () => void }) {
  const [, navigate] = useLocation();
  const [typed, setTyped] = useState("");
  const [chosen, setChosen] = useState(0);
  const pages = usePageCommands(onHelp);
  const { commands: ofRequest, problem } = useRequestCommands();
  const listId = useId();
  const found = matching([...ofRequest, ...pages], typed, {
    openRequest: (requestId) =>
      navigate(requestPath({ requestId, version: null, stepId: null, view: "graph" })),
    search: (text) => navigate(`/?${new URLSearchParams({ text })}`),
  });
  const index = Math.min(chosen, found.length - 1);
  const run = async (command: Command | undefined) => {
    // After a refusal the palette stays open and shows why.
    if (command?.isAction && (await command.run()) === null) return;
    onClose();
    if (!command?.isAction) command?.run();
  };
  const onKey = (event: KeyboardEvent) => {
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
        placeholder="A command, a text to find, or a request id"
        onChange={({ target }) => {
          setTyped(target.value);
          setChosen(0);
        }}
        onKeyDown={onKey}
      />
      {problem && <ProblemNote problem={problem} />}
      <div className="palette-list" role="listbox" id={listId} aria-label="Commands">
        {found.map((command, at) => (
          <div
            key={command.id}
            id={`${listId}-${at}`}
            role="option"
            aria-selected={at === index}
            tabIndex={-1}
            className="palette-option"
            ref={(element) => {
              if (at === index) element?.scrollIntoView({ block: "nearest" });
            }}
            onClick={() => void run(command)}
            onKeyDown={onKey}
          >
            <span className="palette-group">{command.group}</span>
            <span dir="auto">{command.label}</span>
            <span className="palette-hint">{command.hint}</span>
          </div>
        ))}
      </div>
    </Dialog>
  );
}
