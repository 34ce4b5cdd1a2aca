import ArrowLeftRight from 'lucide-react/icons/arrow-left-right';
import Equal from 'lucide-react/icons/equal';
import Layers from 'lucide-react/icons/layers';
import { Link, useParams } from 'wouter';
import { useProject } from '../../api/projects.ts';
import type { EnvironmentRecord } from '../../api/types.ts';
import { links } from '../../browser/links.ts';
import { useStored } from '../../browser/stored.ts';
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
            <EmptyState icon={Layers} title={messages.tooFewTitle}>
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
  const [stored, store] = useStored(`compare.${project}`);
  const [lastFrom, lastTo] = stored?.split('\n') ?? [];
  const named = (name: string | null | undefined) => environments.find((each) => each.name === name);

  const known = { from: named(params.get('from')), to: named(params.get('to')) };
  const last = { from: named(lastFrom), to: named(lastTo) };
  const isAsked = known.from !== undefined || known.to !== undefined;
  const usual = last.from && last.to && !isAsked ? last : usualPair(environments, known);
  const [from, to] = [known.from ?? usual.from, known.to ?? usual.to];
  if (from === undefined || to === undefined) return null;

  const choose = (next: { readonly from: string; readonly to: string }) => {
    store(`${next.from}\n${next.to}`);
    setParams(next);
  };

  return (
    <>
      <div className="mb-4 flex flex-wrap items-center gap-2">
        <EnvironmentSelect
          label={messages.from}
          environments={environments}
          chosen={from}
          onChoose={(name) => choose({ from: name, to: to.name })}
        />
        <IconButton
          icon={ArrowLeftRight}
          iconSize={15}
          label={messages.swap}
          onClick={() => choose({ from: to.name, to: from.name })}
        />
        <EnvironmentSelect
          label={messages.to}
          environments={environments}
          chosen={to}
          onChoose={(name) => choose({ from: from.name, to: name })}
        />
      </div>
      {from === to ? (
        <EmptyState icon={Equal} title={messages.sameTitle}>
          {messages.same(from.name)}
        </EmptyState>
      ) : (
        <Differences key={`${from.name} ${to.name}`} project={project} from={from} to={to} />
      )}
    </>
  );
}

/** The environments that the address names: both, one or none. */
interface Pair {
  readonly from: EnvironmentRecord | undefined;
  readonly to: EnvironmentRecord | undefined;
}

/** The pair that people compare most: staging with production, or a protected environment with the one before it. */
function usualPair(environments: readonly EnvironmentRecord[], { from, to }: Pair): Pair {
  const others = environments.filter((each) => each !== from);
  const target =
    to ??
    others.find(({ name }) => name === 'production') ??
    others.find(({ name }) => /^prod/i.test(name)) ??
    others.find((each) => each.protected) ??
    others.at(-1);

  const rest = environments.filter((each) => each !== target);
  const before = environments.slice(0, target && environments.indexOf(target)).at(-1);
  return { from: from ?? rest.find(({ name }) => /^stag/i.test(name)) ?? before ?? rest[0], to: target };
}
