import { useState } from "react";

/** Copies a text and confirms it. */
export function CopyButton({ text, label }: { text: string; label: string }) {
  const [isCopied, setIsCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    setIsCopied(true);
    setTimeout(() => setIsCopied(false), 1_500);
  };
  return (
    <button type="button" className="quiet-button" onClick={() => void copy()}>
      {isCopied ? "copied" : label}
    </button>
  );
}
