import { FLAG_KEY_PATTERN } from '@halyard/protocol';
import Flag from 'lucide-react/icons/flag';
import SearchX from 'lucide-react/icons/search-x';
import { Link } from 'wouter';
import { Button, CreateButton } from '../../components/button.tsx';
import { CodeBlock } from '../../components/copy.tsx';
import { Page } from '../../components/page.tsx';
import { EmptyState } from '../../components/screen-states.tsx';
import { messages } from './messages.ts';

const words = messages.empty;

/** Shown for a project without flags: what a flag is, and two ways to create one. */
export function NoFlags({ project, onCreate }: { project: string; onCreate: (() => void) | undefined }) {
  return (
    <div className="relative overflow-y-auto">
      <EmptyState
        icon={Flag}
        title={words.noFlags}
        action={
          onCreate && (
            // “Get started” above has the same button, or will have it once it is loaded.
            <span className="[[data-get-started]~*_&]:hidden">
              <CreateButton onClick={onCreate}>{words.createFirst}</CreateButton>
            </span>
          )
        }
      >
        {words.whatFlagsAre}
      </EmptyState>
      <div className="mx-auto -mt-6 max-w-xl px-4 pb-10">
        <p className="mb-1.5 text-xs text-ink-3">
          <a href="/docs/operations/cli" className="text-accent underline">
            {words.terminal}
          </a>
        </p>
        <CodeBlock
          label={words.command}
          code={`halyard flag set new-checkout --project ${project} --env development --on`}
        />
      </div>
    </div>
  );
}

/** Shown when no flag matches: clears the filters, or creates the flag that was searched for. */
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
      icon={SearchX}
      title={words.noMatch(query.trim())}
      action={
        <>
          <Button onClick={onClear}>{words.clearFilters}</Button>
          {canCreate && (
            <Button kind="primary" onClick={() => onCreate(key)}>
              {words.create(key)}
            </Button>
          )}
        </>
      }
    />
  );
}

/** Shown when the project of the address does not exist. */
export function NoProject({ name }: { name: string }) {
  return (
    <Page title={words.noProjectTitle} heading={<span className="wrap-anywhere">{name}</span>}>
      <EmptyState
        icon={SearchX}
        title={words.noProject(name)}
        action={
          <Link
            href="/?projects"
            className="inline-flex h-8 items-center rounded-md bg-accent px-3 font-medium text-accent-ink"
          >
            {words.allProjects}
          </Link>
        }
      >
        {words.noProjectWhy}
      </EmptyState>
    </Page>
  );
}
