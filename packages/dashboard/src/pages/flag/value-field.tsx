import TriangleAlert from 'lucide-react/icons/triangle-alert';
import { type KeyboardEvent, useEffect, useState } from 'react';
import type { NamedValue } from '../../api/named-values.ts';
import type { FlagValueKind } from '../../api/types.ts';
import { VALUE_KINDS } from '../../components/audit/messages.ts';
import { Badge } from '../../components/badges.tsx';
import { classNames } from '../../components/class-names.ts';
import { INPUT } from '../../components/field.tsx';
import { formatJson, type JsonProblem, kindOfJson } from './json-text.ts';
import { messages } from './messages.tsx';
import { NamedValueMenu } from './named-value-menu.tsx';
import type { StateDraft, ValueControl } from './state-draft.ts';

const words = messages.value;

/** What is wrong with a value, and where in its JSON. */
export function problemText({ line, column, message }: JsonProblem, control: ValueControl): string {
  return control === 'json' ? words.problem(line, column, message) : message;
}

/** The flag's value in the control that fits its declared kind, with its problem and a warning when its type changes. */
export function ValueField({
  environment,
  control,
  declared,
  values,
  draft,
  served,
  problem,
  isReadOnly,
  onEdit,
  onSubmit,
}: {
  environment: string;
  control: ValueControl;
  declared: FlagValueKind;
  /** The values that the flag declares. */
  values: readonly NamedValue[];
  draft: StateDraft;
  /** The value in effect, as text. */
  served: string | undefined;
  problem: JsonProblem | undefined;
  isReadOnly: boolean;
  onEdit: (change: Partial<StateDraft>) => void;
  onSubmit: () => void;
}) {
  const kind = kindOfJson(draft.text);
  const servedKind = kindOfJson(served ?? '');
  const isMisfit = control === 'json' && declared !== 'json' && declared !== 'any';
  const isOtherKind = problem === undefined && servedKind !== undefined && kind !== servedKind;

  const Editor = { none: ValueEditor, json: ValueEditor, text: TextEditor, number: NumberEditor }[control];

  function format(): void {
    if (control === 'text' || problem !== undefined || kind === undefined) return;
    const text = formatJson(draft.text);
    if (text !== draft.text) onEdit({ text });
  }

  return (
    <div className="flex min-w-0 flex-col">
      <div className="mb-1 flex min-h-5 items-center justify-between gap-2">
        <span className="font-medium">{words.title}</span>
        {control === 'json' && (
          <Badge>{problem === undefined ? (kind ?? words.noValue) : words.notJson}</Badge>
        )}
      </div>
      <NamedValueMenu
        environment={environment}
        values={values}
        text={draft.text}
        isReadOnly={isReadOnly}
        onChoose={(text) => onEdit({ text: control === 'json' ? formatJson(text) : text })}
      />
      {control === 'none' ? (
        <p className="text-ink-2">{words.none}</p>
      ) : (
        <Editor
          label={words.label(environment)}
          text={draft.text}
          problem={problem}
          isReadOnly={isReadOnly}
          onChange={(text) => onEdit({ text })}
          onBlur={format}
          onSubmit={onSubmit}
        />
      )}
      <div aria-live="polite" className="mt-1 text-xs">
        {problem !== undefined && <p className="text-danger">{problemText(problem, control)}</p>}
        {isMisfit && (
          <p className="text-warn">
            {words.otherKind(VALUE_KINDS.find(([each]) => each === declared)?.[1] ?? declared)}
          </p>
        )}
        {isOtherKind && (
          <p className="flex gap-1.5 rounded bg-warn-soft px-2 py-1 text-warn">
            <TriangleAlert size={14} className="mt-px shrink-0" aria-hidden />
            <span>{words.typeChange(servedKind, kind)}</span>
          </p>
        )}
      </div>
    </div>
  );
}

/** A value that is a text: people write it without quotes. */
function TextEditor({ label, text, isReadOnly, onChange, onSubmit }: ValueEditorProps) {
  const value: unknown = text.trim() === '' ? '' : JSON.parse(text);
  return (
    <textarea
      aria-label={label}
      readOnly={isReadOnly}
      rows={1}
      className={classNames(INPUT, 'field-sizing-content h-auto max-h-60 min-h-8 resize-y py-1.5')}
      value={String(value)}
      onChange={(event) => onChange(event.target.value === '' ? '' : JSON.stringify(event.target.value))}
      onKeyDown={(event) => submitOnEnter(event, onSubmit)}
    />
  );
}

/** A value that is a number, in the notation in which it is typed. */
function NumberEditor({ label, text, problem, isReadOnly, onChange, onBlur, onSubmit }: ValueEditorProps) {
  return (
    <input
      type="text"
      inputMode="decimal"
      autoComplete="off"
      aria-label={label}
      aria-invalid={problem === undefined ? undefined : true}
      readOnly={isReadOnly}
      className={classNames(INPUT, 'max-w-60')}
      value={text}
      onChange={(event) => onChange(event.target.value)}
      onBlur={onBlur}
      onKeyDown={(event) => event.key === 'Enter' && onSubmit()}
    />
  );
}

function submitOnEnter(event: KeyboardEvent, onSubmit: () => void): void {
  if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) onSubmit();
}

/** The props of all editors of a value. */
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
 * A field for JSON: plain at first; where there is a mouse, an editor with colors replaces it once it is loaded and the
 * field has no focus.
 */
function ValueEditor(props: ValueEditorProps) {
  const { label, text, problem, isReadOnly, onChange, onBlur, onSubmit } = props;
  const [Editor, setEditor] = useState<CodeEditor>();
  const [isBusy, setBusy] = useState(false);

  useEffect(() => {
    // On a touch screen the plain field is better: it works with the keyboard's suggestions.
    if (matchMedia('(pointer: coarse)').matches) return;
    let isUnmounted = false;
    import('./code-editor.tsx').then(
      ({ CodeEditor }) => {
        if (!isUnmounted) setEditor(() => CodeEditor);
      },
      // The file is missing, perhaps after an upgrade: the plain field keeps working.
      () => undefined,
    );
    return () => {
      isUnmounted = true;
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
      onKeyDown={(event) => submitOnEnter(event, onSubmit)}
    />
  );
}
