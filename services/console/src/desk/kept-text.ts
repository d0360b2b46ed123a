import { useEffect } from "react";

/**
 * The text of an editor, kept in the memory of the tab: it is there again after a look at another page or a reload,
 * and gone when the tab is closed.
 * @param place - what the text belongs to, such as a plan
 */
export function keptText(place: string): {
  read(): string | null;
  /** Keeps a text; null: there is nothing to keep. */
  keep(text: string | null): void;
} {
  const key = `planwright.desk.${place}`;
  return {
    read: () => attempt(() => sessionStorage.getItem(key)),
    keep: (text) => {
      attempt(() => (text === null ? sessionStorage.removeItem(key) : sessionStorage.setItem(key, text)));
    },
  };
}

/** A browser may refuse to store, as when its storage is full or turned off: the text is then in the editor only. */
function attempt<Result>(use: () => Result): Result | null {
  try {
    return use();
  } catch (error) {
    if (error instanceof DOMException) return null;
    throw error;
  }
}

/** Has the browser ask before the tab is closed or loads another site, while there is a text that was not sent. */
export function useAskBeforeLeaving(isChanged: boolean): void {
  useEffect(() => {
    if (!isChanged) return;
    const ask = (event: BeforeUnloadEvent) => event.preventDefault();
    window.addEventListener("beforeunload", ask);
    return () => window.removeEventListener("beforeunload", ask);
  }, [isChanged]);
}
