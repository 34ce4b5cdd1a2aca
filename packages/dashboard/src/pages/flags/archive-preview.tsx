import ArrowRight from 'lucide-react/icons/arrow-right';
import TriangleAlert from 'lucide-react/icons/triangle-alert';
import type { EnvironmentRecord, FlagRecord } from '../../api/types.ts';
import { ConnectedClients } from '../../changes/production-guard.tsx';
import { EnvironmentBadge } from '../../components/environment-badge.tsx';
import { ScrollRegion } from '../../components/scroll-region.tsx';
import { stateText } from '../../components/state-text.ts';

/** As many flags are named one by one. */
const MOST = 10;

/** Names the flags that are to be archived, what protected environments serve of them now, and who listens there. */
export function ArchivePreview({
  project,
  guarded,
  flags,
}: {
  project: string;
  /** The protected environments that have a state of any of the flags. */
  guarded: readonly EnvironmentRecord[];
  flags: readonly FlagRecord[];
}) {
  return (
    <div className="mt-3 flex flex-col gap-3">
      {guarded.map((environment) => (
        <p
          key={environment.name}
          className="flex items-center gap-2 rounded-md bg-warn-soft px-3 py-2 text-warn"
        >
          <TriangleAlert size={16} className="shrink-0" aria-hidden />
          <span className="flex min-w-0 flex-wrap items-center gap-x-1.5">
            <EnvironmentBadge environment={environment} className="font-medium" /> is protected.
            {flags.length > 1 && (
              <span>
                It has {countIn(flags, environment)} of the {flags.length}.
              </span>
            )}
            <ConnectedClients project={project} environment={environment.name} />
          </span>
        </p>
      ))}
      <ScrollRegion label="What is archived" className="max-h-64 overflow-auto rounded-md border border-line">
        <ul className="divide-y divide-line">
          {flags.slice(0, MOST).map((flag) => (
            <li key={flag.key} className="px-3 py-1.5">
              <p className="font-mono text-xs break-all">{flag.key}</p>
              {guarded.map((environment) => (
                <Loss key={environment.name} environment={environment} flag={flag} />
              ))}
            </li>
          ))}
          {flags.length > MOST && <li className="px-3 py-1.5 text-ink-2">and {flags.length - MOST} more</li>}
        </ul>
      </ScrollRegion>
    </div>
  );
}

function Loss({ environment, flag }: { environment: EnvironmentRecord; flag: FlagRecord }) {
  const record = flag.environments[environment.name];
  if (record === undefined) return null;
  return (
    <p className="flex flex-wrap items-center gap-x-2 text-ink-2">
      <EnvironmentBadge environment={environment} />
      <span className="break-all">{stateText(record.state)}</span>
      <ArrowRight size={13} aria-label="becomes" role="img" className="text-ink-3" />
      <strong className="font-semibold text-ink">gone</strong>
    </p>
  );
}

function countIn(flags: readonly FlagRecord[], { name }: EnvironmentRecord): number {
  return flags.filter(({ environments }) => environments[name] !== undefined).length;
}
