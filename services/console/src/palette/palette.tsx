import "./palette.css";
import { useState } from "react";
import { CommandPalette } from "./command-palette.tsx";
import { KeyHelp } from "./key-help.tsx";
import { usePaletteKeys } from "./use-palette-keys.ts";

/** The command palette and the list of keys; each opens by a key or a button. */
export function Palette() {
  const [shown, setShown] = useState<"palette" | "help" | null>(null);
  usePaletteKeys({ palette: () => setShown("palette"), help: () => setShown("help") });
  const close = () => setShown(null);
  return (
    <>
      <button
        type="button"
        className="palette-button"
        aria-keyshortcuts="Control+K Meta+K"
        onClick={() => setShown("palette")}
      >
        Commands <kbd aria-hidden="true">Ctrl K</kbd>
      </button>
      <button
        type="button"
        className="palette-button"
        aria-label="Keys"
        aria-keyshortcuts="?"
        onClick={() => setShown("help")}
      >
        ?
      </button>
      {shown === "palette" && <CommandPalette onClose={close} onHelp={() => setShown("help")} />}
      {shown === "help" && <KeyHelp onClose={close} />}
    </>
  );
}
