import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { json } from '@codemirror/lang-json';
import { bracketMatching, HighlightStyle, indentUnit, syntaxHighlighting } from '@codemirror/language';
import { type Diagnostic, setDiagnostics } from '@codemirror/lint';
import { Compartment, EditorState, Transaction } from '@codemirror/state';
import { EditorView, keymap } from '@codemirror/view';
import { tags } from '@lezer/highlight';
import { useEffect, useRef } from 'react';
import { flushSync } from 'react-dom';
import type { JsonProblem } from './json-text.ts';
import type { ValueEditorProps } from './value-field.tsx';

/** JSON with colors, matching brackets and marked problems. It is a separate chunk, because it is large. */
export function CodeEditor({
  label,
  text,
  problem,
  isReadOnly,
  onChange,
  onBlur,
  onSubmit,
}: ValueEditorProps) {
  const host = useRef<HTMLDivElement>(null);
  const view = useRef<CodeView>(undefined);
  const events = useRef({ onChange, onBlur, onSubmit });
  events.current = { onChange, onBlur, onSubmit };

  useEffect(() => {
    if (host.current === null) return;
    const opened = openCodeView(host.current, {
      label,
      // At once: a save by the keyboard right after typing must include it.
      onChange: (typed) => flushSync(() => events.current.onChange(typed)),
      onBlur: () => events.current.onBlur(),
      onSubmit: () => events.current.onSubmit(),
    });
    view.current = opened;
    return () => opened.close();
  }, [label]);
  useEffect(() => view.current?.show(text), [text]);
  useEffect(() => view.current?.mark(problem), [problem]);
  useEffect(() => view.current?.setReadOnly(isReadOnly), [isReadOnly]);

  return (
    <div
      ref={host}
      data-invalid={problem === undefined ? undefined : true}
      className="min-h-15 overflow-hidden rounded-md border border-line-strong bg-bg focus-within:outline-2 focus-within:outline-offset-1 focus-within:outline-accent data-invalid:border-danger"
    />
  );
}

/** The events of an open editor. */
interface CodeEvents {
  readonly label: string;
  readonly onChange: (text: string) => void;
  readonly onBlur: () => void;
  readonly onSubmit: () => void;
}

/** An open editor. */
interface CodeView {
  /** Replaces the text; the same text keeps the cursor and the history. */
  show(text: string): void;
  mark(problem: JsonProblem | undefined): void;
  setReadOnly(isReadOnly: boolean): void;
  close(): void;
}

/**
 * Opens CodeMirror inside of `host`, in a shadow root, where it uses constructed style sheets: the page's policy refuses
 * style elements in the document. Tab leaves the editor, as everywhere on the page.
 */
function openCodeView(host: HTMLElement, { label, onChange, onBlur, onSubmit }: CodeEvents): CodeView {
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
        ...[codeTheme, syntaxHighlighting(codeColors)],
        EditorView.contentAttributes.of({
          'aria-label': label,
          'aria-multiline': 'true',
          // It is focusable anyway; accessibility checkers need the attribute.
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
        // Undo must not go back to an empty field.
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
 * Typing over a selection. By default, Chromium keeps the color of the selection in a style attribute, which
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

/** The editor in the colors of the page, which change with its theme. */
const codeTheme = EditorView.theme({
  '&': { fontSize: '12px', color: 'var(--ink)', maxHeight: '20rem' },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': {
    fontFamily: 'var(--font-mono)',
    lineHeight: '20px',
    overflow: 'auto',
  },
  '.cm-content': { padding: '6px 0', minHeight: '58px', caretColor: 'var(--ink)' },
  '.cm-line': { padding: '0 10px' },
  '&.cm-focused .cm-matchingBracket': {
    backgroundColor: 'var(--accent-soft)',
    outline: '1px solid var(--accent)',
  },
  '&.cm-focused .cm-nonmatchingBracket': { backgroundColor: 'var(--danger-soft)' },
  '.cm-lintRange-error': {
    backgroundImage: 'none',
    textDecoration: 'underline wavy var(--danger)',
    textUnderlineOffset: '3px',
  },
  '.cm-lintPoint-error::after': { borderBottomColor: 'var(--danger)' },
  '.cm-tooltip': {
    backgroundColor: 'var(--raised)',
    color: 'var(--ink)',
    border: '1px solid var(--line)',
    borderRadius: '6px',
  },
});

/** Colors of the parts of JSON, readable in light and dark. */
const codeColors = HighlightStyle.define([
  { tag: tags.propertyName, color: 'var(--accent)' },
  { tag: tags.string, color: 'var(--good)' },
  { tag: tags.number, color: 'var(--env-blue)' },
  { tag: [tags.bool, tags.null], color: 'var(--env-violet)' },
  { tag: tags.punctuation, color: 'var(--ink-2)' },
]);
