import { Page } from '../../components/page.tsx';

/** The screen "History". */
export function HistoryPage() {
  return <Page title="History">This screen is being built.</Page>;
}
