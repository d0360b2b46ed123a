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
import type { Finding } from "../../parts/finding.ts";
import type { KnownTool } from "../text/completions.ts";
import { documentOf, rangeOfStep, stepAt } from "../text/places.ts";
import {
  completionSource,
  findingMarks,
  PLAN_LANGUAGE,
  placeOfFinding,
  syntaxMarks,
} from "./json-language.ts";

/** What the editor says of its text. */
export interface EditedPlan {
  text: string;
  /** As far as it can be read. */
  document: unknown;
  /** Why the text is no JSON; null when it is. */
  fault: string | null;
}

/** Where the cursor is to go. Each object is one jump. */
export type EditorTarget = { stepId: string } | { finding: Finding };

/** What {@link PlanEditor} needs. */
export interface PlanEditorProps {
  /** The text to begin with; another one begins anew, and its edits are forgotten. */
  initialText: string;
  tools: readonly KnownTool[];
  /** Of the text as it is; empty while that is being checked. */
  findings: readonly Finding[];
  target: EditorTarget | null;
  onEdit: (edited: EditedPlan) => void;
  /** The step that the cursor is in. */
  onStep: (stepId: string | null) => void;
}

/**
 * A JSON editor for plans. It lives in a shadow tree, where its styles are adopted style sheets: the page's
 * policy for styles needs no exception. The Tab key leaves it, as it leaves every field.
 */
export function PlanEditor(props: PlanEditorProps) {
  const { initialText, findings, target } = props;
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
    const marks = [...syntaxMarks(view), ...findingMarks(view.state, findings)];
    view.dispatch(setDiagnostics(view.state, marks));
  }, [findings]);

  useEffect(() => {
    const view = editor.current;
    if (!view || !target) return;
    const range =
      "finding" in target
        ? placeOfFinding(view.state, target.finding)
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
