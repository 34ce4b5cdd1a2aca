import {
  evaluate,
  type FlagEvaluation,
  type FlagState,
  ROLLOUT_BUCKETS,
  rolloutBucket,
} from '@halyard/protocol';
import { useId, useState } from 'react';
import type { FlagRecord, ProjectRecord } from '../../api/types.ts';
import { Badge, EnvironmentBadge } from '../../components/badges.tsx';
import { Button } from '../../components/button.tsx';
import { INPUT } from '../../components/field.tsx';
import { Section } from '../../components/section.tsx';
import { valuePreview } from '../../components/state-summary.tsx';
import { messages } from './messages.tsx';

const words = messages.evaluate;

/** How many environments are evaluated at first. */
const FEW = 10;

/** Evaluates the flag for one targeting key in each environment, as clients do. */
export function EvaluateBox({ project, flag }: { project: ProjectRecord; flag: FlagRecord }) {
  const [targetingKey, setTargetingKey] = useState('');
  const [most, setMost] = useState(FEW);
  const id = useId();
  const { environments } = project;

  return (
    <Section title={words.title} isBoxed>
      <label htmlFor={`${id}-key`} className="mt-2 mb-1 block text-ink-2">
        {words.label}
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
        <p className="mt-2 text-xs text-ink-3">{words.hint}</p>
      ) : (
        <div aria-live="polite">
          <p className="mt-2 text-xs break-words text-ink-2">
            {words.place[0]}{' '}
            <strong className="font-semibold text-ink">{placeOf(flag.key, targetingKey)}</strong>{' '}
            {words.place[1]}
          </p>

          <ul className="mt-2 divide-y divide-line">
            {environments.slice(0, most).map((environment) => (
              <li key={environment.name} className="py-2" data-evaluation={environment.name}>
                <EnvironmentEvaluation
                  environment={environment}
                  flagKey={flag.key}
                  state={flag.environments[environment.name]?.state}
                  targetingKey={targetingKey}
                />
              </li>
            ))}
          </ul>
          {environments.length > most && (
            <Button kind="quiet" onClick={() => setMost(environments.length)}>
              {words.all(environments.length)}
            </Button>
          )}
        </div>
      )}
    </Section>
  );
}

/** What the flag answers for one targeting key in one environment, and why. */
export function EnvironmentEvaluation(props: {
  environment: ProjectRecord['environments'][number];
  flagKey: string;
  state: FlagState | undefined;
  targetingKey: string;
}) {
  const { environment, flagKey, state, targetingKey } = props;
  const evaluation = evaluate(flagKey, state, targetingKey);
  const place = placeOf(flagKey, targetingKey);

  return (
    <>
      <p className="flex items-center justify-between gap-2">
        <EnvironmentBadge environment={environment} />
        <Badge kind={evaluation.isOn ? 'good' : 'plain'}>{evaluation.isOn ? words.on : words.off}</Badge>
      </p>
      {state?.rolloutPct !== undefined && <ShareScale share={Number(place)} threshold={state.rolloutPct} />}
      <p className="mt-1 text-xs text-ink-3">{reasonOf(evaluation, place, state?.rolloutPct)}</p>
      {evaluation.value !== undefined && (
        <p className="mt-0.5 text-xs text-ink-2">
          {words.value} <code className="font-mono wrap-anywhere">{valuePreview(evaluation.value, 120)}</code>
        </p>
      )}
    </>
  );
}

/** A place between 0 and 100, and how far the rollout reaches. The text beside it says the same. */
function ShareScale({ share, threshold }: { share: number; threshold: number }) {
  return (
    <svg viewBox="0 0 100 8" preserveAspectRatio="none" className="mt-1.5 h-2 w-full" aria-hidden="true">
      <rect y="2" width="100" height="4" className="fill-line" />
      <rect y="2" width={threshold} height="4" className="fill-accent" />
      <rect x={Math.min(99.2, Math.max(0, share - 0.4))} width="0.8" height="8" className="fill-ink" />
    </svg>
  );
}

/** The reason of an evaluation in words; `place` is the targeting key's. */
export function reasonOf({ reason, isOn }: FlagEvaluation, place: string, rolloutPct = 100): string {
  if (reason === 'split') return words.split(place, isOn, rolloutPct);
  if (reason === 'static') return words.everyone;
  return reason === 'missing' ? words.missing : words.disabled;
}

/** The place of a targeting key between 0 and 100, with three decimals: it gets the flag when the rollout is above. */
export function placeOf(flagKey: string, targetingKey: string): string {
  return ((rolloutBucket(flagKey, targetingKey) * 100) / ROLLOUT_BUCKETS).toFixed(3);
}
