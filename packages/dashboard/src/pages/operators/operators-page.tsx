import { Page } from '../../components/page.tsx';

/** The screen "Operators". */
export function OperatorsPage() {
  return <Page title="Operators">This screen is being built.</Page>;
}
