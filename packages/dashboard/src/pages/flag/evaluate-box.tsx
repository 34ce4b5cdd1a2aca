import { isInRollout, ROLLOUT_BUCKETS, rolloutBucket } from '@halyard/protocol';
import { useId, useState } from 'react';
import type { FlagRecord, FlagState, ProjectRecord } from '../../api/types.ts';
import { Badge, EnvironmentBadge } from '../../components/badges.tsx';
import { INPUT } from '../../components/field.tsx';
import { valuePreview } from '../../components/state-summary.tsx';

/** What a client answers for one person, in each environment: worked out here, as the client library does. */
export function EvaluateBox({ project, flag }: { project: ProjectRecord; flag: FlagRecord }) {
  const [targetingKey, setTargetingKey] = useState('');
  const id = useId();
  return (
    <section aria-labelledby={id} className="rounded-lg border border-line bg-surface p-4">
      <h2 id={id} className="text-base font-semibold">
        Who gets it?
      </h2>
      <label htmlFor={`${id}-key`} className="mt-2 mb-1 block text-ink-2">
        Evaluate for this targeting key
      </label>
      <input
        id={`${id}-key`}
        className={`${INPUT} font-mono text-xs`}
        placeholder="user-1"
        autoComplete="off"
        spellCheck={false}
        value={targetingKey}
        onChange={(event) => setTargetingKey(event.target.value)}
      />
      {targetingKey === '' ? (
        <p className="mt-2 text-xs text-ink-3">
          The id your code passes, such as a user's. The same key always gets the same place between 0 and
          100, and the flag is on for it where the rollout is above.
        </p>
      ) : (
        <div aria-live="polite">
          <p className="mt-2 text-xs break-words text-ink-2">
            Stands at{' '}
            <strong className="font-semibold text-ink">{shareOfBucket(flag.key, targetingKey)}</strong> of 100
            for this flag, in every environment.
          </p>
          <ul className="mt-2 divide-y divide-line">
            {project.environments.map((environment) => {
              const state = flag.environments[environment.name]?.state;
              const { isOn, reason } = evaluateFor(flag.key, targetingKey, state);
              return (
                <li key={environment.name} className="py-2" data-evaluation={environment.name}>
                  <p className="flex items-center justify-between gap-2">
                    <EnvironmentBadge environment={environment} />
                    <Badge kind={isOn ? 'good' : 'plain'}>{isOn ? 'On' : 'Off'}</Badge>
                  </p>
                  {state?.rolloutPct !== undefined && (
                    <ShareScale
                      share={Number(shareOfBucket(flag.key, targetingKey))}
                      threshold={state.rolloutPct}
                    />
                  )}
                  <p className="mt-1 text-xs text-ink-3">{reason}</p>
                  {isOn && state?.value !== undefined && (
                    <p className="mt-0.5 text-xs text-ink-2">
                      Value <code className="font-mono break-all">{valuePreview(state.value, 120)}</code>
                    </p>
                  )}
                </li>
              );
            })}
          </ul>
        </div>
      )}
    </section>
  );
}

/** Where somebody stands between 0 and 100, and how far the rollout reaches. Said in words beside it. */
function ShareScale({ share, threshold }: { share: number; threshold: number }) {
  return (
    <svg viewBox="0 0 100 8" preserveAspectRatio="none" className="mt-1.5 h-2 w-full" aria-hidden="true">
      <rect y="2" width="100" height="4" className="fill-line" />
      <rect y="2" width={threshold} height="4" className="fill-accent" />
      <rect x={Math.min(99.2, Math.max(0, share - 0.4))} width="0.8" height="8" className="fill-ink" />
    </svg>
  );
}

/** What a client answers for one targeting key. */
interface KeyEvaluation {
  readonly isOn: boolean;
  /** Why, in words. */
  readonly reason: string;
}

/** Evaluates a state for a targeting key as the client library does; `undefined` for a flag that is not there. */
export function evaluateFor(
  flagKey: string,
  targetingKey: string,
  state: FlagState | undefined,
): KeyEvaluation {
  if (state === undefined) return { isOn: false, reason: 'The flag is not there' };
  if (!state.enabled) return { isOn: false, reason: 'Switched off for everyone' };
  const { rolloutPct } = state;
  if (rolloutPct === undefined) return { isOn: true, reason: 'On for everyone' };
  const share = shareOfBucket(flagKey, targetingKey);
  const isOn = isInRollout(flagKey, targetingKey, rolloutPct);
  return { isOn, reason: `${share} is ${isOn ? 'below' : 'not below'} ${rolloutPct}` };
}

/** Where a targeting key stands between 0 and 100, with three decimals: it is in when the rollout is above. */
export function shareOfBucket(flagKey: string, targetingKey: string): string {
  return ((rolloutBucket(flagKey, targetingKey) * 100) / ROLLOUT_BUCKETS).toFixed(3);
}
