import { Link } from 'wouter';
import type { Finding } from '../../api/code-references.ts';
import type { CodeReport } from '../../api/types.ts';
import { links } from '../../browser/links.ts';
import { TimeAgo } from '../../components/time-ago.tsx';
import { messages } from './messages.ts';

/** What the code says about a flag, in a cell of a list: one repository by name, several together. The places are in the tab "Code" of the flag's page. */
export function FoundInCode({
  project,
  flagKey,
  findings,
  isNamed,
}: {
  project: string;
  flagKey: string;
  findings: readonly Finding[];
  /** Whether the project has several repositories, so that one needs its name. */
  isNamed: boolean;
}) {
  const found = findings.filter(({ places }) => places > 0);
  const shown = found.length > 0 ? found : findings;
  const [oldest] = shown.toSorted((a, b) => (a.reportedAt < b.reportedAt ? -1 : 1));
  if (oldest === undefined) return '–';

  const text = textOf(shown);
  return (
    <>
      {found.length === 0 ? (
        <span className="lg:whitespace-nowrap">{text}</span>
      ) : (
        <Link
          href={`${links.flag(project, flagKey)}?tab=code`}
          className="text-accent hover:underline lg:whitespace-nowrap"
        >
          {text}
        </Link>
      )}
      {shown.length === 1 ? (
        <ReportTime report={oldest} isNamed={isNamed} />
      ) : (
        <span className="block text-xs text-ink-3">
          {messages.oldest} <TimeAgo at={oldest.reportedAt} />
        </span>
      )}
    </>
  );
}

function textOf(shown: readonly Finding[]): string {
  const places = shown.reduce((sum, each) => sum + each.places, 0);
  const files = shown.reduce((sum, each) => sum + each.files, 0);
  if (shown.length > 1)
    return places === 0 ? messages.notFoundIn(shown.length) : messages.foundIn(places, shown.length);
  return places === 0 ? messages.notFound : messages.found(places, files);
}

/** The commit that was searched, and when that was reported. */
export function ReportTime({ report, isNamed }: { report: CodeReport; isNamed: boolean }) {
  const { repository, commit, reportedAt } = report;
  return (
    <span className="block text-xs wrap-anywhere text-ink-3">
      {isNamed && `${repository} · `}
      <span className="font-mono" title={commit}>
        {shortCommit(commit)}
      </span>
      , <TimeAgo at={reportedAt} className="whitespace-nowrap" />
    </span>
  );
}

/** A hash is known by its beginning; any other name of a commit stays whole. */
function shortCommit(commit: string): string {
  return /^[0-9a-f]{12,}$/.test(commit) ? commit.slice(0, 7) : commit;
}
