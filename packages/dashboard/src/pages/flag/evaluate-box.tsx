import { useId, useState } from 'react';
import type { FlagRecord, ProjectRecord } from '../../api/types.ts';
import { Badge } from '../../components/badge.tsx';
import { EnvironmentBadge } from '../../components/environment-badge.tsx';
import { INPUT } from '../../components/field.tsx';
import { valuePreview } from '../../components/state-text.ts';
import { evaluateFor, shareOfBucket } from './evaluate.ts';
import { ShareScale } from './share-scale.tsx';

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
