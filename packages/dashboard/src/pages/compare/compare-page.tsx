import ArrowLeftRight from 'lucide-react/icons/arrow-left-right';
import Equal from 'lucide-react/icons/equal';
import Layers from 'lucide-react/icons/layers';
import { Link, useParams } from 'wouter';
import { useProject } from '../../api/projects.ts';
import type { EnvironmentRecord } from '../../api/types.ts';
import { useSearchState } from '../../api/use-search-state.ts';
import { IconButton } from '../../components/button.tsx';
import { Page } from '../../components/page.tsx';
import { EmptyState, Problem, SkeletonRows } from '../../components/screen-states.tsx';
import { EnvironmentSelect } from '../../components/select.tsx';
import { links } from '../../shell/links.ts';
import { Differences } from './differences.tsx';

/** The screen "Compare": how two environments differ, and copying from one to the other. */
export function ComparePage() {
  const { project = '' } = useParams<{ project: string }>();
  const { data, error, refetch } = useProject(project);
  const intro = 'What is different in two environments. Choose flags to copy their states, as one change.';
  return (
    <Page title={`Compare · ${project}`} heading="Compare" intro={intro}>
      {error && data === undefined ? (
        <Problem error={error} onRetry={() => void refetch()} />
      ) : data === undefined ? (
        <SkeletonRows />
      ) : data.environments.length < 2 ? (
        <EmptyState icon={<Layers size={20} aria-hidden />} title="There is only one environment">
          Comparing needs two. Make another on the{' '}
          <Link href={links.environments(project)} className="text-accent underline">
            environments screen
          </Link>
          .
        </EmptyState>
      ) : (
        <Comparing project={project} environments={data.environments} />
      )}
    </Page>
  );
}

function Comparing({
  project,
  environments,
}: {
  project: string;
  environments: readonly EnvironmentRecord[];
}) {
  const [params, setParams] = useSearchState();
  const named = (name: string) => environments.find((each) => each.name === params.get(name));
  // Where nothing is chosen: the step that is taken last, as from staging to production.
  const from =
    named('from') ?? environments.findLast((each) => each !== (named('to') ?? environments.at(-1)));
  const to = named('to') ?? environments.findLast((each) => each !== from);
  if (from === undefined || to === undefined) return null;
  return (
    <>
      <div className="mb-4 flex flex-wrap items-center gap-2">
        <EnvironmentSelect
          label="From"
          environments={environments}
          chosen={from}
          onChoose={(name) => setParams({ from: name, to: to.name })}
        />
        <IconButton label="Swap the two" onClick={() => setParams({ from: to.name, to: from.name })}>
          <ArrowLeftRight size={15} aria-hidden />
        </IconButton>
        <EnvironmentSelect
          label="To"
          environments={environments}
          chosen={to}
          onChoose={(name) => setParams({ from: from.name, to: name })}
        />
      </div>
      {from === to ? (
        <EmptyState icon={<Equal size={20} aria-hidden />} title={`This is ${from.name} twice`}>
          Choose two different environments.
        </EmptyState>
      ) : (
        <Differences key={`${from.name} ${to.name}`} project={project} from={from} to={to} />
      )}
    </>
  );
}
