import { useMemo, useState } from 'react';
import { useParams } from 'wouter';
import { useCodeReferences } from '../../api/code-references.ts';
import { useArchivedFlags, useFlags } from '../../api/flags.ts';
import { useProject } from '../../api/projects.ts';
import { useCan } from '../../api/session.ts';
import type { FlagRecord, ProjectRecord } from '../../api/types.ts';
import { useLastReads } from '../../api/usage.ts';
import { useSearchState } from '../../browser/use-search-state.ts';
import { Badge } from '../../components/badges.tsx';
import { lazyPart } from '../../components/lazy-part.ts';
import { Page } from '../../components/page.tsx';
import { BarPart } from '../../components/parts.tsx';
import { bothOf, Loaded } from '../../components/screen-states.tsx';
import { Tabs } from '../../components/tabs.tsx';
import { useChoices } from '../../flags/flag-tags.ts';
import { useSelection } from '../../flags/selection.ts';
import { CandidateTable } from './candidate-table.tsx';
import { candidates, REASONS, type Reason } from './candidates.ts';
import { messages } from './messages.ts';

const BulkBar = lazyPart(() => import('../flags/bulk-bar.tsx'), 'BulkBar');

/** The screen "Clean up": the flags of a project that may be removed, by reason. */
export function CleanUpPage() {
  const { project: name = '' } = useParams<{ project: string }>();
  const project = useProject(name);
  const flags = useFlags(name);
  const archived = useArchivedFlags(name, { enabled: true });

  return (
    <Loaded reading={bothOf(bothOf(project, flags), archived)}>
      {([[found, active], old]) => <CleanUp project={found} flags={active} archived={old} />}
    </Loaded>
  );
}

function CleanUp({
  project,
  flags,
  archived,
}: {
  project: ProjectRecord;
  flags: readonly FlagRecord[];
  archived: readonly FlagRecord[];
}) {
  const [params, setParams] = useSearchState();
  const { data: lastReads, isLoading } = useLastReads(project);
  const { data: code } = useCodeReferences(project.name);
  const environments = project.environments.length;
  const byReason = useMemo(
    () => candidates(flags, archived, { environments, lastReads, now: Date.now() }),
    [flags, archived, environments, lastReads],
  );

  const canEdit = useCan('editor');
  const selection = useSelection();
  const selected = flags.filter(({ key }) => selection.keys.has(key));
  // Without a reason in the address, the first that had flags when the screen opened.
  const [first, setFirst] = useState<Reason>();
  if (first === undefined && !isLoading)
    setFirst(REASONS.find((each) => each !== 'permanent' && byReason[each].length > 0) ?? 'done');
  const reason = REASONS.find((each) => each === params.get('why')) ?? first ?? 'done';
  const shown = useMemo(() => new Set(byReason[reason].map(({ key }) => key)), [byReason, reason]);
  const choices = useChoices(flags);

  const panel = (each: Reason) => (
    <>
      <p className="mb-3 max-w-2xl text-ink-2">
        {each === 'unread' && lastReads === undefined ? messages.notCounted : messages.explained[each]}
      </p>
      <CandidateTable
        project={project}
        reason={each}
        flags={byReason[each]}
        lastReads={lastReads}
        code={code}
        selection={canEdit && each !== 'archived' ? selection : undefined}
      />
    </>
  );

  return (
    <>
      <Page title={`${messages.title} · ${project.name}`} heading={messages.title} intro={messages.intro}>
        <Tabs
          label={messages.tabs}
          selected={reason}
          onSelect={(why) => setParams({ why })}
          tabs={REASONS.map((each) => ({
            name: each,
            label: (
              <>
                {messages.reasons[each]} <Badge>{byReason[each].length}</Badge>
              </>
            ),
            panel: panel(each),
          }))}
        />
      </Page>

      {selected.length > 0 && (
        <div className="sticky bottom-0 z-10">
          <BarPart>
            <BulkBar
              project={project}
              flags={selected}
              known={choices}
              hidden={selected.filter(({ key }) => !shown.has(key)).length}
              onDeselectHidden={() => selection.keep(shown)}
              onDone={selection.clear}
            />
          </BarPart>
        </div>
      )}
    </>
  );
}
