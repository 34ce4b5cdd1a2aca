import { Page } from '../../components/page.tsx';

/** The screen "Access tokens". */
export function TokensPage() {
  return <Page title="Access tokens">This screen is being built.</Page>;
}
