import "./dialog.css";
import { type ReactNode, useLayoutEffect, useRef } from "react";

/**
 * A dialog over the page: the keyboard stays in it, Escape and a click beside it close it, and the focus
 * returns to where it was.
 */
export function Dialog({
  label,
  className = "",
  onClose,
  children,
}: {
  label: string;
  className?: string;
  onClose: () => void;
  children: ReactNode;
}) {
  const element = useRef<HTMLDialogElement>(null);
  // Closed before it leaves the page: a dialog that was removed gives no focus back.
  useLayoutEffect(() => {
    const dialog = element.current;
    dialog?.showModal();
    return () => dialog?.close();
  }, []);
  return (
    <dialog
      ref={element}
      className={`dialog ${className}`}
      aria-label={label}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      // What is inside of the dialog has a box of its own: only a click beside it is one on the dialog.
      onMouseDown={({ target }) => target === element.current && onClose()}
    >
      <div className="dialog-box">{children}</div>
    </dialog>
  );
}
