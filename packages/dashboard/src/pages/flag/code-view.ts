import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { json } from '@codemirror/lang-json';
import { bracketMatching, indentUnit, syntaxHighlighting } from '@codemirror/language';
import { type Diagnostic, setDiagnostics } from '@codemirror/lint';
import { Compartment, EditorState, Transaction } from '@codemirror/state';
import { EditorView, keymap } from '@codemirror/view';
import { codeColors, codeLook } from './code-look.ts';
import type { JsonProblem } from './json-problem.ts';

/** What an open editor tells. */
export interface CodeEvents {
  readonly label: string;
  readonly onChange: (text: string) => void;
  readonly onBlur: () => void;
  readonly onSubmit: () => void;
}

/** An open editor. */
export interface CodeView {
  /** Shows another text; what is typed already stays as it is. */
  show(text: string): void;
  mark(problem: JsonProblem | undefined): void;
  setReadOnly(isReadOnly: boolean): void;
  close(): void;
}

/**
 * Opens CodeMirror inside of `host`, in a shadow root, where it uses constructed style sheets: the page's policy refuses
 * those that stand in the document. Tab moves on, as everywhere on the page.
 */
export function openCodeView(host: HTMLElement, { label, onChange, onBlur, onSubmit }: CodeEvents): CodeView {
  const root = host.shadowRoot ?? host.attachShadow({ mode: 'open' });
  const writable = new Compartment();
  let isShowing = false;
  const view = new EditorView({
    parent: root,
    root,
    state: EditorState.create({
      extensions: [
        keymap.of([
          { key: 'Mod-Enter', run: () => done(onSubmit), preventDefault: true },
          ...historyKeymap,
          ...defaultKeymap,
        ]),
        ...[history(), json(), bracketMatching(), indentUnit.of('  '), EditorView.lineWrapping],
        ...[codeLook, syntaxHighlighting(codeColors)],
        EditorView.contentAttributes.of({
          'aria-label': label,
          'aria-multiline': 'true',
          // It can be reached anyway; said in so many words, checkers of accessibility see it too.
          tabindex: '0',
        }),
        writable.of([]),
        EditorView.domEventHandlers({ beforeinput: replaceSelection }),
        EditorView.updateListener.of((update) => {
          if (update.docChanged && !isShowing) onChange(update.state.doc.toString());
          if (update.focusChanged && !update.view.hasFocus) onBlur();
        }),
      ],
    }),
  });
  return {
    show: (text) => {
      if (text === view.state.doc.toString()) return;
      isShowing = true;
      view.dispatch({
        changes: { from: 0, to: view.state.doc.length, insert: text },
        // Undoing goes back over what was typed, not to an empty field.
        annotations: Transaction.addToHistory.of(false),
      });
      isShowing = false;
    },
    mark: (problem) =>
      view.dispatch(setDiagnostics(view.state, diagnosticsOf(problem, view.state.doc.length))),
    setReadOnly: (isReadOnly) => {
      const off = [EditorState.readOnly.of(true), EditorView.editable.of(false)];
      view.dispatch({ effects: writable.reconfigure(isReadOnly ? off : []) });
    },
    close: () => view.destroy(),
  };
}

function diagnosticsOf(problem: JsonProblem | undefined, length: number): readonly Diagnostic[] {
  if (problem === undefined) return [];
  const from = Math.min(problem.at, length);
  return [{ from, to: Math.min(from + 1, length), severity: 'error', message: problem.message }];
}

/**
 * Typing over a selection. Left to itself, Chromium keeps the colour of what was selected in a style attribute, which
 * the page's policy refuses.
 */
function replaceSelection(event: InputEvent, view: EditorView): boolean {
  const { inputType, data } = event;
  if (inputType !== 'insertText' || data === null || view.composing || view.state.selection.main.empty)
    return false;
  event.preventDefault();
  const change = view.state.replaceSelection(data);
  view.dispatch(change, { userEvent: 'input.type', scrollIntoView: true });
  return true;
}

function done(run: () => void): boolean {
  run();
  return true;
}
