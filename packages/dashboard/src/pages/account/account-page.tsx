import { Page } from '../../components/page.tsx';

/** The screen "Account". */
export function AccountPage() {
  return <Page title="Account">This screen is being built.</Page>;
}
