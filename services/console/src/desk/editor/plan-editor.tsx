import {
  autocompletion,
  closeBrackets,
  closeBracketsKeymap,
  completionKeymap,
} from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { bracketMatching, indentOnInput, syntaxTree } from "@codemirror/language";
import { lintKeymap, setDiagnostics } from "@codemirror/lint";
import { EditorState } from "@codemirror/state";
import { EditorView, highlightActiveLine, keymap, lineNumbers } from "@codemirror/view";
import { useEffect, useRef } from "react";
import type { Diagnostic } from "../../parts/diagnostic.ts";
import type { KnownTool } from "../text/completions.ts";
import { documentOf, rangeOfStep, stepAt } from "../text/places.ts";
import {
  completionSource,
  diagnosticMarks,
  PLAN_LANGUAGE,
  rangeOfDiagnostic,
  syntaxMarks,
} from "./json-language.ts";

/** The text of the editor, and what could be read from it. */
export interface EditedPlan {
  text: string;
  /** The document, as far as the text can be read. */
  document: unknown;
  /** Why the text is not JSON; null if it is JSON. */
  fault: string | null;
}

/** The target of a jump of the cursor. Each object is one jump. */
export type EditorTarget = { stepId: string } | { diagnostic: Diagnostic };

/** The props of {@link PlanEditor}. */
export interface PlanEditorProps {
  /** The initial text. Another one replaces the text, and the edits are lost. */
  initialText: string;
  tools: readonly KnownTool[];
  /** The diagnostics of the current text; empty while it is being checked. */
  diagnostics: readonly Diagnostic[];
  target: EditorTarget | null;
  onEdit: (edited: EditedPlan) => void;
  /** The step that the cursor is in. */
  onStep: (stepId: string | null) => void;
}

/**
 * A JSON editor for plans. It is in a shadow tree with adopted style sheets, so the Content-Security-Policy
 * needs no exception for styles. The Tab key leaves it like any other field.
 */
export function PlanEditor(props: PlanEditorProps) {
  const { initialText, diagnostics, target } = props;
  const frame = useRef<HTMLDivElement>(null);
  const editor = useRef<EditorView | null>(null);
  const newest = useRef(props);
  newest.current = props;

  useEffect(() => {
    if (!frame.current) return;
    const root = frame.current.shadowRoot ?? frame.current.attachShadow({ mode: "open" });
    const view = new EditorView({ parent: root, root, state: stateOf(initialText, () => newest.current) });
    editor.current = view;
    newest.current.onEdit(editedOf(view));
    return () => view.destroy();
  }, [initialText]);

  useEffect(() => {
    const view = editor.current;
    if (!view) return;
    const marks = [...syntaxMarks(view), ...diagnosticMarks(view.state, diagnostics)];
    view.dispatch(setDiagnostics(view.state, marks));
  }, [diagnostics]);

  useEffect(() => {
    const view = editor.current;
    if (!view || !target) return;
    const range =
      "diagnostic" in target
        ? rangeOfDiagnostic(view.state, target.diagnostic)
        : rangeOfStep(syntaxTree(view.state), view.state.doc.toString(), target.stepId);
    if (!range) return;
    view.dispatch({
      selection: { anchor: range.from },
      effects: EditorView.scrollIntoView(range.from, { y: "center" }),
    });
    view.focus();
  }, [target]);

  return <div className="plan-editor" ref={frame} />;
}

function stateOf(doc: string, newest: () => PlanEditorProps): EditorState {
  return EditorState.create({
    doc,
    extensions: [
      lineNumbers(),
      history(),
      bracketMatching(),
      closeBrackets(),
      indentOnInput(),
      highlightActiveLine(),
      EditorView.lineWrapping,
      autocompletion({ override: [completionSource(() => newest().tools)], icons: false }),
      keymap.of([
        ...closeBracketsKeymap,
        ...completionKeymap,
        ...lintKeymap,
        ...historyKeymap,
        ...defaultKeymap,
      ]),
      EditorView.contentAttributes.of({ "aria-label": "Plan as JSON" }),
      EditorView.updateListener.of(({ view, docChanged, selectionSet }) => {
        if (docChanged) newest().onEdit(editedOf(view));
        if (docChanged || selectionSet) newest().onStep(stepOf(view));
      }),
      PLAN_LANGUAGE,
    ],
  });
}

function editedOf(view: EditorView): EditedPlan {
  const text = view.state.doc.toString();
  return {
    text,
    document: documentOf(syntaxTree(view.state), text),
    fault: syntaxMarks(view)[0]?.message ?? null,
  };
}

function stepOf({ state }: EditorView): string | null {
  return stepAt(syntaxTree(state), state.doc.toString(), state.selection.main.head);
}
