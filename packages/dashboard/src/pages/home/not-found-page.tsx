import Compass from 'lucide-react/icons/compass';
import { Link } from 'wouter';
import { Page } from '../../components/page.tsx';
import { EmptyState } from '../../components/screen-states.tsx';
import { messages } from './messages.ts';

/** The screen of an address without a page. */
export function NotFoundPage() {
  return (
    <Page title={messages.notFound}>
      <EmptyState
        icon={Compass}
        title={messages.notFoundTitle}
        action={
          <Link
            href="/?projects"
            className="inline-flex h-8 items-center rounded-md bg-accent px-3 font-medium text-accent-ink"
          >
            {messages.allProjects}
          </Link>
        }
      >
        {messages.notFoundHint}
      </EmptyState>
    </Page>
  );
}
