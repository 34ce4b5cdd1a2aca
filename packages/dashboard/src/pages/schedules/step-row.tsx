import X from 'lucide-react/icons/x';
import { useId } from 'react';
import { IconButton } from '../../components/button.tsx';
import { INPUT } from '../../components/field.tsx';
import { type DraftStep, STEP_NAMES, type StepKind } from './schedule-fields.ts';

/** As many keys are offered: a browser's list is slow with thousands, and typing narrows it. */
const MOST_OFFERED = 50;

/** One flag of a new schedule and what becomes of it. `keys` are all that can be chosen. */
export function StepRow({
  step,
  position,
  keys,
  problem,
  onChange,
  onRemove,
}: {
  step: DraftStep;
  /** From 1, to tell rows apart. */
  position: number;
  keys: readonly string[];
  problem: string | undefined;
  onChange: (step: DraftStep) => void;
  /** Absent for the only one. */
  onRemove: (() => void) | undefined;
}) {
  const id = useId();
  const wrong = problem === undefined ? {} : { 'aria-invalid': true, 'aria-describedby': id };
  const isShare = step.kind === 'rollout' || step.kind === 'share';
  const needsText = isShare || step.kind === 'value';
  return (
    <li>
      <div className="flex flex-wrap items-center gap-2">
        <input
          aria-label={`Flag ${position}`}
          className={`${INPUT} font-mono text-xs max-sm:basis-full sm:w-auto sm:flex-1`}
          placeholder="flag-key"
          list={`${id}-keys`}
          autoComplete="off"
          spellCheck={false}
          value={step.key}
          onChange={(event) => onChange({ ...step, key: event.target.value.trim() })}
          {...wrong}
        />
        <datalist id={`${id}-keys`}>
          {keysLike(step.key, keys).map((key) => (
            <option key={key} value={key} />
          ))}
        </datalist>
        <select
          aria-label={`What happens to flag ${position}`}
          className={`${INPUT} w-auto flex-1 pr-1 sm:max-w-44`}
          value={step.kind}
          // The options below are the kinds.
          onChange={(event) => onChange({ ...step, kind: event.target.value as StepKind, text: '' })}
        >
          {Object.entries(STEP_NAMES).map(([kind, name]) => (
            <option key={kind} value={kind}>
              {name}
            </option>
          ))}
        </select>
        {needsText && (
          <span className="flex w-40 items-center gap-1.5">
            <input
              aria-label={isShare ? `Percentage of flag ${position}` : `JSON value of flag ${position}`}
              className={`${INPUT} font-mono text-xs`}
              inputMode={isShare ? 'decimal' : 'text'}
              placeholder={isShare ? '25' : '"text", 42, true, {…}'}
              autoComplete="off"
              spellCheck={false}
              value={step.text}
              onChange={(event) => onChange({ ...step, text: event.target.value })}
              {...wrong}
            />
            {isShare && <span className="text-ink-2">%</span>}
          </span>
        )}
        {onRemove && (
          <IconButton label={`Take flag ${position} out`} onClick={onRemove}>
            <X size={14} aria-hidden />
          </IconButton>
        )}
      </div>
      {problem !== undefined && (
        <p id={id} className="mt-1 text-xs text-danger">
          {problem}
        </p>
      )}
    </li>
  );
}

/** The first keys that have the text in them, those that begin with it before the others. */
function keysLike(text: string, keys: readonly string[]): readonly string[] {
  const wanted = text.toLowerCase();
  const found = keys.filter((key) => key.toLowerCase().includes(wanted));
  const { begin = [], other = [] } = Object.groupBy(found, (key) =>
    key.toLowerCase().startsWith(wanted) ? 'begin' : 'other',
  );
  return [...begin, ...other].slice(0, MOST_OFFERED);
}
