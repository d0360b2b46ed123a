import "./dialog.css";
import { type ReactNode, useLayoutEffect, useRef } from "react";

/**
 * A dialog over the page. The focus stays in it; Escape and a click outside close it, and the focus then
 * returns to the element that had it.
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
  // Closed before it is removed: a removed dialog does not return the focus.
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
      // The content has its own box, so the target is the dialog only for a click outside the content.
      onMouseDown={({ target }) => target === element.current && onClose()}
    >
      <div className="dialog-box">{children}</div>
    </dialog>
  );
}
