import { LOCALE } from '../../components/time-ago.tsx';

const whole = new Intl.NumberFormat(LOCALE);
const short = new Intl.NumberFormat(LOCALE, { notation: 'compact', maximumFractionDigits: 1 });

/** The texts about reads of flags. */
export const messages = {
  title: 'Reads',
  off: "Reads aren't counted in this project.",
  switchOn: 'Count reads',
  last24Hours: 'Last 24 hours',
  last30Days: 'Last 30 days',
  reads: (on: number, off: number) => {
    const all = on + off;
    if (all === 0) return 'no reads';
    const share = `on in ${Math.round((100 * on) / all)} %`;
    return `${all === 1 ? '1 read' : `${whole.format(all)} reads`}, ${share}`;
  },
  short: (count: number) => short.format(count),
  columns: [
    { label: 'Environment' },
    { label: '24 h', title: 'Last 24 hours' },
    { label: '30 d', title: 'Last 30 days' },
    { label: 'Last read' },
  ] as readonly { readonly label: string; readonly title?: string }[],
  more: (count: number) => `${count} more environments without reads`,
  unread: 'No client has read this flag yet. Clients report reads of other flags.',
  waiting: 'No client has reported yet. Clients report once a minute.',
  note: 'Includes clients that report reads, and OFREP requests.',
} as const;
