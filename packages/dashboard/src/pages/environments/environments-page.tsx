import { Page } from '../../components/page.tsx';

/** The screen "Environments". */
export function EnvironmentsPage() {
  return <Page title="Environments">This screen is being built.</Page>;
}
