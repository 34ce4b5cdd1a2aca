import { Link } from 'wouter';
import type { FlagRecord } from '../../api/types.ts';
import { Badge } from '../../components/badge.tsx';
import { CopyButton } from '../../components/copy-button.tsx';
import { links } from '../../shell/links.ts';

/** The flag's key, and the way back to the others. */
export function FlagHeading({ project, flag }: { project: string; flag: FlagRecord }) {
  return (
    <span className="flex min-w-0 flex-wrap items-center gap-x-1.5 gap-y-1">
      <Link href={links.flags(project)} className="font-normal text-ink-3 hover:text-ink hover:underline">
        Flags
      </Link>
      <span aria-hidden className="font-normal text-line-strong">
        /
      </span>
      <span className="min-w-0 font-mono text-lg break-all">{flag.key}</span>
      <CopyButton text={flag.key} label={`Copy the key ${flag.key}`} />
      {flag.archivedAt !== undefined && <Badge kind="over">archived</Badge>}
    </span>
  );
}
