import "./bundle-drop.css";
import { useEffect, useRef, useState } from "react";
import { instantText } from "../design/text.ts";
import { type BundledRequest, readBundle, refusalOf } from "./bundle-request.ts";

/** The content of a file, or why it cannot be shown. */
async function readFile(file: File): Promise<BundledRequest | string> {
  try {
    return readBundle(file.name, await file.text());
  } catch {
    return `${file.name} could not be read. Drop it again, or copy it first.`;
  }
}

/** Opens a file of `debugBundle` that is dropped anywhere on the page or chosen, and names the open file. */
export function BundleDrop({
  shown,
  onOpen,
  onClose,
}: {
  shown: BundledRequest | null;
  onOpen: (bundle: BundledRequest) => void;
  onClose: () => void;
}) {
  const [error, setError] = useState<string | null>(null);
  const open = useRef(onOpen);
  open.current = onOpen;

  async function read(file: File | undefined): Promise<void> {
    if (!file) return;
    // By its size, before it is read.
    const read = refusalOf(file) ?? (await readFile(file));
    setError(typeof read === "string" ? read : null);
    if (typeof read !== "string") open.current(read);
  }
  const readNewest = useRef(read);
  readNewest.current = read;
  useEffect(() => {
    const onOver = (event: DragEvent) => event.preventDefault();
    const onDrop = (event: DragEvent) => {
      event.preventDefault();
      void readNewest.current(event.dataTransfer?.files[0]);
    };
    window.addEventListener("dragover", onOver);
    window.addEventListener("drop", onDrop);
    return () => {
      window.removeEventListener("dragover", onOver);
      window.removeEventListener("drop", onDrop);
    };
  }, []);

  return (
    <div className="bundle-drop">
      {shown ? (
        <>
          <strong>A file from {instantText(shown.generatedAt)}, not the service</strong>
          <button type="button" onClick={onClose}>
            Close the file
          </button>
        </>
      ) : (
        <label className="bundle-choice">
          Open a bundle
          <input
            type="file"
            accept=".json,application/json"
            className="hidden"
            onChange={({ target }) => {
              void read(target.files?.[0]);
              target.value = "";
            }}
          />
        </label>
      )}
      {error !== null && (
        <span role="alert" className="note tone-bad">
          {error}
        </span>
      )}
    </div>
  );
}
