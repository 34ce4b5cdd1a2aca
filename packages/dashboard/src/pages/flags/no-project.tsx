import { Link } from 'wouter';
import { EmptyState } from '../../components/empty-state.tsx';
import { Page } from '../../components/page.tsx';

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
