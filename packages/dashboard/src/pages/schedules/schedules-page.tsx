import { Page } from '../../components/page.tsx';

/** The screen "Schedules". */
export function SchedulesPage() {
  return <Page title="Schedules">This screen is being built.</Page>;
}
