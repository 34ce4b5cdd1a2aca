import { Page } from '../../components/page.tsx';

/** The screen "Flag". */
export function FlagPage() {
  return <Page title="Flag">This screen is being built.</Page>;
}
