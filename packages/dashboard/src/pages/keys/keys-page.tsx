import { Page } from '../../components/page.tsx';

/** The screen "Keys". */
export function KeysPage() {
  return <Page title="Keys">This screen is being built.</Page>;
}
