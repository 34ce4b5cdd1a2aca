import { type KeyboardEvent, useEffect, useState } from 'react';
import type { JsonProblem } from './json-problem.ts';

/** What an editor of values is given. */
export interface ValueEditorProps {
  readonly label: string;
  readonly text: string;
  readonly problem: JsonProblem | undefined;
  readonly isReadOnly: boolean;
  readonly onChange: (text: string) => void;
  readonly onBlur: () => void;
  /** Ctrl or Cmd with Enter. */
  readonly onSubmit: () => void;
}

type CodeEditor = typeof import('./code-editor.tsx').CodeEditor;

/**
 * A field for JSON. It is a plain one at once; where there is a mouse, an editor with colours takes its place when it
 * has been loaded and nobody is typing.
 */
export function ValueEditor(props: ValueEditorProps) {
  const { label, text, problem, isReadOnly, onChange, onBlur, onSubmit } = props;
  const [Editor, setEditor] = useState<CodeEditor>();
  const [isBusy, setBusy] = useState(false);
  useEffect(() => {
    // On a touch screen the plain field is the better one: it works with the keyboard's own help.
    if (matchMedia('(pointer: coarse)').matches) return;
    let isGone = false;
    import('./code-editor.tsx').then(
      ({ CodeEditor }) => {
        if (!isGone) setEditor(() => CodeEditor);
      },
      // Not to be had, perhaps after an upgrade: the plain field goes on working.
      () => undefined,
    );
    return () => {
      isGone = true;
    };
  }, []);
  if (Editor !== undefined && !isBusy) return <Editor {...props} />;
  return (
    <textarea
      aria-label={label}
      aria-invalid={problem === undefined ? undefined : true}
      spellCheck={false}
      autoComplete="off"
      autoCapitalize="off"
      readOnly={isReadOnly}
      rows={Math.min(16, Math.max(2, text.split('\n').length))}
      className="field-sizing-content max-h-96 min-h-15 w-full resize-y rounded-md border border-line-strong bg-bg px-2.5 py-1.5 font-mono text-xs leading-5 aria-invalid:border-danger"
      value={text}
      onChange={(event) => onChange(event.target.value)}
      onFocus={() => setBusy(true)}
      onBlur={() => {
        setBusy(false);
        onBlur();
      }}
      onKeyDown={(event: KeyboardEvent) => {
        if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) onSubmit();
      }}
    />
  );
}
