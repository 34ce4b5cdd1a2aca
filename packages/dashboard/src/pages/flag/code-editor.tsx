import { useEffect, useRef } from 'react';
import { flushSync } from 'react-dom';
import { type CodeView, openCodeView } from './code-view.ts';
import type { ValueEditorProps } from './value-editor.tsx';

/** JSON with colours, matching brackets and marked problems. Loaded on its own, since it is large. */
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
      // At once: a save by the keyboard right after it must not be one of what was typed before.
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
