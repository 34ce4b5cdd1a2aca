import TriangleAlert from 'lucide-react/icons/triangle-alert';
import { type KeyboardEvent, useEffect, useState } from 'react';
import { Badge } from '../../components/badges.tsx';
import { type JsonProblem, kindOfJson, layOutJson } from './json-text.ts';
import type { StateDraft } from './state-draft.ts';

/** The value that the flag serves, as JSON: what is wrong with it, and what its change would break. */
export function ValueField({
  environment,
  draft,
  served,
  problem,
  isReadOnly,
  onEdit,
  onSubmit,
}: {
  environment: string;
  draft: StateDraft;
  /** The value that is served now, as text. */
  served: string | undefined;
  problem: JsonProblem | undefined;
  isReadOnly: boolean;
  onEdit: (change: Partial<StateDraft>) => void;
  onSubmit: () => void;
}) {
  const kind = kindOfJson(draft.text);
  const servedKind = kindOfJson(served ?? '');
  const isOtherKind = problem === undefined && servedKind !== undefined && kind !== servedKind;

  function format(): void {
    if (problem !== undefined || kind === undefined) return;
    const text = layOutJson(draft.text);
    if (text !== draft.text) onEdit({ text });
  }

  return (
    <div className="flex min-w-0 flex-col">
      <div className="mb-1 flex min-h-5 items-center justify-between gap-2">
        <span className="font-medium">Value</span>
        <Badge>{problem === undefined ? (kind ?? 'no value') : 'not JSON'}</Badge>
      </div>
      <ValueEditor
        label={`Value in ${environment}`}
        text={draft.text}
        problem={problem}
        isReadOnly={isReadOnly}
        onChange={(text) => onEdit({ text })}
        onBlur={format}
        onSubmit={onSubmit}
      />
      <div aria-live="polite" className="mt-1 text-xs">
        {problem !== undefined && (
          <p className="text-danger">
            Line {problem.line}, column {problem.column}: {problem.message}.
          </p>
        )}
        {isOtherKind && (
          <p className="flex gap-1.5 rounded bg-warn-soft px-2 py-1 text-warn">
            <TriangleAlert size={14} className="mt-px shrink-0" aria-hidden />
            <span>
              {kind === undefined ? 'No value any more' : `Now ${article(kind)} ${kind}`}, was{' '}
              {article(servedKind)} {servedKind}: code that reads {article(servedKind)} {servedKind} gets its
              default instead.
            </span>
          </p>
        )}
        {problem === undefined && !isOtherKind && (
          <p className="text-ink-3">
            Any JSON, at most 64 KiB and 32 levels. Blank: on or off is all there is.
          </p>
        )}
      </div>
    </div>
  );
}

function article(kind: string): string {
  return /^[aeiou]/.test(kind) ? 'an' : 'a';
}

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
function ValueEditor(props: ValueEditorProps) {
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
