import { type KeyboardEvent, useId } from 'react';
import { INPUT } from '../../components/field.tsx';
import { Slider } from '../../components/slider.tsx';
import { shareOf } from '../../flags/share.ts';
import { messages } from './messages.tsx';
import type { StateDraft } from './state-draft.ts';

const words = messages.rollout;

/** The most common percentages. */
const MARKS = [1, 5, 10, 25, 50, 100] as const;

/** The steps of the slider's keys, in percent; with Shift a thousandth of that. */
const STEPS: Readonly<Record<string, number>> = {
  ArrowUp: 1,
  ArrowRight: 1,
  ArrowDown: -1,
  ArrowLeft: -1,
  PageUp: 10,
  PageDown: -10,
};

/** Sets the rollout: everyone, or a percentage that is set with a slider or typed. */
export function RolloutField({
  environment,
  draft,
  problem,
  isReadOnly,
  onEdit,
  onSubmit,
}: {
  environment: string;
  draft: StateDraft;
  problem: string | undefined;
  isReadOnly: boolean;
  onEdit: (change: Partial<StateDraft>) => void;
  onSubmit: () => void;
}) {
  const id = useId();
  const share = shareOf(draft.pct);
  const shown = Number.isFinite(share) ? Math.min(100, Math.max(0, share)) : 0;

  function onKeyDown(event: KeyboardEvent): void {
    const step = STEPS[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const next = Math.min(100, Math.max(0, shown + (event.shiftKey ? step / 1000 : step)));
    onEdit({ pct: thousandths(next) });
  }

  return (
    <fieldset disabled={isReadOnly}>
      <legend className="mb-1 font-medium">{words.title}</legend>
      <div className="flex flex-wrap gap-x-4">
        {[true, false].map((isEveryone) => (
          <label key={String(isEveryone)} className="flex min-h-7 cursor-pointer items-center gap-2">
            <input
              type="radio"
              name={`${id}-everyone`}
              checked={draft.isEveryone === isEveryone}
              onChange={() => onEdit({ isEveryone })}
            />
            {isEveryone ? words.everyone : words.percentage}
            <span className="sr-only"> {words.in(environment)}</span>
          </label>
        ))}
      </div>
      {!draft.isEveryone && (
        <>
          <div className="mt-1.5 flex items-center gap-3">
            <Slider
              label={words.slider(environment)}
              aria-valuetext={`${thousandths(shown)} %`}
              aria-describedby={`${id}-hint`}
              min={0}
              max={100}
              step={0.001}
              className="flex-1"
              value={shown}
              onKeyDown={onKeyDown}
              onChange={(next) => onEdit({ pct: thousandths(Math.round(next)) })}
            />
            <span className="flex items-center gap-1">
              <input
                type="text"
                inputMode="decimal"
                role="spinbutton"
                aria-label={words.input(environment)}
                aria-valuemin={0}
                aria-valuemax={100}
                aria-valuenow={shown}
                aria-invalid={problem === undefined ? undefined : true}
                aria-describedby={`${id}-hint`}
                className={`${INPUT} max-w-20 text-right`}
                value={draft.pct}
                onKeyDown={(event) => {
                  if (event.key === 'Enter') onSubmit();
                  const step = { ArrowUp: 0.001, ArrowDown: -0.001 }[event.key];
                  if (step === undefined) return;
                  event.preventDefault();
                  onEdit({ pct: thousandths(Math.min(100, Math.max(0, shown + step))) });
                }}
                onChange={(event) => onEdit({ pct: event.target.value })}
              />
              <span aria-hidden>%</span>
            </span>
          </div>
          <div className="mt-1.5 flex flex-wrap gap-1">
            {MARKS.map((mark) => (
              <button
                key={mark}
                type="button"
                aria-label={words.mark(mark, environment)}
                aria-pressed={share === mark}
                className="min-h-6 min-w-8 rounded border border-line px-1.5 text-xs text-ink-2 hover:bg-hover aria-pressed:border-accent aria-pressed:bg-accent-soft aria-pressed:text-accent"
                onClick={() => onEdit({ pct: String(mark) })}
              >
                {mark}
              </button>
            ))}
          </div>
        </>
      )}
      <p
        id={`${id}-hint`}
        className={`mt-1.5 text-xs ${problem === undefined ? 'text-ink-3' : 'text-danger'}`}
      >
        {problem ?? (draft.isEveryone ? words.everyoneHint : words.percentageHint)}
      </p>
    </fieldset>
  );
}

/** A percentage with at most three decimals, without trailing zeros. */
function thousandths(share: number): string {
  return String(Math.round(share * 1000) / 1000);
}
