import Compass from 'lucide-react/icons/compass';
import { Link } from 'wouter';
import { Page } from '../../components/page.tsx';
import { EmptyState } from '../../components/screen-states.tsx';

/** The screen of an address that leads nowhere. */
export function NotFoundPage() {
  return (
    <Page title="Page not found">
      <EmptyState
        icon={<Compass size={20} aria-hidden />}
        title="Nothing at this address"
        action={
          <Link
            href="/?projects"
            className="inline-flex h-8 items-center rounded-md bg-accent px-3 font-medium text-accent-ink"
          >
            All projects
          </Link>
        }
      >
        The address may be mistyped, or the page has moved.
      </EmptyState>
    </Page>
  );
}
