import { Page } from '../../components/page.tsx';

/** The screen "Clients". */
export function ClientsPage() {
  return <Page title="Clients">This screen is being built.</Page>;
}
