import ArrowLeftRight from 'lucide-react/icons/arrow-left-right';
import Equal from 'lucide-react/icons/equal';
import Layers from 'lucide-react/icons/layers';
import { Link, useParams } from 'wouter';
import { useProject } from '../../api/projects.ts';
import type { EnvironmentRecord } from '../../api/types.ts';
import { links } from '../../browser/links.ts';
import { useSearchState } from '../../browser/use-search-state.ts';
import { IconButton } from '../../components/button.tsx';
import { Page } from '../../components/page.tsx';
import { EmptyState, Loaded } from '../../components/screen-states.tsx';
import { EnvironmentSelect } from '../../components/select.tsx';
import { Differences } from './differences.tsx';
import { messages } from './messages.tsx';

/** The screen "Compare": how two environments differ, and copying from one to the other. */
export function ComparePage() {
  const { project = '' } = useParams<{ project: string }>();
  const reading = useProject(project);

  return (
    <Page title={`${messages.title} · ${project}`} heading={messages.title} intro={messages.intro}>
      <Loaded reading={reading}>
        {({ environments }) =>
          environments.length < 2 ? (
            <EmptyState icon={<Layers size={20} aria-hidden />} title={messages.tooFewTitle}>
              {messages.tooFew((text) => (
                <Link href={links.environments(project)} className="text-accent underline">
                  {text}
                </Link>
              ))}
            </EmptyState>
          ) : (
            <Comparing project={project} environments={environments} />
          )
        }
      </Loaded>
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
  // By default what is protected with the environment before it, such as staging and production.
  const others = environments.filter((each) => each !== named('from'));
  const to = named('to') ?? others.findLast((each) => each.protected) ?? others.at(-1);
  const before = environments.slice(0, to && environments.indexOf(to)).at(-1);
  const from = named('from') ?? before ?? environments.find((each) => each !== to);
  if (from === undefined || to === undefined) return null;

  return (
    <>
      <div className="mb-4 flex flex-wrap items-center gap-2">
        <EnvironmentSelect
          label={messages.from}
          environments={environments}
          chosen={from}
          onChoose={(name) => setParams({ from: name, to: to.name })}
        />
        <IconButton label={messages.swap} onClick={() => setParams({ from: to.name, to: from.name })}>
          <ArrowLeftRight size={15} aria-hidden />
        </IconButton>
        <EnvironmentSelect
          label={messages.to}
          environments={environments}
          chosen={to}
          onChoose={(name) => setParams({ from: from.name, to: name })}
        />
      </div>
      {from === to ? (
        <EmptyState icon={<Equal size={20} aria-hidden />} title={messages.sameTitle}>
          {messages.same(from.name)}
        </EmptyState>
      ) : (
        <Differences key={`${from.name} ${to.name}`} project={project} from={from} to={to} />
      )}
    </>
  );
}
