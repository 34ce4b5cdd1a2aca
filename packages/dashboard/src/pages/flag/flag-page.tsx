import SearchX from 'lucide-react/icons/search-x';
import { useEffect, useState } from 'react';
import { Link, useParams } from 'wouter';
import { isRefusal } from '../../api/api-error.ts';
import { useAudit } from '../../api/audit.ts';
import { useProjectDeliveries } from '../../api/clients.ts';
import { useFlagInCode } from '../../api/code-references.ts';
import { useFlag } from '../../api/flags.ts';
import { useOperators } from '../../api/operators.ts';
import { useProject } from '../../api/projects.ts';
import { useKnowsProposals } from '../../api/proposals.ts';
import { useSchedules } from '../../api/schedules.ts';
import type { AuditEntryRecord, FlagRecord } from '../../api/types.ts';
import { links } from '../../browser/links.ts';
import { useSearchState } from '../../browser/use-search-state.ts';
import { Badge } from '../../components/badges.tsx';
import { CopyButton } from '../../components/copy.tsx';
import { DialogPart } from '../../components/dialog-part.tsx';
import { useEnvironmentFilter } from '../../components/environment-filter.tsx';
import { lazyPart } from '../../components/lazy-part.ts';
import { Page } from '../../components/page.tsx';
import { SectionPart } from '../../components/parts.tsx';
import { EmptyState, Problem, TriedAgain } from '../../components/screen-states.tsx';
import { RecordHeading } from '../../components/section.tsx';
import { type Tab, Tabs } from '../../components/tabs.tsx';
import type { FlagPanelProps } from '../../flags/panel-props.ts';
import { lastChanges } from './card-footer.tsx';
import { DraftBars } from './draft-bars.tsx';
import { EnvironmentEditor } from './environment-editor.tsx';
import { EnvironmentMatrix } from './environment-matrix.tsx';
import { EvaluateBox } from './evaluate-box.tsx';
import { ArchivedNotice, FlagActions } from './flag-actions.tsx';
import { FlagDetails } from './flag-details.tsx';
import { PendingSchedules, ScheduleDialog, type ScheduleStart } from './flag-schedules.tsx';
import { FlagSkeleton } from './flag-skeleton.tsx';
import { messages } from './messages.tsx';
import { CODE_PANELS, Panels, SIDE_PANELS, TOP_PANELS } from './panels.tsx';

const FlagHistory = lazyPart(() => import('./flag-history.tsx'), 'FlagHistory');
const CopyBetweenDialog = lazyPart(() => import('../../changes/copy-dialog.tsx'), 'CopyBetweenDialog');
const CodeSnippets = lazyPart(() => import('./code-snippets.tsx'), 'CodeSnippets');

const words = messages.page;

/** One flag: its details, its state in each environment, who gets it, and its history. */
export function FlagPage() {
  const { project: name = '', key = '' } = useParams();
  const project = useProject(name);
  const flag = useFlag(name, key);
  const log = useAudit({ project: name, target: key }, { pageSize: 20 });
  // What stands above the environments would push them down later.
  const knowsProposals = useKnowsProposals(name);
  const history = { ...log, entries: log.entries?.filter(isAboutFlag) };
  useEffect(() => {
    // The fields are there until it is loaded, and if it cannot be.
    void import('./code-editor.tsx').catch(() => undefined);
  }, []);
  if (isRefusal(flag.error, 'flag_not_found')) return <MissingFlag project={name} flagKey={key} />;
  const error = flag.error ?? project.error;
  const isShown = flag.data !== undefined && project.data !== undefined && knowsProposals;

  // Another project may have a flag with the same key: a draft for one must not reach the other.
  return (
    <>
      <ReadAhead project={name} />
      {isShown ? (
        <FlagScreen key={`${name}/${key}`} project={project.data} flag={flag.data} history={history} />
      ) : (
        <Page title={`${key} · ${name}`} heading={<span className="font-mono wrap-anywhere">{key}</span>}>
          {error === null ? (
            <>
              <TriedAgain reason={flag.failureReason ?? project.failureReason} />
              <FlagSkeleton environments={project.data?.environments.length ?? 3} />
            </>
          ) : (
            <Problem error={error} onRetry={() => void flag.refetch()} />
          )}
        </Page>
      )}
    </>
  );
}

/** The log has records of other nouns with this name too. */
function isAboutFlag({ action }: AuditEntryRecord): boolean {
  return /^(flag|rollout)\./.test(action);
}

/** Reads what parts of the screen show, while the flag itself is on its way. */
function ReadAhead({ project }: { project: string }) {
  useProjectDeliveries(project);
  useSchedules(project);
  useOperators();
  return null;
}

interface ScreenProps extends FlagPanelProps {
  readonly history: ReturnType<typeof useAudit>;
}

function FlagScreen({ project, flag, history }: ScreenProps) {
  const [params, setParams] = useSearchState();
  const tabs: readonly Tab[] = [
    {
      name: 'overview',
      label: words.overview,
      panel: <Overview project={project} flag={flag} history={history} />,
    },
    {
      name: 'history',
      label: words.history,
      panel: (
        <SectionPart rows={8}>
          <FlagHistory history={history} project={project.name} />
        </SectionPart>
      ),
    },
    {
      name: 'code',
      label: <CodeLabel project={project.name} flagKey={flag.key} />,
      panel: (
        <div className="flex flex-col gap-6">
          <Panels panels={CODE_PANELS} props={{ project, flag }} />
          <SectionPart rows={8}>
            <CodeSnippets project={project} flag={flag} />
          </SectionPart>
        </div>
      ),
    },
  ];

  return (
    <Page
      title={`${flag.key} · ${project.name}`}
      heading={<FlagHeading project={project.name} flag={flag} />}
      name={flag.key}
      actions={<FlagActions project={project} flag={flag} />}
    >
      <FlagDetails project={project} flag={flag} last={history.entries?.[0]} />
      <div className="mt-4">
        <Tabs
          label={words.tabs(flag.key)}
          tabs={tabs}
          selected={params.get('tab') ?? undefined}
          onSelect={(tab) => setParams({ tab: tab === 'overview' ? '' : tab })}
        />
      </div>
    </Page>
  );
}

/** The name of the tab, with the number of places that repositories have reported. */
function CodeLabel({ project, flagKey }: { project: string; flagKey: string }) {
  const { data } = useFlagInCode(project, flagKey);
  const places = data?.repositories.reduce((sum, each) => sum + each.places, 0) ?? 0;
  return (
    <>
      {words.code}
      {places > 0 && <Badge>{places}</Badge>}
    </>
  );
}

/** The flag's states, and beside them who gets it and what is scheduled. */
function Overview({ project, flag, history }: ScreenProps) {
  const last = lastChanges(history.entries ?? []);
  const [scheduling, setScheduling] = useState<ScheduleStart>();
  const [copyTo, setCopyTo] = useState<string>();
  const [bars, setBars] = useState<HTMLElement | null>(null);
  const isArchived = flag.archivedAt !== undefined;
  const [only] = useEnvironmentFilter(project.name);

  return (
    <>
      <div className="grid gap-5 lg:grid-cols-[minmax(0,1fr)_21rem]">
        <div className="flex min-w-0 flex-col gap-4">
          <Panels panels={TOP_PANELS} props={{ project, flag }} />
          {isArchived && <ArchivedNotice project={project} flag={flag} />}

          <EnvironmentMatrix
            project={project}
            flag={flag}
            environments={only === undefined ? project.environments : [only]}
            editor={(environment, editing) => (
              <EnvironmentEditor
                project={project}
                environment={environment}
                flag={flag}
                {...editing}
                bars={bars}
                last={last.get(environment.name)}
                isWholeHistory={history.entries !== undefined && !history.hasOlder}
                onSchedule={setScheduling}
                onCopyFrom={setCopyTo}
              />
            )}
          />
        </div>

        <aside aria-label={words.about} className="flex min-w-0 flex-col gap-4">
          <Panels panels={SIDE_PANELS} props={{ project, flag }} />
          {!isArchived && <EvaluateBox project={project} flag={flag} />}
          <PendingSchedules project={project} flagKey={flag.key} />
        </aside>
      </div>

      <DraftBars onHost={setBars} />
      {scheduling !== undefined && (
        <ScheduleDialog
          project={project.name}
          flag={flag}
          start={scheduling}
          onClose={() => setScheduling(undefined)}
        />
      )}

      {copyTo !== undefined && (
        <DialogPart title={messages.card.copyTitle(copyTo)} onClose={() => setCopyTo(undefined)}>
          <CopyBetweenDialog
            project={project}
            keys={[flag.key]}
            to={copyTo}
            onClose={() => setCopyTo(undefined)}
          />
        </DialogPart>
      )}
    </>
  );
}

function MissingFlag({ project, flagKey }: { project: string; flagKey: string }) {
  return (
    <Page
      title={`${words.missingTitle} · ${project}`}
      heading={<span className="font-mono wrap-anywhere">{flagKey}</span>}
    >
      <EmptyState
        icon={SearchX}
        title={words.missingTitle}
        action={
          <Link
            href={`${links.flags(project)}?q=${encodeURIComponent(flagKey)}`}
            className="inline-flex h-8 items-center rounded-md bg-accent px-3 font-medium text-accent-ink"
          >
            {words.search}
          </Link>
        }
      >
        {words.missing(project)}
      </EmptyState>
    </Page>
  );
}

/** The flag's key, and a link to the list. */
function FlagHeading({ project, flag }: { project: string; flag: FlagRecord }) {
  return (
    <RecordHeading list={words.flags} to={links.flags(project)}>
      <span className="flex min-w-0 items-center gap-1.5">
        <span className="min-w-0 font-mono text-lg wrap-anywhere">{flag.key}</span>
        <CopyButton text={flag.key} label={words.copyKey(flag.key)} />
      </span>
      {flag.archivedAt !== undefined && <Badge kind="over">{words.archived}</Badge>}
    </RecordHeading>
  );
}
