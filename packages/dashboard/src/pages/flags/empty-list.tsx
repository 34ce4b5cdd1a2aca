import { FLAG_KEY_PATTERN } from '@halyard/protocol';
import Flag from 'lucide-react/icons/flag';
import Plus from 'lucide-react/icons/plus';
import SearchX from 'lucide-react/icons/search-x';
import { Link } from 'wouter';
import { Button } from '../../components/button.tsx';
import { CodeBlock } from '../../components/copy.tsx';
import { Page } from '../../components/page.tsx';
import { EmptyState } from '../../components/screen-states.tsx';

/** A project without flags: what a flag is, and the two ways to make one. */
export function NoFlags({ project, onCreate }: { project: string; onCreate: (() => void) | undefined }) {
  return (
    <div className="relative overflow-y-auto">
      <EmptyState
        icon={<Flag size={20} aria-hidden />}
        title="No flags yet"
        action={
          onCreate && (
            <Button kind="primary" onClick={onCreate}>
              <Plus size={15} aria-hidden /> Create the first flag
            </Button>
          )
        }
      >
        A flag switches a part of your software on or off while it runs. It has a state in each environment,
        and every change reaches your programs within milliseconds.
      </EmptyState>
      <div className="mx-auto -mt-6 max-w-xl px-4 pb-10">
        <p className="mb-1.5 text-xs text-ink-3">Or from a terminal:</p>
        <CodeBlock
          label="The command that makes a flag"
          code={`halyard flag set new-checkout --project ${project} --env development --on`}
        />
      </div>
    </div>
  );
}

/** Nothing matches: the way back, and the flag that was looked for. */
export function NoHits({
  query,
  onClear,
  onCreate,
}: {
  query: string;
  onClear: () => void;
  onCreate: ((key: string) => void) | undefined;
}) {
  const key = query.trim().replaceAll(/\s+/g, '-');
  const canCreate = onCreate !== undefined && FLAG_KEY_PATTERN.test(key);
  return (
    <EmptyState
      icon={<SearchX size={20} aria-hidden />}
      title={query.trim() === '' ? 'No flag is like that' : `No flag matches “${query.trim()}”`}
      action={
        <>
          <Button onClick={onClear}>Clear the filters</Button>
          {canCreate && (
            <Button kind="primary" onClick={() => onCreate(key)}>
              Create “{key}”
            </Button>
          )}
        </>
      }
    />
  );
}

/** The address names a project that is not there. */
export function NoProject({ name }: { name: string }) {
  return (
    <Page title="No such project">
      <EmptyState
        title={`There is no project “${name}”`}
        action={
          <Link
            href="/?projects"
            className="inline-flex h-8 items-center font-medium text-accent hover:underline"
          >
            Show all projects
          </Link>
        }
      >
        It may have been deleted, or the address may be wrong.
      </EmptyState>
    </Page>
  );
}
