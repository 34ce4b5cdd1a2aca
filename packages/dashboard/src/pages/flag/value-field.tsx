import TriangleAlert from 'lucide-react/icons/triangle-alert';
import { Badge } from '../../components/badge.tsx';
import { kindOfJson, layOutJson } from './json-layout.ts';
import type { JsonProblem } from './json-problem.ts';
import type { StateDraft } from './state-draft.ts';
import { ValueEditor } from './value-editor.tsx';

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
