import { Dialog } from "../parts/dialog.tsx";

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
export function KeyHelp({ onClose }: { onClose: () => void }) {
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
