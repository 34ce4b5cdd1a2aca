import { Page } from '../../components/page.tsx';

/** The screen "Audit log". */
export function AuditPage() {
  return <Page title="Audit log">This screen is being built.</Page>;
}
